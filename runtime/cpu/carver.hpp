// Cuts the caller's workspace into arrays. The same code measures: over a null base it only counts.
#pragma once

#include "core/status.hpp"

#include <cstddef>
#include <cstdint>

namespace rnnc::runtime::cpu {

class Carver {
public:
  static constexpr int64_t alignment = 64;

  explicit Carver(void* base) : base_(static_cast<std::byte*>(base)) {}

  template <class T>
  T* take(int64_t count) {
    const int64_t at = used_;
    const int64_t bytes = checkedProduct(count, sizeof(T), "the workspace");
    if (bytes > INT64_MAX / 4 - used_) {
      invalid("the workspace is too large; a smaller chunk or fewer chunks need less");
    }
    used_ = (used_ + bytes + alignment - 1) / alignment * alignment;
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }

  int64_t used() const { return used_; }

private:
  std::byte* base_;
  int64_t used_ = 0;
};

} // namespace rnnc::runtime::cpu
