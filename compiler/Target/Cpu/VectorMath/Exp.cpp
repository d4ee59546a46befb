//===- Exp.cpp - exp and expm1 ---------------------------------------------------------------===//

#include "Target/Cpu/VectorMath/ExpParts.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;
using llvm::ArrayRef;

namespace rnnc::vecmath {

static int exponentPlace(Formula& f) { return f.pick(23, 52); }

ExpParts splitExp(Expr x, int bias) {
  Formula& f = x.in();
  Expr shift = x.like(f.pick(0x1.8p23, 0x1.8p52) + bias);
  Expr shifted = fma(x, std::numbers::log2e, shift);
  Expr n = shifted - shift;
  if (f.fma())
    return {shifted, n, fma(n, -f.terms<ln2_f32, ln2_f64>()[0], x)};
  ArrayRef<double> ln2 = f.terms<ln2_short_f32, ln2_short_f64>();
  return {shifted, n, (x - n * ln2[0]) - n * ln2[1]};
}

Expr normalScale(Expr shifted) { return (shifted.bits() << exponentPlace(shifted.in())).asFloat(); }

int halvesBias(Formula& f) { return f.pick(2 * 127, 2 * 1023); }

Halves halfScales(Expr shifted) {
  Expr n = shifted.bits(), half = n >> 1;
  int place = exponentPlace(shifted.in());
  return {(half << place).asFloat(), ((n - half) << place).asFloat()};
}

/// exp(r) - 1 by Estrin's scheme: low + r^2 (c0 + c1 r) + ..., for a low near r.
static Expr reduced(Expr r, Expr low, ArrayRef<double> c) {
  Expr square = r * r;
  Expr start = fma(square, fma(r, c[1], c[0]), low);
  return fma(square * square, polynomial(r, c.drop_front(2)), start);
}

CentredExp centredExp(const ExpParts& parts, std::optional<int> addPower,
                      std::optional<Expr> more) {
  Expr r = parts.r;
  Formula& f = r.in();
  // exp(r) lies in [0.70, 1.42]. Less this centre, below 1 it is less than 1/4 in size, above 1
  // less than about 1/2: each rounding on the way costs an eighth of the result's last place, not a
  // quarter as it would less 1.
  constexpr double kCentre = 0x1.dp-1;
  // exp(r) (1 - rest) is centre + (1 - rest) q but for rest^2, where
  // q = exp(r) - 1 + (1 - centre) - rest centre.
  double low = f.fma() ? f.terms<ln2_f32, ln2_f64>()[1] : 0.0;
  Expr offset = f.fma() ? fma(parts.n, -low * kCentre, 1.0 - kCentre) : r.like(1.0 - kCentre);
  if (addPower) {
    Expr place = r.like(f.pick(0x1.8p23, 0x1.8p52) + halvesBias(f) + *addPower).bits();
    double atPlace = 1.0 - kCentre + *addPower * low * kCentre + std::ldexp(1.0, *addPower);
    offset = select(parts.shifted.bits() == place, atPlace, offset);
  }
  Expr factor = f.fma() ? fma(parts.n, -low, 1.0) : r.like(1.0);
  if (more) { // exp(r) (1 - rest + more), likewise
    offset = fma(*more, kCentre, offset);
    factor = factor + *more;
  }
  Expr q = reduced(r, r + offset, f.terms<exp_tail_f32, exp_tail_f64>());
  return {q, factor, kCentre};
}

Expr expm1Reduced(Expr r, Expr low) {
  // The last step rounds once; one level less in the chain would round twice.
  return fma(r * r, polynomial(r, r.in().terms<expm1_tail_f32, expm1_tail_f64>()), low);
}

Expr exponential(Expr x, std::optional<Expr> more) {
  Formula& f = x.in();
  ExpParts parts = splitExp(x, halvesBias(f));
  Halves scale = halfScales(parts.shifted);
  CentredExp e = centredExp(parts, std::nullopt, more);
  Expr y = fma(scale.first * e.factor, e.q, scale.first * e.centre);
  // Beyond this limit the parts are garbage; well inside it the product is infinite or 0 by itself.
  Expr beyond = select(x > 0.0, x.like(std::numeric_limits<double>::infinity()), x.like(0.0));
  return select(abs(x) > f.pick(120.0, 760.0), beyond, y * scale.second);
}

} // namespace rnnc::vecmath

/// 2^n (1 + q) - 1 = ((a - 1/b) + a q) b with 2^n = a b, which overflows only where the result
/// does.
static Expr exponentialMinusOne(Expr x) {
  Formula& f = x.in();
  Expr bounded = atLeast(x, f.pick(-30.0, -60.0)); // -1 to the last bit
  ExpParts parts = splitExp(bounded, halvesBias(f));
  Halves scale = halfScales(parts.shifted);
  Expr inverse =
      (-scale.second.bits() + (int64_t(f.pick(254, 2046)) << exponentPlace(f))).asFloat();
  Expr y = (scale.first - inverse), r = parts.r;
  if (f.fma()) {
    double low = f.terms<ln2_f32, ln2_f64>()[1];
    Expr q = expm1Reduced(r, fma(parts.n, -low, r));
    y = fma(scale.first * fma(parts.n, -low, 1.0), q, y);
  } else {
    y = fma(scale.first, expm1Reduced(r, r), y);
  }
  y = select(x > f.pick(100.0, 720.0), std::numeric_limits<double>::infinity(), y * scale.second);
  return select(abs(x) < f.pick(0x1p-30, 0x1p-60), x, y); // the sums lose the sign of a zero
}

Value rnnc::emitExp(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, [](Expr x) { return exponential(x); });
}

Value rnnc::emitExpm1(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, exponentialMinusOne);
}
