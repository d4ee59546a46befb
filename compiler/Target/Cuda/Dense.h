//===- Dense.h - a dense system as CUDA C++ --------------------------------------------------===//
#pragma once

#include "Newton/Newton.h"
#include "Target/Cuda/Names.h"
#include "Target/Cuda/Reads.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace rnnc::cuda {

/// A copy of a dense system whose ops can all be printed, and the names of its values. As
/// PreparedSystem, for the other kind of system.
struct PreparedDense {
  mlir::OwningOpRef<newton::DenseSystemOp> op;
  std::string name, instance, arguments, entry;
  InputReads reads;
  int64_t blockAxes = 0; ///< the most that an array of the caller's has
  llvm::SmallVector<llvm::SmallVector<int64_t>> arrays; ///< block dims of each array of the step
  llvm::DenseMap<mlir::Value, std::string> names;       ///< others are printed where they are used
};

/// Copies, checks and names a dense system. Failure after diagnostics at the ops that cannot be
/// printed.
mlir::FailureOr<PreparedDense> prepareDense(newton::DenseSystemOp system, NameScope& unit);

/// Writes the struct of runtime/device/dense.cuh: its arrays and its step. Cannot fail.
void printDenseCell(PreparedDense& system, LineWriter& out);

/// sizeof(rnn::dense_args<...>) of runtime/device/dense.cuh; the unit asserts it.
int64_t denseArgumentBytes(PreparedDense& system);

} // namespace rnnc::cuda
