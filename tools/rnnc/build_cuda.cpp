#include "build_cuda.h"

#include <fmt/format.h>

using namespace rnnc;
using namespace rnnc::tool;

static CudaOptions cudaOptions(const Options& options) {
  CudaOptions cuda;
  if (!options.arch.empty())
    cuda.arch = options.arch;
  cuda.chunk = options.chunk;
  cuda.chunks = options.chunks;
  cuda.sequential = options.schedule == RNN_SCHEDULE_SEQUENTIAL;
  cuda.staging = options.staging == Staging::Registers ? CudaStaging::Registers : CudaStaging::Auto;
  cuda.math = options.math == MathKind::Special ? CudaMath::Special : CudaMath::Polynomial;
  return cuda;
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

int CudaBuilder::compile(CudaCode kind, std::string& code) const { return kFine; }
