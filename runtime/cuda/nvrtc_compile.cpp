// NVRTC: compiling with it.
#include "nvrtc.hpp"

#include "nvrtc_symbols.hpp"

#include "device/text.hpp"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

using namespace rnnc::runtime;

namespace {

/// The same arithmetic in every schedule (SOLVER.md section 8): products and sums are fused in the
/// text or not at all, denormal numbers are numbers, division and square root round correctly.
/// Functions without a qualifier are device functions: constexpr ones and lambdas of the headers.
constexpr const char* kOptions[] = {"--std=c++17",         "--fmad=false",
                                    "--ftz=false",         "--prec-div=true",
                                    "--prec-sqrt=true",    "--device-as-default-execution-space",
                                    "--generate-line-info"};

class Program {
public:
  explicit Program(const NvrtcSymbols& nvrtc) : nvrtc(nvrtc) {}
  ~Program() {
    if (program)
      nvrtc.nvrtcDestroyProgram(&program);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  NvrtcResult create(const CudaSource& source) {
    std::vector<const char*> texts, names;
    for (const rnnc::EmbeddedText& header : rnnc::deviceText()) {
      texts.push_back(header.text);
      names.push_back(header.name);
    }
    return nvrtc.nvrtcCreateProgram(&program, source.text.c_str(), source.name.c_str(),
                                    static_cast<int>(texts.size()), texts.data(), names.data());
  }

  NvrtcResult compile(const CudaSource& source, CudaCode kind) {
    const std::vector<std::string> texts = compileOptions(source, kind);
    std::vector<const char*> options;
    for (const std::string& text : texts)
      options.push_back(text.c_str());
    return nvrtc.nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  }

  /// A text or a binary by the two functions that give its size and itself.
  NvrtcResult read(NvrtcResult (*size)(NvrtcProgram*, size_t*),
                   NvrtcResult (*get)(NvrtcProgram*, char*), bool isText, std::string& to) const {
    size_t bytes = 0;
    if (NvrtcResult result = size(program, &bytes); result != kNvrtcSuccess)
      return result;
    to.assign(bytes, '\0');
    NvrtcResult result = bytes ? get(program, to.data()) : kNvrtcSuccess;
    while (isText && !to.empty() && to.back() == '\0')
      to.pop_back();
    return result;
  }

private:
  const NvrtcSymbols& nvrtc;
  NvrtcProgram* program = nullptr;
};

rnn_status compile(const Nvrtc& library, const CudaSource& source, CudaCode kind, CudaProgram& out,
                   std::string& error) {
  if (!library.knows(source.architecture)) {
    error = fmt::format("NVRTC {} ({}) cannot compile for sm_{}; it can for sm_{}",
                        versionText(library), library.path, source.architecture,
                        fmt::join(library.architectures, ", sm_"));
    return RNN_MISSING;
  }
  const NvrtcSymbols& nvrtc = *library.symbols;
  auto start = std::chrono::steady_clock::now();
  Program program(nvrtc);
  auto failed = [&](const char* what, NvrtcResult result) {
    error = fmt::format("NVRTC {} {}: {}{}{}", versionText(library), what,
                        nvrtc.nvrtcGetErrorString(result), out.log.empty() ? "" : "\n", out.log);
    return RNN_INTERNAL;
  };
  if (NvrtcResult result = program.create(source); result != kNvrtcSuccess)
    return failed("took no source", result);
  NvrtcResult compiled = program.compile(source, kind);
  program.read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, /*isText=*/true, out.log);
  if (compiled != kNvrtcSuccess)
    return failed(fmt::format("did not compile {}", source.name).c_str(), compiled);
  bool isPtx = kind == CudaCode::Ptx;
  NvrtcResult result =
      program.read(isPtx ? nvrtc.nvrtcGetPTXSize : nvrtc.nvrtcGetCUBINSize,
                   isPtx ? nvrtc.nvrtcGetPTX : nvrtc.nvrtcGetCUBIN, isPtx, out.code);
  if (result != kNvrtcSuccess || out.code.empty())
    return failed("gave no code", result);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return RNN_OK;
}

} // namespace

std::vector<std::string> rnnc::runtime::compileOptions(const CudaSource& source, CudaCode kind) {
  std::vector<std::string> options(std::begin(kOptions), std::end(kOptions));
  options.push_back(fmt::format("--gpu-architecture={}_{}",
                                kind == CudaCode::Ptx ? "compute" : "sm", source.architecture));
  if (kind == CudaCode::Cubin)
    options.push_back("--ptxas-options=-v"); // registers and spills into the log
  return options;
}

rnn_status rnnc::runtime::compileCuda(const Nvrtc& nvrtc, const CudaSource& source, CudaCode kind,
                                      CudaProgram& out, std::string& error) noexcept {
  out = {};
  try {
    return compile(nvrtc, source, kind, out, error);
  } catch (const std::bad_alloc&) {
    return RNN_OUT_OF_MEMORY;
  } catch (const std::exception& trouble) {
    error = trouble.what();
    return RNN_INTERNAL;
  }
}
