// A cell for CUDA devices: its table, and its text, printed when a plan asks for it.
#pragma once

#include "cuda_units.h"
#include "source.h"

#include "rnnc/Compiler.h"

#include <memory>

namespace rnnc::tool {

class CudaCell : public CompiledCell {
public:
  /// Lowers the cell of `source`, which must outlive it. Status after a message.
  static int make(const Options& options, const Source& source, std::unique_ptr<CudaCell>& cell);

  /// There are no kernels for the CPU behind it: only plans for a CUDA device compute anything.
  const rnn_module_table* table() const override { return &module; }
  double compileSeconds() const override { return seconds; }
  int64_t compiledKernels() const override { return kernels; }
  std::string lastError() const override { return ""; }
  bool isTooLong() const override { return false; }

  /// A plan was made in so many seconds, NVRTC's included.
  void planned(double taken) { seconds += taken; }
  /// kFine, or the status after a message where the last text could not be printed.
  int printStatus() const { return status; }

private:
  CudaCell(const Source& source, mlir::OwningOpRef<mlir::ModuleOp> newton,
           std::unique_ptr<CompiledCell> described);
  const rnn_cuda_unit* print(const rnn_cuda_request& request, const char** why);

  const Source& source;
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  std::unique_ptr<CompiledCell> described; ///< everything but CUDA's part of the table
  rnn_module_table module{};
  rnn_cuda_desc desc{};
  CudaUnits units; ///< printed so far
  int status = kFine;
  double seconds = 0;
  int64_t kernels = 0;
};

} // namespace rnnc::tool
