// rnnc build for files that programs link or load.
#pragma once

#include "source.h"

#include "rnnc/ModuleFile.h"

#include <memory>
#include <string>
#include <vector>

namespace rnnc::tool {

class CudaUnits;

class ModuleBuilder {
public:
  ModuleBuilder(const Options& options, const Console& console, const Source& source)
      : options(options), console(console), source(source) {}

  /// What is wrong with the options, before anything is read; kFine where nothing is.
  int check();
  /// The bytes of an object file or of a shared library. Status after a message.
  int build(bool shared, std::string& bytes) const;

  /// The header beside the object file.
  int header(std::string& text) const;

private:
  int lowerAll(std::vector<mlir::OwningOpRef<mlir::ModuleOp>>& lowered) const;
  /// The table of the best target.
  int describe(mlir::ModuleOp newton, std::unique_ptr<CompiledCell>& described) const;
  int printCuda(CudaUnits& units) const;

  const Options& options;
  const Console& console;
  const Source& source;
  std::vector<std::string> targets; ///< of the CPU, the better one later
  std::vector<int> architectures;   ///< of CUDA, without sm_
  bool cudaWasAsked = false;
};

/// JSON: what the cell is, and what it was built for.
std::string manifestText(const Options& options, const rnn_module_table& table,
                         const std::vector<std::string>& targets, const rnn_cuda_desc* cuda);

} // namespace rnnc::tool
