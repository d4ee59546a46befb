// NVRTC, NVIDIA's compiler of CUDA C++ at run time: found and loaded when first asked for. Nothing
// here needs a GPU, a driver or CUDA's headers.
#pragma once

#include "rnn/rnn.h"

#include <memory>
#include <string>
#include <vector>

namespace rnnc::runtime {

struct NvrtcSymbols; // nvrtc_symbols.hpp

/// A loaded NVRTC. Never unloaded.
struct Nvrtc {
  std::string path; ///< of the file, as the system resolved it
  int major = 0, minor = 0;
  std::vector<int> architectures; ///< that it compiles for, ascending: 75, 80, ...
  std::shared_ptr<const NvrtcSymbols> symbols;

  bool knows(int architecture) const;
};

/// The process's NVRTC, the first that works of: RNN_NVRTC (and then no other), one that the
/// process has loaded already, Python's wheels, CUDA's toolkit, the system's. The first answer
/// stays. RNN_OK, or RNN_MISSING with a text that says where it was looked for and what to do.
/// Thread-safe.
rnn_status findNvrtc(const Nvrtc*& out, std::string& error) noexcept;

/// The same search, made anew.
rnn_status searchNvrtc(Nvrtc& out, std::string& error) noexcept;

struct CudaSource {
  std::string name;     ///< what messages call it
  std::string text;     ///< may include the headers of runtime/device as "rnn/NAME.cuh"
  int architecture = 0; ///< 90 for sm_90
};

enum class CudaCode { Ptx, Cubin };

struct CudaProgram {
  std::string code; ///< PTX without the final zero, or an ELF file
  std::string log;  ///< what NVRTC and ptxas say: registers, spills and shared memory for a cubin
  double seconds = 0;
};

/// What NVRTC is called with: the code that it makes depends on them, the source and the headers.
std::vector<std::string> compileOptions(const CudaSource& source, CudaCode kind);

/// Compiles. RNN_OK; RNN_MISSING where this NVRTC lacks the architecture; RNN_INTERNAL with the log
/// in the text where the source is refused: sources are ours. `out.log` is filled in either case.
/// Thread-safe.
rnn_status compileCuda(const Nvrtc& nvrtc, const CudaSource& source, CudaCode kind,
                       CudaProgram& out, std::string& error) noexcept;

/// "13.0".
std::string versionText(const Nvrtc& nvrtc);

} // namespace rnnc::runtime
