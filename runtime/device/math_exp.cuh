// exp, expm1, tanh, sigmoid, sinh, cosh.
#pragma once

#include "rnn/math_formula.cuh"

namespace rnn::elementary {

/// x = n ln 2 + r. `shifted` is n plus a large number and `bias`: its lowest bits are n + bias.
template <class real>
struct exp_parts {
  real shifted, n, r;
};

template <class real>
__device__ inline exp_parts<real> split_exp(real x, int bias) {
  constexpr auto ln2 = terms<real>(ln2_f32(), ln2_f64());
  real shift = number<real>(0x1.8p23, 0x1.8p52) + real(bias);
  real shifted = fused(x, real(log2_e()), shift);
  real n = shifted - shift;
  return {shifted, n, fused(n, -ln2[0], x)};
}

/// 2^(n + bias - the format's bias), for normal results.
template <class real>
__device__ inline real normal_scale(real shifted) {
  return from_bits(bits(shifted) << format<real>::mantissa);
}

/// 2^n = first * second, both normal, where the bias is twice the format's.
template <class real>
struct halves {
  real first, second;
};
template <class real>
__device__ inline halves<real> half_scales(real shifted) {
  constexpr int place = format<real>::mantissa;
  bits_of<real> n = bits(shifted), half = n >> 1;
  return {from_bits(half << place), from_bits((n - half) << place)};
}

/// exp(r) - 1 for |r| <= ln(2) / 2; `low` is r, or r less something that counts in the first order
/// only.
template <class real>
__device__ inline real expm1_reduced(real r, real low) {
  constexpr auto c = terms<real>(expm1_tail_f32(), expm1_tail_f64());
  return fused(r * r, estrin(r, c), low);
}

/// exp(x) = s exp(r) s, |r| <= ln 2, where x is at most a little beyond the range of the
/// exponential: one scale, used twice, reaches denormal and near-infinite results.
template <class real>
struct wide_parts {
  real s, r;
};
template <class real>
__device__ inline wide_parts<real> split_wide(real x) {
  constexpr auto ln2 = terms<real>(ln2_f32(), ln2_f64());
  real shift = number<real>(0x1.8p23, 0x1.8p52) + real(format<real>::bias);
  real shifted = fused(x, real(0.5 * log2_e()), shift);
  real n = shifted - shift;
  return {normal_scale(shifted), fused(n, -2 * ln2[1], fused(n, -2 * ln2[0], x))};
}
template <class real>
__device__ inline real exp_of(wide_parts<real> x) {
  constexpr auto c = terms<real>(exp_wide_tail_f32(), exp_wide_tail_f64());
  real y = fused(x.r, fused(x.r, horner(x.r, c), real(1)), real(1));
  return (x.s * y) * x.s;
}

/// x, or where the exponential has become 0 or infinite for good.
template <class real>
__device__ inline real within_exp(real x) {
  return at_most(at_least(x, number<real>(-105, -750)), number<real>(90, 711));
}

template <class real>
__device__ inline real exp(real x) {
  return exp_of(split_wide(within_exp(x)));
}

/// 2^n (1 + q) - 1 = ((a - 1/b) + a q) b with 2^n = a b, which overflows only where the result
/// does.
template <class real>
__device__ inline real expm1(real x) {
  constexpr auto ln2 = terms<real>(ln2_f32(), ln2_f64());
  real bounded = at_least(x, number<real>(-30, -60)); // -1 to the last bit
  exp_parts<real> parts = split_exp(bounded, 2 * format<real>::bias);
  halves<real> scale = half_scales(parts.shifted);
  real inverse = from_bits((bits_of<real>(2 * format<real>::bias) << format<real>::mantissa) -
                           bits(scale.second));
  real y = scale.first - inverse;
  real q = expm1_reduced(parts.r, fused(parts.n, -ln2[1], parts.r));
  y = fused(scale.first * fused(parts.n, -ln2[1], real(1)), q, y);
  y = x > number<real>(100, 720) ? infinity<real>() : y * scale.second;
  return magnitude(x) < number<real>(0x1p-30, 0x1p-60) ? x : y; // the sums lose a zero's sign
}

/// With m = round(2|x| / ln 2), S = 2^(m-1) and q = (1 - exp(m ln 2 - 2|x|)) / 2:
///     tanh|x| = (1 - exp(-2|x|)) / (1 + exp(-2|x|)) = (S - 1/2 + q) / (S + 1/2 - q),
/// accurate down to x = 0, where S - 1/2 is 0 and q is |x| to the last bit. Half of the CPU's
/// formula, so the same bits.
template <class real>
__device__ inline real tanh(real x) {
  constexpr auto c = terms<real>(expm1_tail_f32(), expm1_tail_f64());
  constexpr int n = decltype(c)::size;
  real size = at_most(magnitude(x), number<real>(10, 20)); // 1 to the last bit
  real shift = number<real>(0x1.8p23, 0x1.8p52) + real(format<real>::bias - 1);
  real shifted = fused(size, real(2 * log2_e()), shift);
  real m = shifted - shift, s = normal_scale(shifted);
  // The low part of ln 2 is left out: m counts only where the result is next to 1.
  real r = fused(m, real(-0.5 * ln_2()), size);
  // exp(-2r) - 1 = -2 q, so the coefficients are the tail's, times powers of -2.
  list<real, n> d = {};
  real power = -2;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    d.at[i] = c.at[i] * power;
    power *= -2;
  }
  real q = fused(r * r, estrin(r, d), r);
  return with_sign(quotient((s - real(0.5)) + q, (s + real(0.5)) - q), x);
}

/// x = m ln 2 + r, s = 2^m unit, |r| <= ln(2) / 2: s is a normal number also where 2^m is denormal.
template <class real>
struct one_sided_parts {
  real s, r;
};
template <class real>
constexpr real one_sided_unit() {
  return number<real>(0x1p64, 0x1p100);
}
template <class real>
__device__ inline one_sided_parts<real> split_one_sided(real x) {
  constexpr int place = sizeof(real) == 4 ? 64 : 100;
  constexpr auto ln2 = terms<real>(ln2_f32(), ln2_f64());
  real shift = number<real>(0x1.8p23, 0x1.8p52) + real(format<real>::bias + place);
  real shifted = fused(x, real(log2_e()), shift);
  real m = shifted - shift;
  return {normal_scale(shifted), fused(m, -ln2[1], fused(m, -ln2[0], x))};
}

/// exp(x) for x <= 0, not below within_exp's.
template <class real>
__device__ inline real exp_of_negative(real x) {
  constexpr auto c = terms<real>(exp_tail_f32(), exp_tail_f64());
  auto [s, r] = split_one_sided(x);
  real y = fused(r, fused(r, horner(r, c), real(1)), real(1));
  return (s * y) * (real(1) / one_sided_unit<real>());
}

/// With m = round(x / ln 2), S = 2^m and r = x - m ln 2: 1 / (1 + exp(-x)) = S / (S + exp(-r));
/// both sides of the fraction times the unit above.
template <class real>
__device__ inline real sigmoid(real x) {
  constexpr real unit = one_sided_unit<real>();
  constexpr auto c = terms<real>(exp_tail_f32(), exp_tail_f64());
  constexpr int n = decltype(c)::size;
  // Beyond these the result is 0 or 1 to the last bit.
  auto [s, r] =
      split_one_sided(at_most(at_least(x, number<real>(-105, -750)), number<real>(40, 80)));
  // exp(-r) = 1 - r u.
  list<real, n> scaled = {};
#pragma unroll
  for (int i = 0; i < n; ++i)
    scaled.at[i] = (i % 2 ? -unit : unit) * c.at[i];
  real u = fused(-r, horner(r, scaled), unit);
  return s * reciprocal(fused(-r, u, s) + unit);
}

/// With n = round(|x| / ln 2), r = |x| - n ln 2, A = 2^(n-2) and B = 2^(-n-2):
///     sinh|x| / 2 = (A - B) cosh r + (A + B) sinh r,
///     cosh x / 2 = (A + B) cosh r + (A - B) sinh r.
template <class real>
struct hyperbolic_parts {
  real difference, sum;   // A - B, A + B
  real sine, cosine_rest; // sinh r, cosh r - 1
};

template <class real>
__device__ inline hyperbolic_parts<real> split_hyperbolic(real size) {
  constexpr auto ln2 = terms<real>(ln2_f32(), ln2_f64());
  constexpr int bias = format<real>::bias;
  exp_parts<real> parts = split_exp(size, bias - 2);
  real a = normal_scale(parts.shifted);
  // B's exponent is -4 less A's. It no longer counts where that would not be a normal number.
  real b = from_bits((bits_of<real>(2 * bias - 4) << format<real>::mantissa) - bits(a));
  b = size > number<real>(40, 80) ? real(0) : b;
  real r = fused(parts.n, -ln2.at[1], parts.r), square = r * r;
  real sine = estrin(square, terms<real>(sinh_tail_f32(), sinh_tail_f64()));
  real cosine = estrin(square, terms<real>(cosh_tail_f32(), cosh_tail_f64()));
  return {a - b, a + b, fused(square * r, sine, r), square * cosine};
}

/// The CPU's operations, as in cosh: the same bits.
template <class real>
__device__ inline real sinh(real x) {
  real size = magnitude(x);
  hyperbolic_parts<real> of = split_hyperbolic(size);
  real half = of.difference + fused(of.difference, of.cosine_rest, of.sum * of.sine);
  real y = size > number<real>(89.5, 710.6) ? infinity<real>() : half + half;
  // Halves of the smallest numbers would be rounded.
  return with_sign(size < number<real>(0x1p-20, 0x1p-40) ? size : y, x);
}

template <class real>
__device__ inline real cosh(real x) {
  real size = magnitude(x);
  hyperbolic_parts<real> of = split_hyperbolic(size);
  real half = of.sum + fused(of.sum, of.cosine_rest, of.difference * of.sine);
  return size > number<real>(89.5, 710.6) ? infinity<real>() : half + half;
}

} // namespace rnn::elementary
