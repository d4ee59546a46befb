// What device code calls on the host in place of global loads and stores and of PTX.
#pragma once

#include "language.hpp"

#include <type_traits>

namespace host_cuda {

// Counts an access and checks it: bounds of the registered buffers, kind, alignment. For code that
// then does the access itself; options.guard takes such an access for a stray one.
void count_load(const void* address, std::size_t bytes);
void count_store(void* address, std::size_t bytes);
void count_atomic(void* address, std::size_t bytes);

// The counted accesses. They alone may touch a buffer that options.guard poisons.
template <class T>
__attribute__((no_sanitize("address"), noinline)) T load(const T* address) {
  static_assert(std::is_trivially_copyable_v<T>);
  count_load(address, sizeof(T));
  return *address;
}

template <class T>
__attribute__((no_sanitize("address"), noinline)) void store(T* address,
                                                             std::type_identity_t<T> value) {
  static_assert(std::is_trivially_copyable_v<T>);
  count_store(address, sizeof(T));
  *address = value;
}

// cp.async: `bytes` (4, 8 or 16, both addresses aligned to them) from global to shared memory. The
// load is counted now; until the thread's own wait() the destination holds the NaN pattern. Others
// see the data after a barrier that follows the wait. With source_bytes < bytes the rest is zeros.
void copy_async(void* shared, const void* global, std::size_t bytes, std::size_t source_bytes);
inline void copy_async(void* shared, const void* global, std::size_t bytes) {
  copy_async(shared, global, bytes, bytes);
}
// cp.async.commit_group: the thread's copies since the last commit become a group (maybe an empty
// one).
void commit();
// cp.async.wait_group: all but the newest `pending` committed groups arrive. Copies that were never
// committed do not.
void wait(int pending);

// The block's dynamic shared memory: exactly the launch's bytes, aligned to 16 bytes and, where no
// sanitizer decides, to no more.
unsigned char* dynamic_shared();

} // namespace host_cuda

template <class T>
T __ldg(const T* address) {
  return host_cuda::load(address);
}
template <class T>
T __ldcs(const T* address) {
  return host_cuda::load(address);
}
template <class T>
T __ldcg(const T* address) {
  return host_cuda::load(address);
}
template <class T>
void __stcs(T* address, std::type_identity_t<T> value) {
  host_cuda::store(address, value);
}
template <class T>
void __stcg(T* address, std::type_identity_t<T> value) {
  host_cuda::store(address, value);
}
