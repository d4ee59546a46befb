//===- Pullbacks.h - reverse-mode differentiation of array ops -------------------------------===//
#pragma once

#include "Transforms/ArrayExpr.h"

namespace rnnc {

/// The derivative of a loss by a value, of the value's shape or one that broadcasts with it.
struct Adjoint {
  ArrayExpr expr;
  /// It may be 0 because a branch was not taken. Such a 0 passes nothing on, whatever the slope is
  /// that it meets: 0 times the slope of a root at 0 would be NaN.
  bool masked = false;
};

/// Passes the adjoint of what `op` computes on to its operands: calls `give(operand, adjoint)` for
/// those it depends on, in their order. `op` stands where its operands and its result are known.
/// The rules are DerivativeRules.h's; at a kink the adjoint goes the way that the value came from,
/// and of equal elements that are the largest or smallest each gets its share.
void pullBack(mlir::Operation* op, Adjoint given,
              llvm::function_ref<void(mlir::OpOperand& operand, Adjoint adjoint)> give);

} // namespace rnnc
