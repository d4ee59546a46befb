// What the tests of host_cuda share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

// The error of a launch contains every one of these.
inline void expect_error(const host_cuda::result& result, const std::vector<std::string>& parts) {
  EXPECT_FALSE(result.ok()) << "no error, but expected: " << parts.at(0);
  for (const std::string& part : parts) {
    EXPECT_NE(result.error.find(part), std::string::npos) << "'" << part << "' is not in\n"
                                                          << result.error;
  }
}

#if __has_feature(thread_sanitizer)
constexpr bool has_tsan = true;
#else
constexpr bool has_tsan = false;
#endif
#if __has_feature(address_sanitizer)
constexpr bool has_asan = true;
#else
constexpr bool has_asan = false;
#endif

constexpr unsigned full_warp = 0xffffffffu;
