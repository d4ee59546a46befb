// Whether kernels on the host are instrumented.
#pragma once

namespace device_test {

// Instrumented kernels are 20 times slower, and what sanitizers look for shows in fewer settings.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

} // namespace device_test
