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

/// 1 / d correctly rounded, where d and 1 / d are normal numbers, whatever the instruction's last
/// bit is: so the bits are the same on every GPU and on the host. NaN stays; 1 / infinity is NaN.
__device__ inline float reciprocal(float d) {
  float y = rcp_approximate(d);
  return fused(y, fused(-d, y, 1.0f), y);
}
__device__ inline double reciprocal(double d) {
  double y = rcp_approximate(d), e = fused(-d, y, 1.0);
  y = fused(y, fused(e, e, e), y);
  return fused(y, fused(-d, y, 1.0), y);
}

/// n / d correctly rounded, where d, 1 / d, n / d and the remainder are normal numbers, or n = 0.
template <class real>
__device__ inline real quotient(real n, real d) {
  real y = reciprocal(d), q = n * y;
  return fused(fused(-d, q, n), y, q);
}

/// 1 / sqrt(x), for every x. f32: rounded correctly whatever the instruction's last bits are.
template <class real>
__device__ inline real reciprocal_root(real x) {
  // The instruction takes denormal numbers for 0.
  bool denormal = magnitude(x) < number<real>(0x1p-126, 0x1p-1022) && x != real(0);
  real a = denormal ? x * number<real>(0x1p24, 0x1p54) : x;
  real y = rsqrt_approximate(a);
  // y (1 + e / 2), e = 1 - a y^2 with the rounding error of a y; again, as f64's first is short.
  real refined = y;
#pragma unroll
  for (int i = 0; i < (sizeof(real) == 4 ? 1 : 3); ++i) {
    real product = a * refined, lost = fused(a, refined, -product);
    real e = fused(-lost, refined, fused(-product, refined, real(1)));
    refined = fused(refined, real(0.5) * e, refined);
  }
  refined = refined == refined ? refined : y; // 0 and infinity
  return denormal ? refined * number<real>(0x1p12, 0x1p27) : refined;
}

/// The sign bit of x alone, and x with its sign turned where that bit is set.
template <class real>
__device__ inline bits_of<real> sign_bit(real x) {
  return to_bits(x) & bits_of<real>(1) << (8 * sizeof(real) - 1);
}
template <class real>
__device__ inline real flip_sign(real x, bits_of<real> sign) {
  return from_bits(to_bits(x) ^ sign);
}

} // namespace rnn::elementary
