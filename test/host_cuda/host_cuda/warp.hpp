// Barriers, shuffles and votes. Every one takes its place in the source, which tells two of the
// same kind apart: call them directly, not through a wrapper.
#pragma once

#include "language.hpp"

#include <bit>
#include <source_location>
#include <type_traits>

namespace host_cuda::detail {

using place = std::source_location;

enum class operation : unsigned char {
  barrier,
  barrier_count,
  barrier_and,
  barrier_or,
  syncwarp,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
  match_any,
  match_all,
  reduce_add,
  reduce_min,
  reduce_max,
  reduce_min_unsigned,
  reduce_max_unsigned,
  reduce_and,
  reduce_or,
  reduce_xor,
};

// The block's barrier; returns the count, conjunction or disjunction of `predicate`.
int meet_block(operation kind, int predicate, place where);

// The warp operation of the lanes in `mask`. `value` is the caller's bits; `lane` and `width` are
// a shuffle's. Returns the bits of the result; *all is match_all's predicate.
std::uint64_t meet_warp(operation kind, unsigned mask, std::uint64_t value, int lane, int width,
                        place where, int* all = nullptr);

unsigned live_lanes();

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(std::is_arithmetic_v<T>, "CUDA shuffles numbers of 32 and 64 bits");
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<std::uint64_t>(value);
  } else {
    static_assert(sizeof(T) == 4, "CUDA shuffles numbers of 32 and 64 bits");
    return std::bit_cast<std::uint32_t>(value);
  }
}

template <class T>
T from_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(bits);
  } else {
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  }
}

template <class T>
T shuffle(operation kind, unsigned mask, T value, int lane, int width, place where) {
  return from_bits<T>(meet_warp(kind, mask, to_bits(value), lane, width, where));
}

} // namespace host_cuda::detail

#define HOST_CUDA_HERE ::host_cuda::detail::place where = ::host_cuda::detail::place::current()
#define HOST_CUDA_KIND(name) ::host_cuda::detail::operation::name

inline void __syncthreads(HOST_CUDA_HERE) {
  host_cuda::detail::meet_block(HOST_CUDA_KIND(barrier), 0, where);
}
inline int __syncthreads_count(int predicate, HOST_CUDA_HERE) {
  return host_cuda::detail::meet_block(HOST_CUDA_KIND(barrier_count), predicate, where);
}
inline int __syncthreads_and(int predicate, HOST_CUDA_HERE) {
  return host_cuda::detail::meet_block(HOST_CUDA_KIND(barrier_and), predicate, where);
}
inline int __syncthreads_or(int predicate, HOST_CUDA_HERE) {
  return host_cuda::detail::meet_block(HOST_CUDA_KIND(barrier_or), predicate, where);
}
inline void __syncwarp(unsigned mask = 0xffffffffu, HOST_CUDA_HERE) {
  host_cuda::detail::meet_warp(HOST_CUDA_KIND(syncwarp), mask, 0, 0, 32, where);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, HOST_CUDA_HERE) {
  return host_cuda::detail::shuffle(HOST_CUDA_KIND(shuffle), mask, value, lane, width, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, HOST_CUDA_HERE) {
  return host_cuda::detail::shuffle(HOST_CUDA_KIND(shuffle_up), mask, value,
                                    static_cast<int>(delta), width, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, HOST_CUDA_HERE) {
  return host_cuda::detail::shuffle(HOST_CUDA_KIND(shuffle_down), mask, value,
                                    static_cast<int>(delta), width, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, HOST_CUDA_HERE) {
  return host_cuda::detail::shuffle(HOST_CUDA_KIND(shuffle_xor), mask, value, lanes, width, where);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, HOST_CUDA_HERE) {
  return static_cast<unsigned>(
      host_cuda::detail::meet_warp(HOST_CUDA_KIND(ballot), mask, predicate != 0, 0, 32, where));
}
inline int __any_sync(unsigned mask, int predicate, HOST_CUDA_HERE) {
  return static_cast<int>(
      host_cuda::detail::meet_warp(HOST_CUDA_KIND(any), mask, predicate != 0, 0, 32, where));
}
inline int __all_sync(unsigned mask, int predicate, HOST_CUDA_HERE) {
  return static_cast<int>(
      host_cuda::detail::meet_warp(HOST_CUDA_KIND(all), mask, predicate != 0, 0, 32, where));
}
template <class T>
unsigned __match_any_sync(unsigned mask, T value, HOST_CUDA_HERE) {
  return static_cast<unsigned>(host_cuda::detail::meet_warp(
      HOST_CUDA_KIND(match_any), mask, host_cuda::detail::to_bits(value), 0, 32, where));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all, HOST_CUDA_HERE) {
  return static_cast<unsigned>(host_cuda::detail::meet_warp(
      HOST_CUDA_KIND(match_all), mask, host_cuda::detail::to_bits(value), 0, 32, where, all));
}
// The lanes that have not returned. Which of them run together is nobody's promise on a GPU.
inline unsigned __activemask() { return host_cuda::detail::live_lanes(); }

#define HOST_CUDA_REDUCE(name, type, kind)                                                         \
  inline type name(unsigned mask, type value, HOST_CUDA_HERE) {                                    \
    return host_cuda::detail::from_bits<type>(host_cuda::detail::meet_warp(                        \
        HOST_CUDA_KIND(kind), mask, host_cuda::detail::to_bits(value), 0, 32, where));             \
  }
HOST_CUDA_REDUCE(__reduce_add_sync, int, reduce_add)
HOST_CUDA_REDUCE(__reduce_add_sync, unsigned, reduce_add)
HOST_CUDA_REDUCE(__reduce_min_sync, int, reduce_min)
HOST_CUDA_REDUCE(__reduce_min_sync, unsigned, reduce_min_unsigned)
HOST_CUDA_REDUCE(__reduce_max_sync, int, reduce_max)
HOST_CUDA_REDUCE(__reduce_max_sync, unsigned, reduce_max_unsigned)
HOST_CUDA_REDUCE(__reduce_and_sync, unsigned, reduce_and)
HOST_CUDA_REDUCE(__reduce_or_sync, unsigned, reduce_or)
HOST_CUDA_REDUCE(__reduce_xor_sync, unsigned, reduce_xor)
#undef HOST_CUDA_REDUCE
#undef HOST_CUDA_KIND
#undef HOST_CUDA_HERE

// Shared and global memory change only under a fiber's feet when it waits, so order is given.
inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
inline void __threadfence() { __asm__ volatile("" ::: "memory"); }
inline void __threadfence_system() { __asm__ volatile("" ::: "memory"); }

// Ends the launch with an error.
[[noreturn]] void __trap();
