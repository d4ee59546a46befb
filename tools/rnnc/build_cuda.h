// rnnc build for CUDA: the unit's text, and what NVRTC makes of it.
#pragma once

#include "source.h"

#include "rnnc/Cuda.h"

namespace rnnc::tool {

enum class CudaCode { Ptx, Cubin };

/// Whether an option says how CUDA's kernels go through time.
bool namesCudaPolicy(const Options& options);

/// What is wrong with --arch; kFine where nothing is.
int checkCudaOptions(const Options& options, const Console& console);

class CudaBuilder {
public:
  CudaBuilder(const Options& options, const Console& console, const Source& source)
      : options(options), console(console), source(source) {}

  /// Prints the cell of a module in the Newton dialect; status after a message.
  int print(mlir::ModuleOp newton);
  const std::string& text() const { return unit.text; }
  /// Compiles what was printed.
  int compile(CudaCode kind, std::string& code) const;

private:
  const Options& options;
  const Console& console;
  const Source& source;
  CudaUnit unit;
};

} // namespace rnnc::tool
