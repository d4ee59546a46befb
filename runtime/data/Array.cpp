#include "data/Array.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rnnc::data {

namespace {

int64_t physicalMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

} // namespace

Mapping::~Mapping() { ::munmap(pages, length); }

int64_t ReadLimits::bytesOrMemory() const { return bytes > 0 ? bytes : physicalMemory(); }

Result<int64_t> byteCount(int64_t itemSize, std::span<const int64_t> shape) {
  if (shape.size() > maxRank)
    return Error{fmt::format("the array has {} dimensions; at most {} are supported", shape.size(),
                             maxRank)};
  // Zero sizes count as one here: strides are products of the other sizes.
  int64_t extent = itemSize;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return Error{fmt::format("shape {} has a negative size", shapeText(shape))};
    empty |= size == 0;
    if (__builtin_mul_overflow(extent, std::max<int64_t>(size, 1), &extent))
      return Error{fmt::format("shape {} has more bytes than 63 bits can count", shapeText(shape))};
  }
  return empty ? 0 : extent;
}

Result<HostArray> allocate(DType dtype, std::vector<int64_t> shape) {
  Result<int64_t> bytes = byteCount(itemSize(dtype), shape);
  if (!bytes)
    return bytes.error();
  // Linux grants more than it has, and ends the program that comes to use it.
  if (*bytes > physicalMemory())
    return Error{fmt::format("an array of shape {} needs {} bytes, and this machine has {}",
                             shapeText(shape), *bytes, physicalMemory())};
  HostArray array{dtype, std::move(shape), {}, false};
  try {
    array.bytes.resize(static_cast<size_t>(*bytes));
  } catch (const std::exception&) {
    return Error{fmt::format("not enough memory for {} bytes, an array of shape {}", *bytes,
                             shapeText(array.shape))};
  }
  return array;
}

Result<HostArray> convert(const HostArray& array, DType dtype) {
  Result<HostArray> result = allocate(dtype, array.shape);
  if (!result)
    return result;
  result->complex = array.complex;
  if (array.dtype == dtype) {
    std::ranges::copy(array.bytes, result->bytes.begin());
    return result;
  }
  // By way of double, which has every number of the others.
  withElement(array.dtype, [&]<class From>() {
    withElement(dtype, [&]<class To>() {
      std::ranges::transform(array.values<From>(), result->values<To>().begin(), [](From value) {
        return static_cast<To>(static_cast<double>(value));
      });
    });
  });
  return result;
}

std::string shapeText(std::span<const int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

} // namespace rnnc::data
