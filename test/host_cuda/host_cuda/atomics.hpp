// CUDA's atomic functions on 32- and 64-bit numbers, relaxed as CUDA's are. On global memory they
// are counted.
#pragma once

#include "memory.hpp"

#include <bit>
#include <concepts>

namespace host_cuda::detail {

bool is_shared(const void* address);

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;

// Replaces *address by change(*address) and returns what was there.
template <class T, class Change>
__attribute__((no_sanitize("address"), noinline)) T atomic_change(T* address, Change change) {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  if (!is_shared(address)) {
    count_atomic(address, sizeof(T));
  }
  auto* cell = reinterpret_cast<bits_of<T>*>(address);
  auto old = __atomic_load_n(cell, __ATOMIC_RELAXED);
  for (;;) {
    const auto next = std::bit_cast<bits_of<T>>(static_cast<T>(change(std::bit_cast<T>(old))));
    if (__atomic_compare_exchange_n(cell, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      return std::bit_cast<T>(old);
    }
  }
}

template <class T>
using same = std::type_identity_t<T>;

} // namespace host_cuda::detail

template <class T>
T atomicAdd(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address, [=](T old) { return old + value; });
}
template <std::integral T>
T atomicSub(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address, [=](T old) { return old - value; });
}
template <class T>
T atomicExch(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address, [=](T) { return value; });
}
template <std::integral T>
T atomicMin(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address,
                                          [=](T old) { return value < old ? value : old; });
}
template <std::integral T>
T atomicMax(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address,
                                          [=](T old) { return old < value ? value : old; });
}
template <std::integral T>
T atomicAnd(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address, [=](T old) { return old & value; });
}
template <std::integral T>
T atomicOr(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address, [=](T old) { return old | value; });
}
template <std::integral T>
T atomicXor(T* address, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address, [=](T old) { return old ^ value; });
}
template <std::integral T>
T atomicCAS(T* address, host_cuda::detail::same<T> expected, host_cuda::detail::same<T> value) {
  return host_cuda::detail::atomic_change(address,
                                          [=](T old) { return old == expected ? value : old; });
}
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return host_cuda::detail::atomic_change(
      address, [=](unsigned old) { return old >= limit ? 0u : old + 1; });
}
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return host_cuda::detail::atomic_change(
      address, [=](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}
