// asin, acos, atan, atan2 and erf: the CPU's operations, so its bits.
#pragma once

#include "rnn/math_exp.cuh"

namespace rnn::elementary {

/// asin(|x|) is taken as it is up to 1/2, and from there on by half the complement's angle:
/// acos(a) = 2 asin(sqrt((1 - a) / 2)).
template <class real>
struct half_arc {
  bool big;   // |x| > 1/2
  real angle; // asin|x|, or acos|x| / 2 where big; NaN for |x| > 1
};
template <class real>
__device__ inline half_arc<real> half_arc_of(real x) {
  real size = magnitude(x);
  bool big = size > real(0.5);
  real square = big ? fused(size, real(-0.5), real(0.5)) : size * size; // exact where big
  real base = big ? root(square) : size;
  real p = estrin(square, terms<real>(asin_tail_f32(), asin_tail_f64()));
  return {big, fused(base * square, p, base)};
}

template <class real>
__device__ inline real asin(real x) {
  constexpr auto quarter = terms<real>(quarter_pi_f32(), quarter_pi_f64());
  half_arc<real> arc = half_arc_of(x);
  real big = fused(arc.angle, real(-2), 2 * quarter.at[1]) + 2 * quarter.at[0];
  return with_sign(arc.big ? big : arc.angle, x);
}

template <class real>
__device__ inline real acos(real x) {
  constexpr auto quarter = terms<real>(quarter_pi_f32(), quarter_pi_f64());
  half_arc<real> arc = half_arc_of(x);
  real high = 2 * quarter.at[0], low = 2 * quarter.at[1];
  // The other side of a right angle, or of two.
  real twice = arc.angle + arc.angle;
  real big = x < real(0) ? (low * 2 - twice) + high * 2 : twice;
  return arc.big ? big : (low - with_sign(arc.angle, x)) + high;
}

/// The angle whose tangent is y / x, for y >= 0 and x of either sign, 0 <= angle <= pi: from an
/// eighth of a turn, with one division, whose result is at most tan(pi / 8) in size.
template <class real, class division>
__device__ inline real angle_of(real y, real x, division divide) {
  constexpr auto quarter = terms<real>(quarter_pi_f32(), quarter_pi_f64());
  constexpr real tan_eighth = real(0x1.a82798p-2), tan_rest = real(0x1.3504f4p+1); // or near
  real size = magnitude(x);
  bool low = y <= size * tan_eighth, high = y > size * tan_rest;
  real numerator = low ? y : high ? -size : y - size;
  real denominator = low ? size : high ? y : y + size;
  real t = divide(numerator, denominator);
  real square = t * t;
  real p = estrin(square, terms<real>(atan_tail_f32(), atan_tail_f64()));
  // In quarters of pi: 0, 1 or 2, or what is left of 4.
  real quarters = low ? real(0) : high ? real(2) : real(1);
  quarters = sign_bit(x) != 0 ? real(4) - quarters : quarters;
  t = flip_sign(t, sign_bit(x));
  real rest = fused(square * t, p, quarters * quarter.at[1]);
  return fused(quarters, quarter.at[0], t + rest);
}

template <class real>
__device__ inline real atan(real x) {
  // A quarter turn to the last bit from there on; quotients are normal numbers, or the divisor
  // is 1.
  real size = at_most(magnitude(x), real(0x1p90));
  auto divide = [](real n, real d) { return quotient(n, d); };
  return with_sign(angle_of(size, real(1), divide), x);
}

template <class real>
__device__ inline real atan2(real y, real x) {
  real a = magnitude(y), b = magnitude(x);
  // Neither may the sum overflow nor the comparisons with a multiple suffer from denormals.
  real much = number<real>(0x1p100, 0x1p1000), little = number<real>(0x1p-90, 0x1p-900);
  bool large = a > much || b > much, tiny = a < little && b < little;
  real scale = large  ? number<real>(0x1p-30, 0x1p-60)
               : tiny ? number<real>(0x1p60, 0x1p200)
                      : real(1);
  // Two zeros or two infinities count as they do in C: 0 / 1 and 1 / 1.
  bool infinite = a == infinity<real>() && b == infinity<real>();
  a = infinite ? real(1) : a * scale;
  b = infinite || (a == real(0) && b == real(0)) ? real(1) : b * scale;
  auto divide = [](real n, real d) { return n / d; };
  return with_sign(angle_of(a, with_sign(b, x), divide), y);
}

/// x + x p(x^2) up to 1 (f32) or 1.5 (f64), 1 - exp(-x^2 + g(x)) from there on.
template <class real>
__device__ inline real erf(real x) {
  constexpr auto centre = terms<real>(erf_centre_f32(), erf_centre_f64());
  real size = magnitude(x), square = x * x;
  real p = estrin(square, terms<real>(erf_near_f32(), erf_near_f64()));
  real near = fused(x, p, x);

  real from = size - centre.at[0];
  real g = estrin(from, terms<real>(erf_far_f32(), erf_far_f64()));
  exp_parts<real> parts = split_exp(fused(-size, size, g), format<real>::bias);
  real s = normal_scale(parts.shifted);
  real far = fused(-s, expm1_reduced(parts.r, parts.r), real(1) - s); // 1 - 2^n exp(r)
  far = size > number<real>(4, 6) ? real(1) : far;                    // to the last bit
  return size < number<real>(1, 1.5) ? near : with_sign(far, x);
}

} // namespace rnn::elementary
