// CUDA's mathematical functions and intrinsics that <cmath> lacks, on the host. Functions that CUDA
// rounds correctly are rounded correctly here; the fast ones (__expf and its like) are the accurate
// functions, since no host has the special-function unit.
#pragma once

#include "language.hpp"

#include <bit>
#include <cmath>
#include <math.h>

// Bits.
constexpr int __float_as_int(float x) { return std::bit_cast<int>(x); }
constexpr unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
constexpr float __int_as_float(int x) { return std::bit_cast<float>(x); }
constexpr float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
constexpr long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
constexpr double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
constexpr int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
constexpr int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
constexpr double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}
constexpr int __popc(unsigned x) { return std::popcount(x); }
constexpr int __popcll(unsigned long long x) { return std::popcount(x); }
constexpr int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
constexpr int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
constexpr int __ffs(int x) { return x ? std::countr_zero(static_cast<unsigned>(x)) + 1 : 0; }
constexpr int __ffsll(long long x) {
  return x ? std::countr_zero(static_cast<unsigned long long>(x)) + 1 : 0;
}
constexpr unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
constexpr unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? high << shift | low >> (32 - shift) : high;
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  shift &= 31;
  return shift ? high << (32 - shift) | low >> shift : low;
}
constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 15;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7))) & 0xff;
    if (nibble & 8) { // the byte's sign, eight times
      byte = byte & 0x80 ? 0xff : 0;
    }
    out |= byte << (8 * i);
  }
  return out;
}
constexpr int __mulhi(int x, int y) {
  return static_cast<int>(static_cast<long long>(x) * y >> 32);
}
constexpr unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
constexpr unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

// Arithmetic that the compiler may not contract; the text is compiled with -ffp-contract=off.
constexpr float __fadd_rn(float x, float y) { return x + y; }
constexpr float __fsub_rn(float x, float y) { return x - y; }
constexpr float __fmul_rn(float x, float y) { return x * y; }
constexpr float __fdiv_rn(float x, float y) { return x / y; }
constexpr float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
// 64 bits of 1/sqrt hold more than twice a float's 24, so the second rounding cannot hurt.
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0L / sqrtl(x)); }
constexpr double __dadd_rn(double x, double y) { return x + y; }
constexpr double __dsub_rn(double x, double y) { return x - y; }
constexpr double __dmul_rn(double x, double y) { return x * y; }
constexpr double __ddiv_rn(double x, double y) { return x / y; }
constexpr double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return std::sqrt(x); }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; } // NaN gives 0

// What CUDA has beside C's mathematics.
inline float rsqrtf(float x) { return __frsqrt_rn(x); }
inline double rsqrt(double x) { return static_cast<double>(1.0L / sqrtl(x)); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / std::cbrt(x); }
inline float normcdff(float x) { return 0.5f * std::erfc(x * -0.70710678118654752f); }

// The special-function unit's.
inline float __expf(float x) { return std::exp(x); }
inline float __exp10f(float x) { return static_cast<float>(std::pow(10.0, x)); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __log10f(float x) { return std::log10(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float __sinf(float x) { return std::sin(x); }
inline float __cosf(float x) { return std::cos(x); }
inline float __tanf(float x) { return std::tan(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}

// Conversions. Out of range they saturate and NaN is 0, as CUDA's do.
namespace host_cuda::detail {
template <class Integer, class Real>
Integer saturate(Real whole) {
  constexpr auto low = std::numeric_limits<Integer>::min();
  constexpr auto high = std::numeric_limits<Integer>::max();
  if (!(whole == whole)) {
    return 0;
  }
  if (whole <= static_cast<Real>(low)) {
    return low;
  }
  return whole >= static_cast<Real>(high) ? high : static_cast<Integer>(whole);
}
} // namespace host_cuda::detail
inline int __float2int_rn(float x) { return host_cuda::detail::saturate<int>(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return host_cuda::detail::saturate<int>(std::trunc(x)); }
inline int __float2int_rd(float x) { return host_cuda::detail::saturate<int>(std::floor(x)); }
inline int __float2int_ru(float x) { return host_cuda::detail::saturate<int>(std::ceil(x)); }
inline unsigned __float2uint_rn(float x) {
  return host_cuda::detail::saturate<unsigned>(std::nearbyint(x));
}
inline unsigned __float2uint_rz(float x) {
  return host_cuda::detail::saturate<unsigned>(std::trunc(x));
}
inline int __double2int_rn(double x) { return host_cuda::detail::saturate<int>(std::nearbyint(x)); }
inline int __double2int_rz(double x) { return host_cuda::detail::saturate<int>(std::trunc(x)); }
inline long long __double2ll_rn(double x) {
  return host_cuda::detail::saturate<long long>(std::nearbyint(x));
}
inline long long __double2ll_rz(double x) {
  return host_cuda::detail::saturate<long long>(std::trunc(x));
}
inline long long __float2ll_rn(float x) {
  return host_cuda::detail::saturate<long long>(std::nearbyint(x));
}
constexpr float __int2float_rn(int x) { return static_cast<float>(x); }
constexpr float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
constexpr float __ll2float_rn(long long x) { return static_cast<float>(x); }
constexpr double __int2double_rn(int x) { return x; }
constexpr double __ll2double_rn(long long x) { return static_cast<double>(x); }
constexpr float __double2float_rn(double x) { return static_cast<float>(x); }

// min and max, which are global in CUDA; those of floats are fmin and fmax.
constexpr int min(int x, int y) { return y < x ? y : x; }
constexpr int max(int x, int y) { return x < y ? y : x; }
constexpr unsigned min(unsigned x, unsigned y) { return y < x ? y : x; }
constexpr unsigned max(unsigned x, unsigned y) { return x < y ? y : x; }
constexpr long min(long x, long y) { return y < x ? y : x; }
constexpr long max(long x, long y) { return x < y ? y : x; }
constexpr unsigned long min(unsigned long x, unsigned long y) { return y < x ? y : x; }
constexpr unsigned long max(unsigned long x, unsigned long y) { return x < y ? y : x; }
constexpr long long min(long long x, long long y) { return y < x ? y : x; }
constexpr long long max(long long x, long long y) { return x < y ? y : x; }
constexpr unsigned long long min(unsigned long long x, unsigned long long y) {
  return y < x ? y : x;
}
constexpr unsigned long long max(unsigned long long x, unsigned long long y) {
  return x < y ? y : x;
}
inline float min(float x, float y) { return std::fmin(x, y); }
inline float max(float x, float y) { return std::fmax(x, y); }
inline double min(double x, double y) { return std::fmin(x, y); }
inline double max(double x, double y) { return std::fmax(x, y); }
