//===- Erf.cpp - the error function ----------------------------------------------------------===//

#include "Target/Cpu/VectorMath/ExpParts.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;
using llvm::ArrayRef;

/// x + x p(x^2) up to 1 (f32) or 1.5 (f64), 1 - exp(-x^2 + g(x)) from there on.
static Expr errorFunction(Expr x) {
  Formula& f = x.in();
  Expr size = abs(x), square = x * x;
  Expr p = polynomial(square, f.terms<erf_near_f32, erf_near_f64>());
  Expr near = fma(x, p, x);

  Expr from = size - f.terms<erf_centre_f32, erf_centre_f64>()[0];
  Expr g = polynomial(from, f.terms<erf_far_f32, erf_far_f64>());
  ExpParts parts = splitExp(fma(-size, size, g), f.pick(127, 1023));
  Expr s = normalScale(parts.shifted);
  Expr far = fma(-s, expm1Reduced(parts.r, parts.r), 1.0 - s); // 1 - 2^n exp(r)
  far = select(size > f.pick(4.0, 6.0), 1.0, far);             // to the last bit
  return select(size < f.pick(1.0, 1.5), near, copysign(far, x));
}

Value rnnc::emitErf(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, errorFunction);
}
