// Angles reduced to an eighth of a turn, for every finite argument: the CPU's operations.
#pragma once

#include "rnn/math_formula.cuh"

namespace rnn::elementary {

/// x = r + count pi/2 modulo a turn, |r| <= pi/4 and a little more. NaN for infinities. The two
/// lowest bits of the count count.
template <class real>
struct quarter_turns {
  real r;
  bits_of<real> count;
};

/// `limbs` words of 32 bits, the most significant first.
template <int n>
using limbs = list<unsigned int, n>;

/// The n + 1 words from `word` on, word < 2 step: its bits one at a time, the highest first.
/// Selections instead of a table: no load waits behind this rare branch, and no array is in memory.
template <int n, int step, int m>
__device__ inline limbs<n + 1> words_from(limbs<m> words, unsigned int word) {
  static_assert(m == n + 2 * step, "each step halves what may follow");
  bool further = (word & step) != 0;
  limbs<n + step> next = {};
#pragma unroll
  for (int i = 0; i < n + step; ++i)
    next.at[i] = further ? words.at[i + step] : words.at[i];
  if constexpr (step == 1)
    return next;
  else
    return words_from<n, step / 2>(next, word);
}

/// n limbs of 1/(2 pi) from bit 32 word + 32 - back on; word < 2 most.
template <int n, int most>
__device__ inline limbs<n> turn_window(unsigned int word, int back) {
  limbs<n + 2 * most> all = {};
#pragma unroll
  for (int i = 0; i < n + 2 * most; ++i)
    all.at[i] = turn_words().at[i];
  limbs<n + 1> words = words_from<n, most>(all, word);
  limbs<n> result = {};
#pragma unroll
  for (int i = 0; i < n; ++i) {
    unsigned long long two = static_cast<unsigned long long>(words.at[i]) << 32 | words.at[i + 1];
    result.at[i] = static_cast<unsigned int>(two >> back);
  }
  return result;
}

/// The fraction of |x| / (2 pi), 64 bits or 128, off by less than the last of them (Payne and
/// Hanek). |x| = M 2^e, so it is that of M K, where K is the fraction of 2^e / (2 pi): a window
/// into the bits of 1/(2 pi) that starts at bit e.
template <class real>
__device__ inline auto turn_fraction(real x) {
  constexpr bool twice = sizeof(real) == 8;
  constexpr int n = twice ? 6 : 3, place_of_exponent = format<real>::mantissa;
  // The exponent field for the first bit there is.
  constexpr int least = format<real>::bias + place_of_exponent - 32;
  bits_of<real> b = bits(magnitude(x));
  int place = static_cast<int>(b >> place_of_exponent) - least;
  limbs<n> k =
      turn_window<n, twice ? 16 : 4>(static_cast<unsigned int>(place) >> 5, 32 - (place & 31));
  constexpr bits_of<real> implicit = bits_of<real>(1) << place_of_exponent;
  unsigned long long mantissa = (b & (implicit - 1)) | implicit;
  limbs<2> factors = {
      {static_cast<unsigned int>(mantissa), static_cast<unsigned int>(mantissa >> 32)}};
  list<unsigned long long, n> columns = {};
#pragma unroll
  for (int m = 0; m < (twice ? 2 : 1); ++m)
#pragma unroll
    for (int i = m; i < n; ++i) {
      unsigned long long product = static_cast<unsigned long long>(factors.at[m]) * k.at[i];
      columns.at[i - m] += static_cast<unsigned int>(product);
      if (i > m)
        columns.at[i - m - 1] += product >> 32;
    }
  limbs<twice ? 4 : 2> fraction = {};
#pragma unroll
  for (int i = n - 1; i >= 0; --i) {
    if (i > 0)
      columns.at[i - 1] += columns.at[i] >> 32;
    if (i < decltype(fraction)::size)
      fraction.at[i] = static_cast<unsigned int>(columns.at[i]);
  }
  return fraction;
}

/// An integer below 2^32 as a double: the low mantissa bits of 2^52 plus it.
__device__ inline double exact_limb(unsigned int limb) {
  return from_bits(0x4330000000000000ull | limb) - 0x1p52;
}

/// A fraction of a turn as an angle in single precision.
__device__ inline float radians(limbs<2> f) {
  double turns = exact_limb(f.at[0]) * 0x1p-32 + exact_limb(f.at[1]) * 0x1p-64;
  return static_cast<float>(turns * 0x1.921fb54442d18p+2);
}

/// In double precision, rounded about once.
__device__ inline double radians(limbs<4> f) {
  constexpr auto turn = two_pi();
  double a = exact_limb(f.at[0]) * 0x1p-32, b = exact_limb(f.at[1]) * 0x1p-64;
  double c = exact_limb(f.at[2]) * 0x1p-96 + exact_limb(f.at[3]) * 0x1p-128;
  double sum = a + b, high = sum + (((a - sum) + b) + c);
  double low = ((a - high) + b) + c; // a - high is exact: they are near, or a is 0
  // (high + low) 2 pi, the product of the leading parts exact: no product of halves rounds.
  double upper = from_bits(bits(high) & ~((1ull << 27) - 1)), lower = high - upper;
  double p = turn.at[0], q = turn.at[1], product = high * (p + q);
  double error = (upper * p - product) + upper * q + lower * p + lower * q;
  return product + (error + (high * turn.at[2] + low * (p + q)));
}

template <class real>
__device__ inline quarter_turns<real> reduce_exactly(real x) {
  auto f = turn_fraction(x);
  // The nearest quarter, and the signed distance from it: complemented where negative, off by the
  // last bit of all.
  unsigned int count = (f.at[0] + 0x20000000u) >> 30;
  unsigned int rest = f.at[0] - (count << 30), mask = (rest >> 31) ? 0xffffffffu : 0u;
  f.at[0] = rest;
#pragma unroll
  for (int i = 0; i < decltype(f)::size; ++i)
    f.at[i] ^= mask;
  real r = flip_sign(radians(f), sign_bit(x) ^ (mask ? sign_bit(real(-1)) : bits_of<real>(0)));
  return {r, bits_of<real>(x < real(0) ? 0u - count : count)};
}

/// For every x: by parts of pi/2 (Cody and Waite) where x is not large, else by as many bits of
/// 1/(2 pi) as it takes.
template <class real>
__device__ inline quarter_turns<real> reduce_angle(real x) {
  constexpr auto parts = terms<real>(half_pi_f32(), half_pi_f64());
  real shift = number<real>(0x1.8p23, 0x1.8p52);
  real shifted = fused(x, real(0x1.45f306dc9c883p-1), shift); // 2 / pi
  real n = shifted - shift;
  // The first step is exact, the last does not count but near a multiple of pi/2.
  real r = fused(n, -parts.at[2], fused(n, -parts.at[1], fused(n, -parts.at[0], x)));
  quarter_turns<real> turns = {r, bits(shifted)};
  real size = magnitude(x);
  if (size > number<real>(50000, 1e8) && size < infinity<real>())
    turns = reduce_exactly(x);
  return turns;
}

} // namespace rnn::elementary
