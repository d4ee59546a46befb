//===- EmitKernel.h - a system's step as a vector kernel -------------------------------------===//
#pragma once

#include "Newton/Newton.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace rnnc {

/// Which kernel of a system: how many columns a vector, with or without the Jacobian's product.
struct KernelShape {
  int64_t width;
  bool jacobian;
  bool fma; // the target fuses multiply-adds
  /// Columns that an operation works on; divides the width. Of the step every operation is there
  /// for all parts before the next one, so that they hide each other's latency; the Jacobian's work
  /// is there part by part, so that it needs the registers of one.
  int64_t part;
};

/// Builds the kernel `name` of the signature rnn_shoot_fn (runtime/include/rnn/module.h), as a
/// function over vectors in a module of its own: the loop over the steps of a chunk, the step code
/// once, and beside it the product of the Jacobians where asked.
mlir::OwningOpRef<mlir::ModuleOp> emitKernel(newton::SystemOp system, llvm::StringRef name,
                                             KernelShape shape);

/// The same for a dense system: loops over the block, numbers of a vector side by side; in place of
/// the Jacobian its diagonal region, which it then must have.
mlir::OwningOpRef<mlir::ModuleOp> emitDenseKernel(newton::DenseSystemOp system,
                                                  llvm::StringRef name, KernelShape shape);

} // namespace rnnc
