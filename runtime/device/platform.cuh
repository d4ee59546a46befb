// The few places where a kernel meets the machine: memory and asynchronous copies;
// math_platform.cuh has bits and instructions.
//
// Everything else in this folder is plain C++ that a host compiler takes too. There, with
// RNN_HOST_CUDA, the test library host_cuda stands in for the machine and counts what happens.
#pragma once

#include "rnn/math_platform.cuh"

namespace rnn {

using elementary::bits;      // the same bits as an unsigned integer
using elementary::fused;     // a * b + c, rounded once
using elementary::magnitude; // |x|

/// Largest finite, smallest positive number, and infinity.
template <class real>
struct limits;
template <>
struct limits<float> {
  static constexpr float largest() { return 0x1.fffffep+127f; }
  static constexpr float smallest() { return 0x1p-149f; }
  static __device__ float infinity() { return elementary::from_bits(0x7f800000u); }
};
template <>
struct limits<double> {
  static constexpr double largest() { return 0x1.fffffffffffffp+1023; }
  static constexpr double smallest() { return 0x1p-1074; }
  static __device__ double infinity() { return elementary::from_bits(0x7ff0000000000000ull); }
};

/// Global memory is read and written through these two alone, and copy_async.
template <class T>
__device__ inline T load_global(const T* from) {
#if defined(RNN_HOST_CUDA)
  return host_cuda::load(from);
#else
  return *from;
#endif
}

template <class T>
__device__ inline void store_global(T* to, T value) {
#if defined(RNN_HOST_CUDA)
  host_cuda::store(to, value);
#else
  *to = value;
#endif
}

/// The block's dynamic shared memory, aligned to 16 bytes.
__device__ inline unsigned char* dynamic_shared() {
#if defined(RNN_HOST_CUDA)
  return host_cuda::dynamic_shared();
#else
  extern __shared__ __align__(16) unsigned char rnn_dynamic_shared[];
  return rnn_dynamic_shared;
#endif
}

/// Copies 4, 8 or 16 bytes from global to shared memory behind the thread's back. The thread that
/// copied may read them after `wait`; others after a barrier too. Before sm_80: copies at once.
template <int bytes>
__device__ inline void copy_async(void* shared, const void* global) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "sizes that the machine copies");
#if defined(RNN_HOST_CUDA)
  host_cuda::copy_async(shared, global, bytes);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   static_cast<unsigned int>(__cvta_generic_to_shared(shared))),
               "l"(global), "n"(bytes)
               : "memory");
#else
  for (int i = 0; i < bytes / 4; ++i) {
    static_cast<unsigned int*>(shared)[i] = static_cast<const unsigned int*>(global)[i];
  }
#endif
}

/// Ends a group of copies of this thread.
__device__ inline void commit() {
#if defined(RNN_HOST_CUDA)
  host_cuda::commit();
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most n of this thread's groups are under way.
template <int n>
__device__ inline void wait() {
#if defined(RNN_HOST_CUDA)
  host_cuda::wait(n);
#elif __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
#endif
}

} // namespace rnn
