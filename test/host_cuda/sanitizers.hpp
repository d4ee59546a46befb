// What the sanitizers must be told about fibers and memory; without them everything is empty.
#pragma once

#include <cstddef>

#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define HOST_CUDA_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define HOST_CUDA_TSAN 1
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
void __tsan_read_range(void* address, unsigned long bytes);
void __tsan_write_range(void* address, unsigned long bytes);
}
#endif

namespace host_cuda::detail {

inline void begin_quiet() {
#ifdef HOST_CUDA_TSAN
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

inline void end_quiet() {
#ifdef HOST_CUDA_TSAN
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

// The library's own data are touched by every fiber, and no_sync switches order nothing: inside
// this scope ThreadSanitizer does not look. One a fiber at a time.
struct quiet {
  quiet() { begin_quiet(); }
  ~quiet() { end_quiet(); }
  quiet(const quiet&) = delete;
};

// Accesses that the library makes for the kernel. Outside of quiet.
inline void saw_read(const void* address, std::size_t bytes) {
#ifdef HOST_CUDA_TSAN
  __tsan_read_range(const_cast<void*>(address), bytes);
#endif
}
inline void saw_write(void* address, std::size_t bytes) {
#ifdef HOST_CUDA_TSAN
  __tsan_write_range(address, bytes);
#endif
}

// Whether AddressSanitizer would refuse an access.
inline bool is_poisoned(const void* address, std::size_t bytes) {
#ifdef HOST_CUDA_ASAN
  return __asan_region_is_poisoned(const_cast<void*>(address), bytes);
#else
  return false;
#endif
}
inline void poison(const void* address, std::size_t bytes) {
#ifdef HOST_CUDA_ASAN
  __asan_poison_memory_region(address, bytes);
#endif
}
inline void unpoison(const void* address, std::size_t bytes) {
#ifdef HOST_CUDA_ASAN
  __asan_unpoison_memory_region(address, bytes);
#endif
}

} // namespace host_cuda::detail
