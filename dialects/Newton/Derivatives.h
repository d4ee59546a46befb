//===- Derivatives.h - symbolic derivatives of scalar ops ------------------------------------===//
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace rnnc::newton {
/// sum over operands of partial * tangent, from the op's own partials.
mlir::Value chainRule(mlir::Operation* op, mlir::OpBuilder& builder,
                      llvm::ArrayRef<mlir::Value> tangents);

/// Attaches the derivative rules to the ops of arith, math and newton.
void registerDerivativeModels(mlir::DialectRegistry& registry);
} // namespace rnnc::newton

#include "Newton/DerivativeInterface.h.inc"
