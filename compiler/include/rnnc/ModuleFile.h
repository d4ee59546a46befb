//===- ModuleFile.h - a cell as an object file or a shared library ---------------------------===//
#pragma once

#include "rnn/module.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace rnnc {

/// The cell in the Newton dialect, lowered for an instruction set.
struct ModuleVariant {
  std::string target; ///< x86-64-v2, x86-64-v3 or x86-64-v4
  mlir::ModuleOp newton;
};

struct ModuleFileOptions {
  bool shared = false;  ///< a shared library, which rnn_module_load loads; else an object to link
  std::string manifest; ///< JSON
  const rnn_cuda_desc* cuda = nullptr; ///< units that were printed; null: for the CPU only
};

/// What an object file calls the bundle of a cell.
std::string bundleSymbol(llvm::StringRef cell);

/// The file's bytes: a bundle of `variants`, the best one last, with every kernel compiled. The
/// same input gives the same bytes. std::errc::value_too_large where a step is too long to be
/// compiled.
llvm::Expected<std::string> emitModuleFile(llvm::StringRef cell,
                                           llvm::ArrayRef<ModuleVariant> variants,
                                           const ModuleFileOptions& options);

} // namespace rnnc
