#include "build_cuda.h"
#include "cuda_units.h"

#include "cuda/nvrtc.hpp"

#include <fmt/format.h>

using namespace rnnc;
using namespace rnnc::tool;

static CudaOptions cudaOptions(const Options& options) {
  CudaOptions cuda;
  if (!options.arch.empty())
    cuda.arch = options.arch;
  cuda.chunk = options.chunk;
  cuda.chunks = options.chunks;
  cuda.schedule = scheduleOf(options.schedule);
  cuda.staging = options.staging == Staging::Registers ? CudaStaging::Registers : CudaStaging::Auto;
  cuda.math = options.math == MathKind::Special ? CudaMath::Special : CudaMath::Polynomial;
  return cuda;
}

bool rnnc::tool::namesCudaPolicy(const Options& options) {
  return options.chunk || options.chunks || options.schedule != RNN_SCHEDULE_AUTO ||
         options.math != MathKind::Polynomial || options.staging != Staging::Auto;
}

int rnnc::tool::checkCudaOptions(const Options& options, const Console& console) {
  if (llvm::Error error = checkCudaArchitecture(cudaOptions(options).arch))
    return console.error("--arch: " + llvm::toString(std::move(error)), cudaArchitectureNames(),
                         kUsage);
  return kFine;
}

int CudaBuilder::print(mlir::ModuleOp newton) {
  return source.diagnose(
      [&] {
        auto printed = emitCuda(newton, source.cellName(), cudaOptions(options));
        if (printed)
          unit = std::move(*printed);
        return printed.has_value();
      },
      "the cell '" + source.cellName() + "' could not be printed as CUDA");
}

int CudaBuilder::compile(CudaCode kind, std::string& code) const {
  std::string arch = cudaOptions(options).arch, error;
  const runtime::Nvrtc* nvrtc = nullptr;
  if (runtime::findNvrtc(nvrtc, error) != RNN_OK)
    return console.error(error, "--emit=cuda needs no NVRTC", kMissing);
  runtime::CudaSource input{unit.name, unit.text, std::atoi(arch.c_str() + 3)};
  runtime::CudaProgram program;
  Stopwatch clock(console);
  rnn_status status = runtime::compileCuda(
      *nvrtc, input, kind == CudaCode::Ptx ? runtime::CudaCode::Ptx : runtime::CudaCode::Cubin,
      program, error);
  if (status == RNN_MISSING)
    return console.error(error, "", kMissing);
  if (status != RNN_OK)
    return source.bug(error);
  clock.lap("compiled by NVRTC " + runtime::versionText(*nvrtc) + " for " + arch);
  if (!program.log.empty())
    console.detail(program.log);
  code = std::move(program.code);
  return kFine;
}
