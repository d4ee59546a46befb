//===- Log.cpp - log and log1p ---------------------------------------------------------------===//

#include "Target/Cpu/VectorMath/LogParts.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;
using llvm::ArrayRef;

namespace rnnc::vecmath {

MantissaSplit splitMantissa(Expr u) {
  Formula& f = u.in();
  int64_t one = f.pick<int64_t>(0x3f800000, 0x3ff0000000000000);
  int64_t half = f.pick<int64_t>(0x3f3504f3, 0x3fe6a09e667f3bcd); // sqrt(1/2)
  int64_t mantissa = f.pick<int64_t>(0x007fffff, 0x000fffffffffffff);
  Expr moved = u.bits() + (one - half);
  return {moved >> f.pick(23, 52), ((moved & mantissa) + half).asFloat()};
}

Expr exponentOf(Expr biased, Expr more) {
  Formula& f = biased.in();
  // An integer below 2^23 or 2^52 is the mantissa of that number plus it.
  Expr large = (biased | f.pick<int64_t>(0x4b000000, 0x4330000000000000)).asFloat();
  return large - (more + f.pick(0x1p23 + 127, 0x1p52 + 1023));
}

Expr logOf(Expr k, Expr f) {
  Formula& formula = f.in();
  ArrayRef<double> ln2 = formula.terms<ln2_short_f32, ln2_short_f64>();
  ArrayRef<double> c = formula.terms<log_tail_f32, log_tail_f64>();
  Expr whole = k * ln2[0]; // exact
  Expr sum = whole + f;
  Expr lost = (whole - sum) + f; // exact: k is 0, or |f| is the smaller
  Expr square = f * f;
  Expr small = fma(square, -0.5, fma(k, ln2[1], lost));
  return sum + fma(square * f, polynomial(f, c), small);
}

} // namespace rnnc::vecmath

/// The values outside the domain: log's, where `zero` is where it becomes infinite.
static Expr atLimits(Expr x, double zero, Expr y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  y = select(x < kInfinity, y, kInfinity);
  Expr outside = select(x == zero, x.like(-kInfinity), x.like(std::nan("")));
  return select(x > zero, y, outside);
}

static Expr logarithm(Expr x) {
  Formula& f = x.in();
  Expr denormal = x < f.pick(0x1p-126, 0x1p-1022);
  Expr u = select(denormal, x * f.pick(0x1p32, 0x1p64), x);
  MantissaSplit split = splitMantissa(u);
  Expr k = exponentOf(split.biased, select(denormal, x.like(f.pick(32.0, 64.0)), x.like(0.0)));
  return atLimits(x, 0.0, logOf(k, split.m - 1.0));
}

/// The mantissa's distance from 1 comes from x, not from the rounded u = 1 + x:
/// f = (1 + x) 2^-k - 1 = x 2^-k + (2^-k - 1).
static Expr logarithmOnePlus(Expr x) {
  Formula& f = x.in();
  // Where 1 + x is x it is scaled so that 2^-k is a normal number, still so small that 2^-k - 1 is
  // -1.
  Expr large = x > f.pick(0x1p64, 0x1p512);
  Expr scaled = select(large, x * f.pick(0x1p-32, 0x1p-256), x);
  MantissaSplit split = splitMantissa(select(large, scaled, x + 1.0));
  Expr k = exponentOf(split.biased, select(large, x.like(f.pick(-32.0, -256.0)), x.like(0.0)));
  Expr power =
      ((x.like(0.0).bits() + f.pick(254, 2046) - split.biased) << f.pick(23, 52)).asFloat();
  Expr y = logOf(k, fma(scaled, power, power - 1.0));
  return select(x == 0.0, x, atLimits(x, -1.0, y));
}

Value rnnc::emitLog(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, logarithm);
}

Value rnnc::emitLog1p(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, logarithmOnePlus);
}
