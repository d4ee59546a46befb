#include "data/Elements.h"

#include "core/halves.hpp"
#include "data/ByteSource.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rnnc::data {

static_assert(std::endian::native == std::endian::little, "files are read without swapping bytes");

namespace {

template <class From, class To>
void widen(const std::byte* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value);
  }
}

void widenBool(const std::byte* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = from[i] == std::byte{0} ? 0.f : 1.f;
}

/// Converts n elements of a file into an array's elements at `to`.
void convertElements(FileType type, const std::byte* from, std::byte* to, int64_t n) {
  float* f32 = reinterpret_cast<float*>(to);
  double* f64 = reinterpret_cast<double*>(to);
  switch (type) {
  case FileType::Bool:
    return widenBool(from, f32, n);
  case FileType::I8:
    return widen<int8_t>(from, f32, n);
  case FileType::U8:
    return widen<uint8_t>(from, f32, n);
  case FileType::I16:
    return widen<int16_t>(from, f32, n);
  case FileType::U16:
    return widen<uint16_t>(from, f32, n);
  case FileType::F16:
    return widen<runtime::Float16>(from, f32, n);
  case FileType::BF16:
    return widen<runtime::BFloat16>(from, f32, n);
  case FileType::I32:
    return widen<int32_t>(from, f64, n);
  case FileType::U32:
    return widen<uint32_t>(from, f64, n);
  case FileType::I64:
    return widen<int64_t>(from, f64, n);
  case FileType::U64:
    return widen<uint64_t>(from, f64, n);
  case FileType::F32:
  case FileType::F64:
  case FileType::C64:
  case FileType::C128:
    std::memcpy(to, from, static_cast<size_t>(n * itemSize(type)));
  }
}

} // namespace

int64_t itemSize(FileType type) {
  switch (type) {
  case FileType::Bool:
  case FileType::I8:
  case FileType::U8:
    return 1;
  case FileType::I16:
  case FileType::U16:
  case FileType::F16:
  case FileType::BF16:
    return 2;
  case FileType::I32:
  case FileType::U32:
  case FileType::F32:
    return 4;
  case FileType::I64:
  case FileType::U64:
  case FileType::F64:
  case FileType::C64:
    return 8;
  case FileType::C128:
    return 16;
  }
  return 0;
}

DType readAs(FileType type) {
  switch (type) {
  case FileType::I32:
  case FileType::I64:
  case FileType::U32:
  case FileType::U64:
  case FileType::F64:
  case FileType::C128:
    return DType::F64;
  default:
    return DType::F32;
  }
}

static bool isReadAsItIs(FileType type) {
  return type == FileType::F32 || type == FileType::F64 || isComplex(type);
}

static Status readElements(ByteSource& source, FileType type, HostArray& array) {
  if (isReadAsItIs(type))
    return source.read(array.bytes.data(), static_cast<int64_t>(array.bytes.size()));
  constexpr int64_t block = 8192;
  std::byte buffer[block * 8];
  int64_t total = array.elements();
  for (int64_t done = 0; done < total; done += block) {
    int64_t n = std::min(block, total - done);
    if (Status status = source.read(buffer, n * itemSize(type)); !status)
      return status;
    convertElements(type, buffer, array.bytes.data() + done * itemSize(array.dtype), n);
  }
  return success();
}

Result<HostArray> readArray(ByteSource& source, FileType type, std::vector<int64_t> shape) {
  if (isComplex(type))
    shape.push_back(2);
  if (isReadAsItIs(type)) {
    int64_t size = itemSize(readAs(type));
    Result<int64_t> bytes = byteCount(size, shape);
    if (!bytes)
      return source.error(bytes.error().text);
    if (std::optional<Bytes> mapped = source.map(*bytes, size))
      return HostArray{readAs(type), std::move(shape), std::move(*mapped), isComplex(type)};
  }
  Result<HostArray> array = allocate(readAs(type), std::move(shape));
  if (!array)
    return source.error(array.error().text);
  array->complex = isComplex(type);
  if (Status status = readElements(source, type, *array); !status)
    return status.error();
  return array;
}

} // namespace rnnc::data
