// log, log1p, softplus: the CPU's operations, so its bits; softplus but for its exponential.
#pragma once

#include "rnn/math_exp.cuh"

namespace rnn::elementary {

/// u = m 2^k with m in [sqrt(1/2), sqrt(2)), for normal u > 0.
template <class real>
struct mantissa_split {
  bits_of<real> biased; // k + the format's bias
  real m;
};
template <class real>
__device__ inline mantissa_split<real> split_mantissa(real u) {
  constexpr bits_of<real> one = number_bits<real>(0x3f800000, 0x3ff0000000000000),
                          half = number_bits<real>(0x3f3504f3, 0x3fe6a09e667f3bcd),
                          mantissa = number_bits<real>(0x007fffff, 0x000fffffffffffff);
  bits_of<real> moved = bits(u) + (one - half);
  return {moved >> format<real>::mantissa, from_bits((moved & mantissa) + half)};
}

/// k as a float, less `more`.
template <class real>
__device__ inline real exponent_of(bits_of<real> biased, real more) {
  // An integer below 2^23 or 2^52 is the mantissa of that number plus it.
  constexpr bits_of<real> base = number_bits<real>(0x4b000000, 0x4330000000000000);
  return from_bits(biased | base) - (more + number<real>(0x1p23 + 127, 0x1p52 + 1023));
}

/// log(2^k (1 + f)) for f in [sqrt(1/2) - 1, sqrt(2) - 1].
template <class real>
__device__ inline real log_of(real k, real f) {
  constexpr auto ln2 = terms<real>(ln2_short_f32(), ln2_short_f64());
  constexpr auto c = terms<real>(log_tail_f32(), log_tail_f64());
  real whole = k * ln2[0]; // exact
  real sum = whole + f;
  real lost = (whole - sum) + f; // exact: k is 0, or |f| is the smaller
  real square = f * f;
  real small = fused(square, real(-0.5), fused(k, ln2[1], lost));
  return sum + fused(square * f, estrin(f, c), small);
}

/// The values outside the domain: log's, where `zero` is where it becomes infinite.
template <class real>
__device__ inline real log_at_limits(real x, real zero, real y) {
  y = x < infinity<real>() ? y : infinity<real>();
  real outside = x == zero ? -infinity<real>() : not_a_number<real>();
  return x > zero ? y : outside;
}

template <class real>
__device__ inline real log(real x) {
  bool denormal = x < number<real>(0x1p-126, 0x1p-1022);
  real u = denormal ? x * number<real>(0x1p32, 0x1p64) : x;
  mantissa_split<real> split = split_mantissa(u);
  real k = exponent_of(split.biased, denormal ? number<real>(32, 64) : real(0));
  return log_at_limits(x, real(0), log_of(k, split.m - real(1)));
}

/// The mantissa's distance from 1 comes from x, not from the rounded u = 1 + x:
/// f = (1 + x) 2^-k - 1 = x 2^-k + (2^-k - 1).
template <class real>
__device__ inline real log1p(real x) {
  // Where 1 + x is x it is scaled so that 2^-k is a normal number, still so small that 2^-k - 1 is
  // -1.
  bool large = x > number<real>(0x1p64, 0x1p512);
  real scaled = large ? x * number<real>(0x1p-32, 0x1p-256) : x;
  mantissa_split<real> split = split_mantissa(large ? scaled : x + real(1));
  real k = exponent_of(split.biased, large ? number<real>(-32, -256) : real(0));
  real power = from_bits((number_bits<real>(254, 2046) - split.biased) << format<real>::mantissa);
  real y = log_of(k, fused(scaled, power, power - real(1)));
  return x == real(0) ? x : log_at_limits(x, real(-1), y);
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + e) with e = exp(-|x|) in [0, 1].
template <class real>
__device__ inline real softplus(real x) {
  real e = exp_of_negative(at_least(-magnitude(x), number<real>(-105, -750)));
  // 1 + e = 2^k (1 + t), t within the logarithm's interval.
  bool upper = e > real(0x1.a8p-2);
  real t = upper ? fused(e, real(0.5), real(-0.5)) : e;
  return at_least(x, real(0)) + log_of(upper ? real(1) : real(0), t);
}

} // namespace rnn::elementary
