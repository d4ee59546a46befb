//===- Pow.cpp - powers ----------------------------------------------------------------------===//

#include "Target/Cpu/VectorMath/ExpParts.h"
#include "Target/Cpu/VectorMath/LogParts.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The unevaluated sum of two doubles, the second at most half an ulp of the first.
struct Twice {
  Expr high, low;
};
} // namespace

/// a + b exactly, for |a| >= |b| or a = 0.
static Twice sumOf(Expr a, Expr b) {
  Expr sum = a + b;
  return {sum, (a - sum) + b};
}

/// a b exactly, or to 2^-106 of it where nothing fuses (Dekker).
static Twice productOf(Expr a, Expr b) {
  Expr product = a * b;
  if (a.in().fma())
    return {product, fma(a, b, -product)};
  auto upper = [](Expr x) { return (x.bits() & ~((int64_t(1) << 27) - 1)).asFloat(); };
  Expr p = upper(a), q = a - p, r = upper(b), s = b - r;
  return {product, ((p * r - product) + p * s + q * r) + q * s};
}

static Twice productOf(Twice a, Twice b) {
  Twice product = productOf(a.high, b.high);
  return {product.high, product.low + (a.high * b.low + a.low * b.high)};
}

namespace {
/// a = 2^k m for a positive double a.
struct Scaled {
  Expr k, m;
};
} // namespace

static Scaled scaled(Expr a) {
  Expr denormal = a < 0x1p-1022;
  MantissaSplit split = splitMantissa(select(denormal, a * 0x1p64, a));
  return {exponentOf(split.biased, select(denormal, a.like(64.0), a.like(0.0))), split.m};
}

/// log(2^k m) = k ln 2 + 2 atanh(s), s = (m - 1) / (m + 1), to about 2^-64 of it.
static Twice logTwice(Scaled a) {
  Expr f = a.m - 1.0, sum = a.m + 1.0, sumLow = a.m - (sum - 1.0);
  Expr inverse = a.m.like(1.0) / sum, quotient = f * inverse;
  Twice back = productOf(quotient, sum);
  Twice s = {quotient, (((f - back.high) - back.low) - quotient * sumLow) * inverse};
  Twice square = productOf(s, s);
  // atanh(s) = s + s w (1/3 + w R(w)), w = s^2.
  Formula& formula = a.m.in();
  llvm::ArrayRef<double> oneThird = formula.terms<third>(), ln2 = formula.terms<ln2_short_f64>();
  Expr tail = polynomial(square.high, formula.terms<atanh_tail>());
  Twice third = sumOf(a.m.like(oneThird[0]), square.high * tail);
  third.low = third.low + fma(square.low, tail, oneThird[1]);
  Twice rest = productOf(s, productOf(square, third));
  Twice arc = sumOf(s.high, rest.high);
  Expr low = (arc.low + (rest.low + s.low)) * 2.0;
  Twice whole = sumOf(a.k * ln2[0], arc.high * 2.0);
  return sumOf(whole.high, whole.low + fma(a.k, ln2[1], low));
}

/// a^y for a >= 0 in double precision; the values at 0, infinity and NaN are right but for 1^y and
/// y^0.
static Expr powerOf(Expr a, Expr y) {
  Twice log = logTwice(scaled(a));
  Expr high = select(a == 0.0, -kInfinity, select(a < kInfinity, log.high, a));
  Twice product = productOf(y, high);
  return exponential(product.high, fma(y, log.low, product.low));
}

/// The same for single precision, whose logarithm fits into one double.
static Expr powerOfSingle(Expr a, Expr y) {
  Formula& single = a.in();
  Formula twice(single.builder, single.loc, a.toDouble().value(), single.options);
  Expr base(twice, a.toDouble().value()), exponent(twice, y.toDouble().value());
  MantissaSplit split = splitMantissa(base);
  Expr log = logOf(exponentOf(split.biased, base.like(0.0)), split.m - 1.0);
  log = select(base == 0.0, -kInfinity, select(base < kInfinity, log, base));
  return a.with(exponential(exponent * log).toSingle().value());
}

static Expr power(Expr x, Expr y) {
  Expr a = abs(x), half = y * 0.5;
  Expr result = x.in().isDouble() ? powerOf(a, y) : powerOfSingle(a, y);
  Expr isWhole = floor(y) == y, isOdd = isWhole & (floor(half) != half);
  // A negative base: the sign of an odd power, and no real power but whole ones.
  Expr zero = x.like(0.0).bits();
  result = flipSign(result, select(isOdd, signBit(x), zero));
  Expr undefined = (x < 0.0) & (x > -kInfinity) & (floor(y) != y);
  result = select(undefined, x.like(std::nan("")), result);
  Expr isOne = (y == 0.0) | (x == 1.0) | ((x == -1.0) & (abs(y) == kInfinity));
  return select(isOne, 1.0, result);
}

Value rnnc::emitPow(OpBuilder& b, Location loc, Value x, Value y, VectorMathOptions options) {
  return build(b, loc, x, y, options, power);
}
