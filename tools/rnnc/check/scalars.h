// Scalar IR evaluated in float64, op by op.
#pragma once

#include "Newton/Newton.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace rnnc::check {

/// The value of one op of arith, math or newton; nothing for an op without a rule. Truth values are
/// 0 and 1.
std::optional<double> evaluate(mlir::Operation& op, llvm::ArrayRef<double> operands);

using Values = llvm::DenseMap<mlir::Value, double>;

/// Adds the values of all ops of `block` to `values`, which holds those of its arguments. The op
/// without a rule, null where every op has one.
mlir::Operation* evaluateBlock(mlir::Block& block, Values& values);

} // namespace rnnc::check
