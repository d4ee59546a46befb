// f32 by the special-function unit: few instructions, bounds of their own.
//
// Results below 2^-126 are 0, and so are denormal arguments of log and rsqrt. NaN, infinities and
// zeros are as they should be.
#pragma once

#include "rnn/math_formula.cuh"

namespace rnn::elementary {

/// The exponent rounds once: off by |x| 2^-24, relatively, and a little more.
__device__ inline float special_exp(float x) { return ex2_approximate(x * float(log2_e())); }

__device__ inline float special_log(float x) { return lg2_approximate(x) * float(ln_2()); }

__device__ inline float special_sigmoid(float x) {
  return rcp_approximate(1.0f + ex2_approximate(x * -float(log2_e())));
}

/// 1 - 2 / (1 + exp(2x)), and near 0, where that cancels, a polynomial.
__device__ inline float special_tanh(float x) {
  constexpr auto c = terms<float>(tanh_near_f32(), tanh_near_f32());
  float far = fused(rcp_approximate(1.0f + ex2_approximate(x * float(2 * log2_e()))), -2.0f, 1.0f);
  float square = x * x, near = x * fused(square, fused(square, c.at[1], c.at[0]), 1.0f);
  return magnitude(x) < 0.28f ? near : far;
}

/// max(x, 0) + log(1 + e), e = exp(-|x|), and where e is small the series.
__device__ inline float special_softplus(float x) {
  float e = ex2_approximate(magnitude(x) * -float(log2_e()));
  float far = lg2_approximate(1.0f + e) * float(ln_2());
  float near = fused(e * e, fused(e, 0x1.555556p-2f, -0.5f), e);
  return at_least(x, 0.0f) + (e < 0x1p-5f ? near : far);
}

} // namespace rnn::elementary
