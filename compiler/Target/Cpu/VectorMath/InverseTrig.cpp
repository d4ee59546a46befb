//===- InverseTrig.cpp - asin, acos, atan and atan2 ------------------------------------------===//

#include "Target/Cpu/VectorMath/Expr.h"

#include <limits>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;
using llvm::ArrayRef;

static double quarterPi(Formula& f, int part) {
  return f.terms<quarter_pi_f32, quarter_pi_f64>()[part];
}

/// asin(|x|) is taken as it is up to 1/2, and from there on by half the complement's angle:
/// acos(a) = 2 asin(sqrt((1 - a) / 2)).
namespace {
struct HalfArc {
  Expr big;   // |x| > 1/2
  Expr angle; // asin|x|, or acos|x| / 2 where big; NaN for |x| > 1
};
} // namespace

static HalfArc halfArc(Expr x) {
  Formula& f = x.in();
  Expr size = abs(x), big = size > 0.5;
  Expr square = select(big, fma(size, -0.5, 0.5), size * size); // exact where big
  Expr root = select(big, sqrt(square), size);
  Expr p = polynomial(square, f.terms<asin_tail_f32, asin_tail_f64>());
  return {big, fma(root * square, p, root)};
}

static Expr arcSine(Expr x) {
  Formula& f = x.in();
  HalfArc arc = halfArc(x);
  double high = 2 * quarterPi(f, 0), low = 2 * quarterPi(f, 1);
  return copysign(select(arc.big, (fma(arc.angle, -2.0, low)) + high, arc.angle), x);
}

static Expr arcCosine(Expr x) {
  Formula& f = x.in();
  HalfArc arc = halfArc(x);
  Expr negative = x < 0.0;
  double high = 2 * quarterPi(f, 0), low = 2 * quarterPi(f, 1);
  // The other side of a right angle, or of two.
  Expr twice = arc.angle + arc.angle;
  Expr big = select(negative, (low * 2 - twice) + high * 2, twice);
  Expr small = (low - copysign(arc.angle, x)) + high;
  return select(arc.big, big, small);
}

/// The angle whose tangent is y / x, for y >= 0 and x of either sign, 0 <= angle <= pi: from an
/// eighth of a turn, with one division, of a number at most tan(pi / 8) in size.
static Expr angleOf(Expr y, Expr x) {
  Formula& f = y.in();
  constexpr double kTanEighth = 0x1.a82798p-2,
                   kTanRest = 0x1.3504f4p+1; // of pi/8 and 3 pi/8, or near
  Expr size = abs(x);
  Expr low = y <= size * kTanEighth, high = y > size * kTanRest;
  Expr numerator = select(low, y, select(high, -size, y - size));
  Expr denominator = select(low, size, select(high, y, y + size));
  Expr t = numerator / denominator;
  Expr square = t * t;
  Expr p = polynomial(square, f.terms<atan_tail_f32, atan_tail_f64>());
  // In quarters of pi: 0, 1 or 2, or what is left of 4.
  Expr quarters = select(low, y.like(0.0), select(high, y.like(2.0), y.like(1.0)));
  Expr left = x.bits() < int64_t(0);
  quarters = select(left, 4.0 - quarters, quarters);
  t = flipSign(t, signBit(x));
  Expr rest = fma(square * t, p, quarters * quarterPi(f, 1));
  return fma(quarters, quarterPi(f, 0), t + rest);
}

static Expr arcTangent(Expr x) { return copysign(angleOf(abs(x), x.like(1.0)), x); }

static Expr arcTangent2(Expr y, Expr x) {
  Formula& f = y.in();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Expr a = abs(y), b = abs(x);
  // Neither may the sum overflow nor the comparisons with a multiple suffer from denormals.
  double much = f.pick(0x1p100, 0x1p1000), little = f.pick(0x1p-90, 0x1p-900);
  Expr large = (a > much) | (b > much), tiny = (a < little) & (b < little);
  Expr scale = select(large, x.like(f.pick(0x1p-30, 0x1p-60)),
                      select(tiny, x.like(f.pick(0x1p60, 0x1p200)), x.like(1.0)));
  // Two zeros or two infinities count as they do in C: 0 / 1 and 1 / 1.
  Expr infinite = (a == kInfinity) & (b == kInfinity);
  a = select(infinite, 1.0, a * scale);
  b = select(infinite | ((a == 0.0) & (b == 0.0)), 1.0, b * scale);
  return copysign(angleOf(a, copysign(b, x)), y);
}

Value rnnc::emitAsin(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, arcSine);
}

Value rnnc::emitAcos(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, arcCosine);
}

Value rnnc::emitAtan(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, arcTangent);
}

Value rnnc::emitAtan2(OpBuilder& b, Location loc, Value y, Value x, VectorMathOptions options) {
  return build(b, loc, y, x, options, arcTangent2);
}
