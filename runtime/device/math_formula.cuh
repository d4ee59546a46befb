// What formulas are made of: constants of either precision, polynomials, division without branches.
#pragma once

#include "rnn/math_coefficients.cuh"
#include "rnn/math_platform.cuh"

namespace rnn::elementary {

using namespace coefficients;

/// The constant for the precision at hand.
template <class real>
constexpr real number(double single, double twice) {
  return sizeof(real) == 4 ? static_cast<real>(single) : static_cast<real>(twice);
}

template <class real>
constexpr bits_of<real> number_bits(unsigned int single, unsigned long long twice) {
  return sizeof(real) == 4 ? single : static_cast<bits_of<real>>(twice);
}

template <class real, int n>
constexpr list<real, n> converted(list<double, n> from) {
  list<real, n> to = {};
  for (int i = 0; i < n; ++i)
    to.at[i] = static_cast<real>(from.at[i]);
  return to;
}

/// The coefficients for the precision at hand.
template <class real, int m, int n>
constexpr auto terms(list<double, m> single, list<double, n> twice) {
  if constexpr (sizeof(real) == 4)
    return converted<real>(single);
  else
    return converted<real>(twice);
}

constexpr double log2_e() { return 0x1.71547652b82fep+0; }
constexpr double ln_2() { return 0x1.62e42fefa39efp-1; }

template <class real>
__device__ inline real infinity() {
  return from_bits(number_bits<real>(0x7f800000, 0x7ff0000000000000));
}
template <class real>
__device__ inline real not_a_number() {
  return from_bits(number_bits<real>(0x7fc00000, 0x7ff8000000000000));
}

/// c[from] + c[from + 1] x + ... by Horner's rule: of all orders the fewest instructions, as each
/// step takes its coefficient as an immediate operand.
template <int from = 0, class real, int n>
__device__ inline real horner(real x, list<real, n> c) {
  real y = c.at[n - 1];
#pragma unroll
  for (int i = n - 2; i >= from; --i)
    y = fused(x, y, c.at[i]);
  return y;
}

/// The same in Estrin's order, the CPU's.
template <class real, int n>
__device__ inline real estrin(real x, list<real, n> c) {
  if constexpr (n == 1) {
    return c.at[0];
  } else if constexpr (n == 3) {
    return fused(x, fused(x, c.at[2], c.at[1]), c.at[0]);
  } else {
    list<real, (n + 1) / 2> next = {};
#pragma unroll
    for (int i = 0; i < n / 2; ++i)
      next.at[i] = fused(x, c.at[2 * i + 1], c.at[2 * i]);
    if constexpr (n % 2 == 1)
      next.at[n / 2] = c.at[n - 1];
    return estrin(x * x, next);
  }
}

/// 1 / d from a seed y: in f32 correctly rounded where y is within an ulp, in f64 where y is within
/// 2^-18 of it, relatively (d's mantissa may not be all ones: then the last bit may differ).
__device__ inline float reciprocal_from(float y, float d) {
  return fused(y, fused(-d, y, 1.0f), y);
}
__device__ inline double reciprocal_from(double y, double d) {
  double e = fused(-d, y, 1.0);
  y = fused(y, fused(e, e, e), y);
  return fused(y, fused(-d, y, 1.0), y);
}

/// 1 / d, where d and 1 / d are normal numbers: the same bits on every GPU and on the host,
/// whatever the instruction's last bit is. NaN stays; 1 / infinity is NaN.
template <class real>
__device__ inline real reciprocal(real d) {
  return reciprocal_from(rcp_approximate(d), d);
}

/// n / d correctly rounded, where d, 1 / d, n / d and the remainder are normal numbers, or n = 0.
template <class real>
__device__ inline real quotient(real n, real d) {
  real y = reciprocal(d), q = n * y;
  return fused(fused(-d, q, n), y, q);
}

/// y (1 + e / 2) with e = 1 - a y^2: one step towards 1 / sqrt(a), a's own and a y's rounding
/// errors taken in. In f32 correctly rounded where y is within two ulp.
template <class real>
__device__ inline real reciprocal_root_from(real y, real a) {
  real product = a * y, lost = fused(a, y, -product);
  real e = fused(-lost, y, fused(-product, y, real(1)));
  return fused(y, real(0.5) * e, y);
}

/// 1 / sqrt(x), for every x; the same bits everywhere in f32.
template <class real>
__device__ inline real reciprocal_root(real x) {
  // The instruction takes denormal numbers for 0.
  bool denormal = magnitude(x) < number<real>(0x1p-126, 0x1p-1022) && x != real(0);
  real a = denormal ? x * number<real>(0x1p24, 0x1p54) : x;
  real seed = rsqrt_approximate(a), y = reciprocal_root_from(seed, a);
  if constexpr (sizeof(real) == 8) // whose seed has 19 bits or more
    y = reciprocal_root_from(reciprocal_root_from(y, a), a);
  y = y == y ? y : seed; // 0 and infinity
  return denormal ? y * number<real>(0x1p12, 0x1p27) : y;
}

/// The sign bit of x alone, and x with its sign turned where that bit is set.
template <class real>
__device__ inline bits_of<real> sign_bit(real x) {
  return bits(x) & bits_of<real>(1) << (8 * sizeof(real) - 1);
}
template <class real>
__device__ inline real flip_sign(real x, bits_of<real> sign) {
  return from_bits(bits(x) ^ sign);
}

} // namespace rnn::elementary
