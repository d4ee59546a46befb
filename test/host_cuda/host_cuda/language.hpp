// CUDA's keywords, vector types and built-in variables. Inside namespaces only what CUDA has there.
#pragma once

#include <cstddef>
#include <cstdint>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block runs at a time, so one copy of a variable is the block's. The section lets a launch
// poison all of them before each block.
#define __shared__ static __attribute__((section("rnn_shared"), used))

inline constexpr int warpSize = 32;

// TYPE1 to TYPE4 with CUDA's alignment, and make_TYPEn.
#define HOST_CUDA_VECTORS(type, name, align2, align4)                                              \
  struct name##1 { type x; };                                                                      \
  struct __align__(align2) name##2 { type x, y; };                                                 \
  struct name##3 { type x, y, z; };                                                                \
  struct __align__(align4) name##4 { type x, y, z, w; };                                           \
  constexpr name##1 make_##name##1(type x) { return {x}; }                                         \
  constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }                              \
  constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                   \
  constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
HOST_CUDA_VECTORS(signed char, char, 2, 4)
HOST_CUDA_VECTORS(unsigned char, uchar, 2, 4)
HOST_CUDA_VECTORS(short, short, 4, 8)
HOST_CUDA_VECTORS(unsigned short, ushort, 4, 8)
HOST_CUDA_VECTORS(int, int, 8, 16)
HOST_CUDA_VECTORS(unsigned, uint, 8, 16)
HOST_CUDA_VECTORS(long, long, 16, 16)
HOST_CUDA_VECTORS(unsigned long, ulong, 16, 16)
HOST_CUDA_VECTORS(long long, longlong, 16, 16)
HOST_CUDA_VECTORS(unsigned long long, ulonglong, 16, 16)
HOST_CUDA_VECTORS(float, float, 8, 16)
HOST_CUDA_VECTORS(double, double, 16, 16)
#undef HOST_CUDA_VECTORS

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

// Set by the launch before it goes on with a thread.
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
