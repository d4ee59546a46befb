// Structs of the C interface begin with their size, so that a caller built against another version
// can be understood.
#pragma once

#include "core/status.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace rnnc::runtime {

/// The caller's struct: missing members are zero, unknown members must be zero.
template <class T>
T readVersioned(const T* from, const char* what) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (from->size < sizeof(from->size)) {
    invalid("{}: `size` is {}; set it to sizeof({})", what, from->size, what);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (size_t i = sizeof(T); i < from->size; ++i) {
    if (bytes[i] != 0) {
      fail(RNN_UNSUPPORTED, "{}: a member that this runtime does not know is set", what);
    }
  }
  T value{};
  std::memcpy(static_cast<void*>(&value), from, std::min<size_t>(from->size, sizeof(T)));
  value.size = sizeof(T);
  return value;
}

/// As much of `from` as the caller's struct has room for; its `size` stays.
template <class T>
void writeVersioned(const T& from, T* to, const char* what) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (to->size < sizeof(to->size)) {
    invalid("{}: `size` is {}; set it to sizeof({})", what, to->size, what);
  }
  const auto size = to->size;
  std::memcpy(static_cast<void*>(to), &from, std::min<size_t>(size, sizeof(T)));
  to->size = size;
}

} // namespace rnnc::runtime
