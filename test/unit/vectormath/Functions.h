//===- Functions.h - what is tested, against what, to which bound ===//
#pragma once

#include "mlir/IR/Builders.h"

#include <mpfr.h>
#include <span>

namespace vectormath {

/// Largest error in units of the last place that a test accepts: the figures of docs/math.md.
struct Bounds {
  double f32, f32Separate; // with fused multiply-adds, and without
  double f64, f64Separate;
};

struct Function {
  const char* name;
  /// The operation that the patterns replace; `b` is unused by functions of one argument.
  mlir::Value (*build)(mlir::OpBuilder&, mlir::Location, mlir::Value a, mlir::Value b);
  bool binary;
  double (*reference)(double a, double b); // good enough to judge f32
  void (*exact)(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr b);
  enum Symmetry { kNone, kOdd, kEven } symmetry;
  Bounds bounds;
};

std::span<const Function> functions();
const Function& function(llvm::StringRef name);

} // namespace vectormath
