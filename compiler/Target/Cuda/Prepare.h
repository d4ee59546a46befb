//===- Prepare.h - a system made ready for printing ------------------------------------------===//
//
// Everything that can fail happens here. What comes out is printed without another question.
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include "Newton/Newton.h"
#include "Target/Cuda/Names.h"
#include "Target/Cuda/Reads.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace rnnc::cuda {

/// A copy of a system whose ops all have a pattern of the printer. `op`'s jacobian region, where
/// there is one, holds the step too: it yields the new states, the outputs and the entries.
struct PreparedSystem {
  mlir::OwningOpRef<newton::SystemOp> op;
  std::string name;            ///< of the printed template
  std::string policy;          ///< of its policy: name + "_policy"
  std::string instance;        ///< of the template with its type and math: name + "_cell"
  std::string arguments;       ///< of the entry's parameter: name + "_args"
  std::string entry;           ///< of the kernel: name + "_forward"
  std::vector<int64_t> stored; ///< states that a caller may want as a sequence
  InputReads reads;
  /// Names of the values that have one, per function; the others are printed where they are used.
  llvm::DenseMap<mlir::Value, std::string> names;
  /// Of a newton.implicit: the variables of its search, as its trial takes them, then the verdict.
  llvm::DenseMap<mlir::Operation*, std::vector<std::string>> searches;

  mlir::Block& step() { return op->getStep().front(); }
  bool hasJacobian() { return op->hasJacobian(); }
  mlir::Block& stepJacobian() { return op->getJacobian().front(); }
};

/// Copies, checks and names a system; its Jacobian too if it is wanted. `unit` is the scope of the
/// unit's own names. Failure after diagnostics at the ops that cannot be printed.
mlir::FailureOr<PreparedSystem> prepare(newton::SystemOp system, std::vector<int64_t> stored,
                                        bool jacobian, NameScope& unit);

} // namespace rnnc::cuda
