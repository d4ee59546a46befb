// Powers: the CPU's operations, so its bits but for those of exp. f32 works in double precision.
#pragma once

#include "rnn/math_log.cuh"

namespace rnn::elementary {

/// The unevaluated sum of two doubles, the second at most half an ulp of the first.
struct twice {
  double high, low;
};

/// a + b exactly, for |a| >= |b| or a = 0.
__device__ inline twice sum_of(double a, double b) {
  double sum = a + b;
  return {sum, (a - sum) + b};
}

__device__ inline twice product_of(double a, double b) {
  double product = a * b;
  return {product, fused(a, b, -product)};
}
__device__ inline twice product_of(twice a, twice b) {
  twice product = product_of(a.high, b.high);
  return {product.high, product.low + (a.high * b.low + a.low * b.high)};
}

/// log(a), a >= 0, to about 2^-64 of it: k ln 2 + 2 atanh(s), a = 2^k m, s = (m - 1) / (m + 1).
__device__ inline twice log_twice(double a) {
  constexpr auto one_third = third();
  constexpr auto ln2 = ln2_short_f64();
  bool denormal = a < 0x1p-1022;
  mantissa_split<double> split = split_mantissa(denormal ? a * 0x1p64 : a);
  double k = exponent_of(split.biased, denormal ? 64.0 : 0.0);
  double f = split.m - 1.0, sum = split.m + 1.0, sum_low = split.m - (sum - 1.0);
  double inverse = reciprocal(sum), q = f * inverse;
  twice back = product_of(q, sum);
  twice s = {q, (((f - back.high) - back.low) - q * sum_low) * inverse};
  twice square = product_of(s, s);
  // atanh(s) = s + s w (1/3 + w R(w)), w = s^2.
  double tail = estrin(square.high, terms<double>(atanh_tail(), atanh_tail()));
  twice factor = sum_of(one_third.at[0], square.high * tail);
  factor.low = factor.low + fused(square.low, tail, one_third.at[1]);
  twice rest = product_of(s, product_of(square, factor));
  twice arc = sum_of(s.high, rest.high);
  double low = (arc.low + (rest.low + s.low)) * 2.0;
  twice whole = sum_of(k * ln2.at[0], arc.high * 2.0);
  return sum_of(whole.high, whole.low + fused(k, ln2.at[1], low));
}

/// a^y for a >= 0; the values at 0, infinity and NaN are right but for 1^y and y^0.
__device__ inline double power_of(double a, double y) {
  twice log = log_twice(a);
  double high = a == 0.0 ? -infinity<double>() : a < infinity<double>() ? log.high : a;
  twice product = product_of(y, high);
  double more = fused(y, log.low, product.low); // NaN where the product is infinite
  wide_parts<double> parts = split_wide(within_exp(product.high));
  parts.r += magnitude(more) < 1.0 ? more : 0.0;
  return exp_of(parts);
}

/// The same for single precision, whose logarithm fits into one double.
__device__ inline float power_of(float a, float y) {
  double base = a;
  mantissa_split<double> split = split_mantissa(base);
  double log = log_of(exponent_of(split.biased, 0.0), split.m - 1.0);
  log = base == 0.0 ? -infinity<double>() : base < infinity<double>() ? log : base;
  return static_cast<float>(exp(double(y) * log));
}

template <class real>
__device__ inline real pow(real x, real y) {
  real half = y * real(0.5), result = power_of(magnitude(x), y);
  bool is_whole = whole(y) == y, is_odd = is_whole && whole(half) != half;
  // A negative base: the sign of an odd power, and no real power but whole ones.
  result = flip_sign(result, is_odd ? sign_bit(x) : bits_of<real>(0));
  bool undefined = x < real(0) && x > -infinity<real>() && !is_whole;
  result = undefined ? not_a_number<real>() : result;
  bool is_one = y == real(0) || x == real(1) || (x == real(-1) && magnitude(y) == infinity<real>());
  return is_one ? real(1) : result;
}

} // namespace rnn::elementary
