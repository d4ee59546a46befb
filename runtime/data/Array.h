// Arrays in memory: dense, C order, f32, f64, bf16 or f16.
#pragma once

#include "core/halves.hpp"
#include "data/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rnnc::data {

enum class DType : uint8_t { F32, F64, BF16, F16 };

constexpr bool isHalf(DType type) { return type == DType::BF16 || type == DType::F16; }
constexpr int64_t itemSize(DType type) {
  return type == DType::F64 ? 8 : type == DType::F32 ? 4 : 2;
}
constexpr const char* dtypeName(DType type) {
  constexpr const char* names[] = {"f32", "f64", "bf16", "f16"};
  return names[static_cast<int>(type)];
}

/// Calls use.operator()<T>() with the type of the elements.
template <class Use>
void withElement(DType type, const Use& use) {
  switch (type) {
  case DType::F32:
    return use.template operator()<float>();
  case DType::F64:
    return use.template operator()<double>();
  case DType::BF16:
    return use.template operator()<runtime::BFloat16>();
  case DType::F16:
    return use.template operator()<runtime::Float16>();
  }
}

/// Part of a file in this process's memory. What is written there stays in this process.
struct Mapping {
  Mapping(void* pages, size_t length, std::byte* first)
      : pages(pages), length(length), first(first) {}
  ~Mapping(); ///< unmaps
  Mapping(const Mapping&) = delete;

  void* pages;
  size_t length; ///< of the pages
  std::byte* first;
};

/// Aligned for vector loads, where it is memory of its own; elements are left uninitialised, for
/// they are about to be read or computed and an array may be gigabytes. With a mapping the first
/// memory that is asked for is that of the file, and its elements are what the file says; a copy,
/// or more room, is memory of its own.
template <class T>
struct ArrayAllocator {
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  static constexpr std::align_val_t alignment{64};

  ArrayAllocator() = default;
  explicit ArrayAllocator(std::shared_ptr<const Mapping> mapping) : mapping(std::move(mapping)) {}
  template <class U>
  ArrayAllocator(const ArrayAllocator<U>& other) : mapping(other.mapping), taken(other.taken) {}
  ArrayAllocator select_on_container_copy_construction() const { return {}; }
  T* allocate(size_t n) {
    if (mapping && !std::exchange(taken, true))
      return reinterpret_cast<T*>(mapping->first);
    return static_cast<T*>(::operator new(n * sizeof(T), alignment));
  }
  void deallocate(T* p, size_t) {
    if (!mapping || reinterpret_cast<std::byte*>(p) != mapping->first)
      ::operator delete(p, alignment);
  }
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(const ArrayAllocator& a, const ArrayAllocator& b) {
    return a.mapping == b.mapping;
  }

  std::shared_ptr<const Mapping> mapping;
  bool taken = false;
};

using Bytes = std::vector<std::byte, ArrayAllocator<std::byte>>;

struct HostArray {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Bytes bytes; ///< product of shape, times itemSize(dtype)
  /// The last axis, of size 2, is the real and the imaginary part: files hold one complex number.
  bool complex = false;

  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / itemSize(dtype); }

  /// The elements; T is what withElement says.
  template <class T>
  std::span<T> values() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<const T> values() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

struct NamedArray {
  std::string name;
  HostArray array;
};

/// The most that reading one file may allocate.
struct ReadLimits {
  int64_t bytes = 0; ///< 0: what this machine has as memory

  int64_t bytesOrMemory() const;
};

constexpr size_t maxRank = 32;

/// Bytes of an array; an error where a size is negative, there are more than maxRank of them, or
/// the strides of the array would not fit into 63 bits.
Result<int64_t> byteCount(int64_t itemSize, std::span<const int64_t> shape);

/// An array of that shape, its elements uninitialised. More than the machine has as memory is an
/// error like any other.
Result<HostArray> allocate(DType dtype, std::vector<int64_t> shape);

/// A copy in another type, rounded once, to nearest, ties to even.
Result<HostArray> convert(const HostArray& array, DType dtype);

/// "(8, 4096, 256)", as in NumPy.
std::string shapeText(std::span<const int64_t> shape);

} // namespace rnnc::data
