//===- QuarterTurns.cpp - angles reduced to an eighth of a turn ------------------------------===//

#include "Target/Cpu/VectorMath/QuarterTurns.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace rnnc::vecmath;
using llvm::ArrayRef;
using llvm::SmallVector;

/// x - count pi/2 by parts of pi/2 (Cody and Waite).
static QuarterTurns reduceByParts(Expr x) {
  Formula& f = x.in();
  Expr shift = x.like(f.pick(0x1.8p23, 0x1.8p52));
  Expr shifted = fma(x, 2 / std::numbers::pi, shift);
  Expr n = shifted - shift;
  if (f.fma()) { // the first step is exact, the last does not count but near a multiple of pi/2
    ArrayRef<double> parts = f.terms<half_pi_f32, half_pi_f64>();
    Expr r = fma(n, -parts[2], fma(n, -parts[1], fma(n, -parts[0], x)));
    return {r, shifted.bits()};
  }
  // The products with all parts but the last are exact, and so is the first difference.
  ArrayRef<double> parts = f.terms<half_pi_short_f32, half_pi_short_f64>();
  Expr first = x - n * parts[0], product = n * parts[1], second = first - product;
  Expr lost = (first - second) - product;
  return {second + ((lost - n * parts[2]) - n * parts[3]), shifted.bits()};
}

namespace {

/// The exact way (Payne and Hanek), in 64-bit integers for both precisions. |x| = M 2^e, so the
/// fraction of |x| / (2 pi) is that of M K, where K is the fraction of 2^e / (2 pi): a window into
/// the bits of 1/(2 pi) that starts at bit e. Limbs are 32 bits, the most significant first.
class ExactReduction {
public:
  explicit ExactReduction(Expr x)
      : f(x.in()), x(x), bits(f.isDouble() ? x.bits() : x.bits().toLong()) {}

  QuarterTurns run();

private:
  static constexpr int64_t kLimb = 0xffffffff;
  int mantissaBits() const { return f.pick(23, 52); }

  SmallVector<Expr> window(int limbs);
  SmallVector<Expr> fraction();
  Expr exact(Expr limb) const;
  Expr radians(ArrayRef<Expr> limbs) const;
  Expr radiansTwice(ArrayRef<Expr> limbs) const;

  Formula& f;
  Expr x, bits;
};

} // namespace

/// `limbs` limbs of 1/(2 pi) from bit e on.
SmallVector<Expr> ExactReduction::window(int limbs) {
  int least =
      f.pick(127 + 23 - 32, 1023 + 52 - 32); // the exponent field for the first bit there is
  Expr place = ((bits >> mantissaBits()) & f.pick(0xff, 0x7ff)) - least;
  Expr word = place >> 5, back = place.like(int64_t(32)) - (place & 31);
  // words[i] becomes word + i, one bit of `word` at a time.
  SmallVector<Expr> words;
  for (int i = 0, n = limbs + f.pick(8, 32); i < n; ++i)
    words.push_back(place.like(int64_t(turn_words()[i])));
  for (int step = f.pick(4, 16); step; step /= 2) {
    Expr further = (word & step) != 0;
    SmallVector<Expr> next;
    for (int i = 0; i < limbs + step; ++i)
      next.push_back(select(further, words[i + step], words[i]));
    words = std::move(next);
  }
  SmallVector<Expr> result;
  for (int i = 0; i < limbs; ++i)
    result.push_back((((words[i] << 32) | words[i + 1]) >> back) & kLimb);
  return result;
}

/// The fraction of |x| / (2 pi), 64 bits or 128, off by less than the last of them.
SmallVector<Expr> ExactReduction::fraction() {
  int limbs = f.pick(3, 6);
  SmallVector<Expr> k = window(limbs);
  int64_t implicit = int64_t(1) << mantissaBits();
  Expr mantissa = (bits & (implicit - 1)) | implicit;
  SmallVector<Expr> factors = {mantissa & kLimb};
  if (f.isDouble())
    factors.push_back(mantissa >> 32);
  SmallVector<Expr> columns(limbs, mantissa.like(int64_t(0)));
  for (int m = 0, n = factors.size(); m < n; ++m)
    for (int i = m; i < limbs; ++i) {
      Expr product = factors[m] * k[i];
      columns[i - m] = columns[i - m] + (product & kLimb);
      if (i > m)
        columns[i - m - 1] = columns[i - m - 1] + (product >> 32);
    }
  for (int i = limbs - 1; i > 0; --i) {
    columns[i - 1] = columns[i - 1] + (columns[i] >> 32);
    columns[i] = columns[i] & kLimb;
  }
  columns[0] = columns[0] & kLimb;
  columns.resize(f.pick(2, 4), columns[0]);
  return columns;
}

/// An integer below 2^32 as a double: the low mantissa bits of 2^52 plus it.
Expr ExactReduction::exact(Expr limb) const {
  Expr large = (limb | 0x4330000000000000).asFloat();
  return large - 0x1p52;
}

/// A fraction of a turn in two limbs as an angle in single precision.
Expr ExactReduction::radians(ArrayRef<Expr> limbs) const {
  Expr turns = exact(limbs[0]) * 0x1p-32 + exact(limbs[1]) * 0x1p-64;
  return (turns * (2 * std::numbers::pi)).toSingle();
}

/// A fraction of a turn in four limbs as an angle in double precision, rounded about once.
Expr ExactReduction::radiansTwice(ArrayRef<Expr> limbs) const {
  Expr a = exact(limbs[0]) * 0x1p-32, b = exact(limbs[1]) * 0x1p-64;
  Expr c = exact(limbs[2]) * 0x1p-96 + exact(limbs[3]) * 0x1p-128;
  Expr sum = a + b, high = sum + (((a - sum) + b) + c);
  Expr low = ((a - high) + b) + c; // a - high is exact: they are near, or a is 0
  // (high + low) 2 pi, the product of the leading parts exact: no product of halves rounds.
  Expr upper = (high.bits() & ~((int64_t(1) << 27) - 1)).asFloat(), lower = high - upper;
  constexpr auto turn = two_pi();
  double p = turn[0], q = turn[1];
  Expr product = high * (p + q);
  Expr error = (upper * p - product) + upper * q + lower * p + lower * q;
  return product + (error + (high * turn[2] + low * (p + q)));
}

QuarterTurns ExactReduction::run() {
  SmallVector<Expr> limbs = fraction();
  // The nearest quarter, and the signed distance from it.
  Expr top = (limbs[0] << 32) | limbs[1];
  Expr count = (top + (int64_t(1) << 61)) >> 62;
  Expr rest = top - (count << 62);
  Expr negative = rest >> 63;
  // Complemented where negative: off by the last bit of all.
  Expr mask = -negative & kLimb;
  limbs[0] = (rest >> 32) ^ mask;
  limbs[1] = (rest & kLimb) ^ mask;
  for (size_t i = 2; i < limbs.size(); ++i)
    limbs[i] = limbs[i] ^ mask;
  Expr r = f.isDouble() ? radiansTwice(limbs) : radians(limbs);
  Expr isNegative = x < 0.0;
  if (!f.isDouble()) {
    negative = negative.toInt();
    count = count.toInt();
  }
  r = flipSign(r, (negative << f.pick(31, 63)) ^ signBit(x));
  return {r, select(isNegative, -count, count)};
}

namespace rnnc::vecmath {

QuarterTurns reduceAngle(Expr x) {
  Formula& f = x.in();
  QuarterTurns parts = reduceByParts(x);
  // Multiples of the parts are exact up to there, and n pi/2 less its parts is below an ulp of r.
  double limit = f.fma() ? f.pick(50000.0, 1e8) : f.pick(1500.0, 1.5e6);
  Expr size = abs(x);
  Expr large = (size > limit) & (size < std::numeric_limits<double>::infinity());
  SmallVector<Expr> result = whenAny(large, {parts.r, parts.count}, [&]() -> SmallVector<Expr> {
    QuarterTurns exact = ExactReduction(x).run();
    return {select(large, exact.r, parts.r), select(large, exact.count, parts.count)};
  });
  return {result[0], result[1]};
}

} // namespace rnnc::vecmath
