//===- Hyperbolic.cpp - tanh, sigmoid, softplus, sinh, cosh ----------------------------------===//

#include "Target/Cpu/VectorMath/ExpParts.h"
#include "Target/Cpu/VectorMath/LogParts.h"

#include <limits>
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
  Expr r = fma(m, std::numbers::ln2, size * -2.0);
  Expr q = expm1Reduced(r, r);
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
  // S + centre is exact where it matters, but for one S: half an ulp of the centre, which that sum
  // would drop. So it is added to q instead.
  CentredExp e = centredExp({parts.shifted, -parts.n, -parts.r}, f.pick(-25, -54));
  Expr result = s / fma(e.factor, e.q, s + e.centre);
  // The parts are garbage far outside, and S is infinite above.
  result = select(x > f.pick(40.0, 80.0), 1.0, result);
  return select(x < f.pick(-110.0, -760.0), 0.0, result);
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + e) with e = exp(-|x|) in [0, 1].
static Expr softplus(Expr x) {
  Formula& f = x.in();
  ExpParts parts = splitExp(atLeast(-abs(x), f.pick(-110.0, -760.0)), halvesBias(f));
  CentredExp centred = centredExp(parts);
  Halves halves = halfScales(parts.shifted);
  Expr s = halves.first * halves.second;
  Expr e = fma(s * centred.factor, centred.q, s * centred.centre);
  // 1 + e = 2^k (1 + t), t within the logarithm's interval.
  Expr upper = e > 0x1.a8p-2;
  Expr t = select(upper, fma(e, 0.5, -0.5), e);
  Expr k = select(upper, x.like(1.0), x.like(0.0));
  return select(x > 0.0, x, x.like(0.0)) + logOf(k, t);
}

namespace {
/// With n = round(|x| / ln 2), r = |x| - n ln 2, A = 2^(n-2) and B = 2^(-n-2):
///     sinh|x| / 2 = (A - B) cosh r + (A + B) sinh r,    cosh x / 2 = (A + B) cosh r + (A - B) sinh
///     r.
struct HyperbolicParts {
  Expr difference, sum;  // A - B, A + B
  Expr sine, cosineRest; // sinh r, cosh r - 1
};
} // namespace

static HyperbolicParts splitHyperbolic(Expr size) {
  Formula& f = size.in();
  int bias = f.pick(127, 1023);
  ExpParts parts = splitExp(size, bias - 2);
  Expr a = normalScale(parts.shifted);
  // B's exponent is -4 less A's. It no longer counts where that would not be a normal number.
  Expr b =
      ((size.like(0.0).bits() + (int64_t(2 * bias - 4) << f.pick(23, 52))) - a.bits()).asFloat();
  b = select(size > f.pick(40.0, 80.0), 0.0, b);
  Expr r = f.fma() ? fma(parts.n, -f.terms<ln2_f32, ln2_f64>()[1], parts.r) : parts.r;
  Expr square = r * r;
  Expr sine = polynomial(square, f.terms<sinh_tail_f32, sinh_tail_f64>());
  Expr cosine = polynomial(square, f.terms<cosh_tail_f32, cosh_tail_f64>());
  return {a - b, a + b, fma(square * r, sine, r), square * cosine};
}

static Expr hyperbolicSine(Expr x) {
  Formula& f = x.in();
  Expr size = abs(x);
  HyperbolicParts of = splitHyperbolic(size);
  Expr half = of.difference + fma(of.difference, of.cosineRest, of.sum * of.sine);
  Expr y = select(size > f.pick(89.5, 710.6), std::numeric_limits<double>::infinity(), half + half);
  // Halves of the smallest numbers would be rounded.
  return copysign(select(size < f.pick(0x1p-20, 0x1p-40), size, y), x);
}

static Expr hyperbolicCosine(Expr x) {
  Formula& f = x.in();
  Expr size = abs(x);
  HyperbolicParts of = splitHyperbolic(size);
  Expr half = of.sum + fma(of.sum, of.cosineRest, of.difference * of.sine);
  return select(size > f.pick(89.5, 710.6), std::numeric_limits<double>::infinity(), half + half);
}

Value rnnc::emitTanh(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, hyperbolicTangent);
}

Value rnnc::emitSigmoid(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, sigmoid);
}

Value rnnc::emitSoftplus(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, softplus);
}

Value rnnc::emitSinh(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, hyperbolicSine);
}

Value rnnc::emitCosh(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, hyperbolicCosine);
}
