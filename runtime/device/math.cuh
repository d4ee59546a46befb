// The elementary functions of a step on the GPU: rnn::polynomial<real> and rnn::special<real>.
//
// polynomial: plain arithmetic, a few ulp at most over the whole range, the same bits on every GPU
// and in host execution. special: f32 with the special-function unit, fewer instructions, its own
// bounds; f64 is polynomial. docs/math.md has bounds, costs and methods.
#pragma once

#include "rnn/math_exp.cuh"
#include "rnn/math_log.cuh"

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
};

template <class real>
struct special : polynomial<real> {};

} // namespace rnn
