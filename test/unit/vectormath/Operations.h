//===- Operations.h - the operations tested, and to which bound ------------------------------===//
#pragma once

#include "Functions.h"

#include "mlir/IR/Builders.h"

#include <span>

namespace vectormath {

/// Largest error in units of the last place that a test accepts: the figures of docs/math.md.
struct Bounds {
  double f32, f32Separate; // with fused multiply-adds, and without
  double f64, f64Separate;
};

/// An operation that the patterns replace.
struct Operation {
  const elementary::Function& function;
  /// `b` is unused by functions of one argument.
  mlir::Value (*build)(mlir::OpBuilder&, mlir::Location, mlir::Value a, mlir::Value b);
  Bounds bounds;
};

std::span<const Operation> operations();
const Operation& operation(llvm::StringRef name);

} // namespace vectormath
