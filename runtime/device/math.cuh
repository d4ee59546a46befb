// The elementary functions of a step on the GPU: rnn::polynomial<real> and rnn::special<real>.
//
// polynomial: plain arithmetic, a few ulp at most over the whole range, the same bits on every GPU
// and in host execution. special: f32 with the special-function unit, fewer instructions, its own
// bounds; f64 is polynomial. docs/math.md has bounds, costs and methods.
#pragma once

#include "rnn/math_exp.cuh"
#include "rnn/math_inverse.cuh"
#include "rnn/math_pow.cuh"
#include "rnn/math_special.cuh"
#include "rnn/math_trig.cuh"

namespace rnn {

template <class real>
struct polynomial {
  static __device__ real infinity() { return elementary::infinity<real>(); }
  static __device__ real nan() { return elementary::not_a_number<real>(); }

  static __device__ real fma(real a, real b, real c) { return elementary::fused(a, b, c); }
  static __device__ real abs(real x) { return elementary::magnitude(x); }
  static __device__ real floor(real x) { return elementary::whole(x); }
  static __device__ real sqrt(real x) { return elementary::root(x); }
  static __device__ real copysign(real x, real sign) { return elementary::with_sign(x, sign); }
  static __device__ real exp(real x) { return elementary::exp(x); }
  static __device__ real expm1(real x) { return elementary::expm1(x); }
  static __device__ real log(real x) { return elementary::log(x); }
  static __device__ real log1p(real x) { return elementary::log1p(x); }
  static __device__ real tanh(real x) { return elementary::tanh(x); }
  static __device__ real sigmoid(real x) { return elementary::sigmoid(x); }
  static __device__ real softplus(real x) { return elementary::softplus(x); }
  static __device__ real sinh(real x) { return elementary::sinh(x); }
  static __device__ real cosh(real x) { return elementary::cosh(x); }
  static __device__ real sin(real x) { return elementary::sin(x); }
  static __device__ real cos(real x) { return elementary::cos(x); }
  static __device__ real tan(real x) { return elementary::tan(x); }
  static __device__ real asin(real x) { return elementary::asin(x); }
  static __device__ real acos(real x) { return elementary::acos(x); }
  static __device__ real atan(real x) { return elementary::atan(x); }
  static __device__ real erf(real x) { return elementary::erf(x); }
  static __device__ real atan2(real y, real x) { return elementary::atan2(y, x); }
  static __device__ real pow(real x, real y) { return elementary::pow(x, y); }
  static __device__ real rsqrt(real x) { return elementary::reciprocal_root(x); }
  /// -1, 0 or 1; keeps zeros and NaN.
  static __device__ real sign(real x) { return x > real(0) ? real(1) : x < real(0) ? real(-1) : x; }
};

template <class real>
struct special : polynomial<real> {};

template <>
struct special<float> : polynomial<float> {
  static __device__ float sqrt(float x) { return elementary::sqrt_approximate(x); }
  static __device__ float rsqrt(float x) { return elementary::rsqrt_approximate(x); }
  static __device__ float exp(float x) { return elementary::special_exp(x); }
  static __device__ float log(float x) { return elementary::special_log(x); }
  static __device__ float tanh(float x) { return elementary::special_tanh(x); }
  static __device__ float sigmoid(float x) { return elementary::special_sigmoid(x); }
  static __device__ float softplus(float x) { return elementary::special_softplus(x); }
};

} // namespace rnn
