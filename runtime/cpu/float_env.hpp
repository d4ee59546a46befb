// Flush-to-zero and the rounding mode, set for a piece of work and restored.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace rnnc::runtime::cpu {

/// Round to nearest, no flushing of denormals, no traps, whatever the caller's thread had set
/// (audio hosts flush). Work under it belongs in a function that is not inlined: the compiler does
/// not order arithmetic against these register writes.
class IeeeScope {
public:
#if defined(__x86_64__)
  IeeeScope() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~IeeeScope() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
  IeeeScope() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t(0)) : "memory");
  }
  ~IeeeScope() { asm volatile("msr fpcr, %0" : : "r"(saved_) : "memory"); }
#else
  IeeeScope() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~IeeeScope() { std::fesetenv(&saved_); }
#endif
  IeeeScope(const IeeeScope&) = delete;
  IeeeScope& operator=(const IeeeScope&) = delete;

private:
#if defined(__x86_64__)
  unsigned saved_;
#elif defined(__aarch64__)
  uint64_t saved_;
#else
  std::fenv_t saved_;
#endif
};

} // namespace rnnc::runtime::cpu
