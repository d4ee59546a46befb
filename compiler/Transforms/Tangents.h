//===- Tangents.h - forward-mode differentiation ---------------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace rnnc {
namespace newton {
class ImplicitOp;
} // namespace newton

/// Of every value the derivative along one direction; absent or null: zero.
using Tangents = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Adds the tangents of what `ops` compute, which stand in one block in this order; each is built
/// right behind its op. Failure after a diagnostic where an op has no rule.
mlir::LogicalResult propagate(llvm::ArrayRef<mlir::Operation*> ops, Tangents& tangents);

/// An implicit equation written out at one point: the ops, the residuals, and their derivatives by
/// the unknowns, [row][column], null where they are zero.
struct Linearised {
  llvm::SmallVector<mlir::Operation*> ops;
  llvm::SmallVector<mlir::Value> residuals;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> matrix;
};

/// Writes the residual of `op` out at `builder`'s place, for the unknowns `at` and with `given` for
/// the captures. Leaves `builder` behind it.
mlir::FailureOr<Linearised> linearise(newton::ImplicitOp op, mlir::OpBuilder& builder,
                                      mlir::ValueRange at, mlir::ValueRange given);

} // namespace rnnc
