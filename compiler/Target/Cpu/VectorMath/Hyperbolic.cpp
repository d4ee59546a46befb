//===- Hyperbolic.cpp - tanh, sigmoid, softplus, sinh, cosh ===//

#include "Target/Cpu/VectorMath/Coefficients.h"
#include "Target/Cpu/VectorMath/ExpParts.h"

#include <numbers>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;
using llvm::ArrayRef;

/// With m = round(2|x| / ln 2), S = 2^m and q = exp(m ln 2 - 2|x|) - 1:
///     tanh|x| = (1 - exp(-2|x|)) / (1 + exp(-2|x|)) = (S - 1 - q) / (S + 1 + q),
/// accurate down to x = 0, where S - 1 is 0 and q is -2|x| to the last bit.
static Expr hyperbolicTangent(Expr x) {
  Formula& f = x.in();
  Expr size = abs(x);
  Expr shift = x.like(f.pick(0x1.8p23, 0x1.8p52) + f.pick(127, 1023));
  Expr shifted = fma(size, 2 * std::numbers::log2e, shift);
  Expr m = shifted - shift, s = normalScale(shifted);
  // The low part of ln 2 is left out: m counts only where the result is next to 1.
  Expr q = expm1Reduced(fma(m, std::numbers::ln2, size * -2.0));
  Expr result = ((s - 1.0) - q) / ((s + 1.0) + q);
  // From there on the result is 1 to the last bit; further out the parts are garbage.
  return copysign(select(size > f.pick(10.0, 20.0), 1.0, result), x);
}

/// With m = round(x / ln 2), S = 2^m and r = m ln 2 - x: 1 / (1 + exp(-x)) = S / (S + exp(r)).
static Expr sigmoid(Expr x) {
  Formula& f = x.in();
  ExpParts parts = splitExp(x, halvesBias(f)); // exp(x) = S exp(-r)
  Halves halves = halfScales(parts.shifted);
  Expr s = halves.first * halves.second; // a denormal where it must be
  CentredExp e = centredExp({parts.shifted, -parts.n, -parts.r}, f.pick(-25, -54));
  Expr result = s / fma(e.factor, e.q, s + e.centre);
  // The parts are garbage far outside, and S is infinite above.
  result = select(x > f.pick(40.0, 80.0), 1.0, result);
  return select(x < f.pick(-110.0, -760.0), 0.0, result);
}

Value rnnc::emitTanh(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, hyperbolicTangent);
}

Value rnnc::emitSigmoid(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, sigmoid);
}
