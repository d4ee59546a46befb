// Where the elementary functions meet the machine: fused operations, bits, approximate
// instructions.
//
// On the host (RNN_HOST_CUDA) the approximate instructions are the exact values, rounded. A test
// may define RNN_HOST_APPROXIMATION(value, bound) to get any other value within `bound` of it,
// relatively.
#pragma once

#if defined(RNN_HOST_CUDA) && !defined(RNN_HOST_APPROXIMATION)
#define RNN_HOST_APPROXIMATION(value, bound) (value)
#endif

namespace rnn::elementary {

/// Parts of a number's representation. Enumerators: a static member would be a variable in the PTX.
template <class real>
struct format;
template <>
struct format<float> {
  using bits = unsigned int;
  enum { mantissa = 23, bias = 127 };
};
template <>
struct format<double> {
  using bits = unsigned long long;
  enum { mantissa = 52, bias = 1023 };
};
template <class real>
using bits_of = typename format<real>::bits;

#if defined(RNN_HOST_CUDA)

__device__ inline unsigned int bits(float x) { return __builtin_bit_cast(unsigned int, x); }
__device__ inline unsigned long long bits(double x) {
  return __builtin_bit_cast(unsigned long long, x);
}
__device__ inline float from_bits(unsigned int b) { return __builtin_bit_cast(float, b); }
__device__ inline double from_bits(unsigned long long b) { return __builtin_bit_cast(double, b); }

__device__ inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
__device__ inline float root(float x) { return __builtin_sqrtf(x); }
__device__ inline double root(double x) { return __builtin_sqrt(x); }
__device__ inline float magnitude(float x) { return __builtin_fabsf(x); }
__device__ inline double magnitude(double x) { return __builtin_fabs(x); }
__device__ inline float whole(float x) { return __builtin_floorf(x); }
__device__ inline double whole(double x) { return __builtin_floor(x); }
__device__ inline float with_sign(float x, float sign) { return __builtin_copysignf(x, sign); }
__device__ inline double with_sign(double x, double sign) { return __builtin_copysign(x, sign); }

/// The larger or the smaller of x and a number; a NaN x stays.
template <class real>
__device__ inline real at_least(real x, real bound) {
  return x < bound ? bound : x;
}
template <class real>
__device__ inline real at_most(real x, real bound) {
  return x > bound ? bound : x;
}

/// One in the last place of a float, relatively.
inline double ulp_of(double x) {
  return 0x1p-23 * from_bits(bits(magnitude(x)) & 0x7ff0000000000000ull) / magnitude(x);
}

/// What the instructions with .ftz do to denormal numbers.
__device__ inline float flushed(float x) {
  return magnitude(x) < 0x1p-126f ? with_sign(0.0f, x) : x;
}

#else

__device__ inline unsigned int bits(float x) {
  return static_cast<unsigned int>(__float_as_int(x));
}
__device__ inline unsigned long long bits(double x) {
  return static_cast<unsigned long long>(__double_as_longlong(x));
}
__device__ inline float from_bits(unsigned int b) { return __int_as_float(static_cast<int>(b)); }
__device__ inline double from_bits(unsigned long long b) {
  return __longlong_as_double(static_cast<long long>(b));
}

__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
__device__ inline float root(float x) { return __fsqrt_rn(x); }
__device__ inline double root(double x) { return __dsqrt_rn(x); }
__device__ inline float magnitude(float x) { return fabsf(x); }
__device__ inline double magnitude(double x) { return fabs(x); }
__device__ inline float whole(float x) { return floorf(x); }
__device__ inline double whole(double x) { return floor(x); }
__device__ inline float with_sign(float x, float sign) { return copysignf(x, sign); }
__device__ inline double with_sign(double x, double sign) { return copysign(x, sign); }

__device__ inline double at_least(double x, double bound) { return x < bound ? bound : x; }
__device__ inline double at_most(double x, double bound) { return x > bound ? bound : x; }
#if __CUDA_ARCH__ >= 800
__device__ inline float at_least(float x, float bound) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(bound));
  return y;
}
__device__ inline float at_most(float x, float bound) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(bound));
  return y;
}
#else
__device__ inline float at_least(float x, float bound) { return x < bound ? bound : x; }
__device__ inline float at_most(float x, float bound) { return x > bound ? bound : x; }
#endif

#endif

#if defined(RNN_HOST_CUDA)
#define RNN_APPROXIMATE(name, instruction, bound, value)                                           \
  __device__ inline float name(float x) {                                                          \
    x = flushed(x);                                                                                \
    return flushed(static_cast<float>(RNN_HOST_APPROXIMATION(value, bound)));                      \
  }
#else
#define RNN_APPROXIMATE(name, instruction, bound, value)                                           \
  __device__ inline float name(float x) {                                                          \
    float y;                                                                                       \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x));                                                \
    return y;                                                                                      \
  }
#endif

// One issue slot each, on the special-function unit; sqrt two. Denormal arguments and results count
// as 0. The bounds are of the relative error, as NVIDIA states them or wider.
RNN_APPROXIMATE(rcp_approximate, "rcp.approx.ftz.f32", ulp_of(1.0 / x), 1.0 / x)
RNN_APPROXIMATE(ex2_approximate, "ex2.approx.ftz.f32", 0x1p-22, __builtin_exp2(double(x)))

RNN_APPROXIMATE(rsqrt_approximate, "rsqrt.approx.ftz.f32", 0x1p-22, 1.0 / __builtin_sqrt(double(x)))
RNN_APPROXIMATE(sqrt_approximate, "sqrt.approx.ftz.f32", 0x1p-22, __builtin_sqrt(double(x)))

/// The same for log2; between 1/2 and 2 the bound, 2^-22, is of the absolute error.
RNN_APPROXIMATE(lg2_approximate, "lg2.approx.ftz.f32",
                (x > 0.5f && x < 2.0f ? 0x1p-22 / __builtin_fabs(__builtin_log2(double(x)))
                                      : 0x1p-22),
                __builtin_log2(double(x)))

#undef RNN_APPROXIMATE

/// 1 / x and 1 / sqrt(x) for normal numbers, relatively to 2^-19 or better.
__device__ inline double rcp_approximate(double x) {
#if defined(RNN_HOST_CUDA)
  return RNN_HOST_APPROXIMATION(1.0 / x, 0x1p-19);
#else
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#endif
}
__device__ inline double rsqrt_approximate(double x) {
#if defined(RNN_HOST_CUDA)
  return RNN_HOST_APPROXIMATION(1.0 / __builtin_sqrt(x), 0x1p-19);
#else
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  return y;
#endif
}

} // namespace rnn::elementary
