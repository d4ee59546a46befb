#include "data/Npy.h"

#include "data/ByteSource.h"
#include "data/NpyHeader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace rnnc::data {

static_assert(std::endian::native == std::endian::little, "files are read without swapping bytes");

namespace {

constexpr int64_t maxHeaderBytes = 65536;
constexpr std::string_view magic = "\x93NUMPY";

struct HeaderAndSize {
  NpyHeader header;
  int64_t payload = 0; // bytes after the header
};

Result<HeaderAndSize> readHeader(ByteSource& source) {
  unsigned char preamble[12];
  int64_t used = 10;
  if (source.size() < used)
    return source.error(fmt::format("is no .npy file: {} bytes are too few", source.size()));
  if (Status status = source.read(preamble, used); !status)
    return status.error();
  if (std::memcmp(preamble, magic.data(), magic.size()) != 0)
    return source.error("is no .npy file: it does not begin with \\x93NUMPY");
  int major = preamble[6], minor = preamble[7];
  if (major < 1 || major > 3 || minor != 0)
    return source.error(fmt::format("has version {}.{} of the .npy format; 1.0, 2.0 and 3.0 are "
                                    "supported",
                                    major, minor));
  int64_t length = preamble[8] | preamble[9] << 8;
  if (major > 1) {
    if (source.size() < 12)
      return source.error("ends within its header");
    if (Status status = source.read(preamble + used, 2); !status)
      return status.error();
    used += 2;
    length |= static_cast<int64_t>(preamble[10]) << 16 | static_cast<int64_t>(preamble[11]) << 24;
  }
  if (length > source.size() - used)
    return source.error("ends within its header");
  if (length > maxHeaderBytes)
    return source.error(
        fmt::format("has a header of {} bytes; at most {} are supported", length, maxHeaderBytes));
  std::string text(static_cast<size_t>(length), '\0');
  if (Status status = source.read(text.data(), length); !status)
    return status.error();
  Result<NpyHeader> header = parseNpyHeader(text);
  if (!header)
    return source.error(header.error().text);
  return HeaderAndSize{std::move(*header), source.size() - used - length};
}

/// An IEEE half as a float; exact.
float fromHalf(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent)
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -magnitude : magnitude;
}

template <class From, class To>
void widen(const std::byte* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof(From), sizeof(From));
    to[i] = static_cast<To>(value);
  }
}

void widenHalf(const std::byte* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint16_t value;
    std::memcpy(&value, from + i * 2, 2);
    to[i] = fromHalf(value);
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
    return widenHalf(from, f32, n);
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

Status readElements(ByteSource& source, FileType type, HostArray& array) {
  if (type == FileType::F32 || type == FileType::F64 || isComplex(type))
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

/// Elements in Fortran order (first axis fastest) put into C order; T has the element's size, that
/// of both parts where they are complex.
template <class T>
void toRowMajor(const HostArray& from, HostArray& to) {
  std::span<const int64_t> shape = to.shape;
  if (to.complex)
    shape = shape.first(shape.size() - 1);
  size_t rank = shape.size();
  std::vector<int64_t> stride(rank), index(rank, 0);
  for (size_t axis = 0; axis < rank; ++axis)
    stride[axis] = axis ? stride[axis - 1] * shape[axis - 1] : 1;
  const T* source = reinterpret_cast<const T*>(from.bytes.data());
  T* target = reinterpret_cast<T*>(to.bytes.data());
  int64_t offset = 0, total = static_cast<int64_t>(to.bytes.size() / sizeof(T));
  for (int64_t done = 0; done < total; ++done) {
    target[done] = source[offset];
    for (size_t axis = rank; axis-- > 0;) {
      offset += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      offset -= stride[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

Result<HostArray> fromFortranOrder(HostArray array) {
  Result<HostArray> result = allocate(array.dtype, array.shape);
  if (!result)
    return result;
  result->complex = array.complex;
  int64_t size = itemSize(array.dtype) * (array.complex ? 2 : 1);
  if (size == 4)
    toRowMajor<uint32_t>(array, *result);
  else if (size == 8)
    toRowMajor<uint64_t>(array, *result);
  else
    toRowMajor<std::array<uint64_t, 2>>(array, *result);
  return result;
}

/// Whether the payload has the size that the header claims, and memory the size of the array.
Status checkSize(const ByteSource& source, const HeaderAndSize& file, const ReadLimits& limits) {
  const NpyHeader& header = file.header;
  Result<int64_t> claimed = byteCount(itemSize(header.type), header.shape);
  if (!claimed)
    return source.error(claimed.error().text);
  if (file.payload < *claimed)
    return source.error(fmt::format("is cut short: shape {} needs {} bytes of elements, and there "
                                    "are {}",
                                    shapeText(header.shape), *claimed, file.payload));
  if (file.payload > *claimed)
    return source.error(fmt::format("has {} bytes after its array of shape {}",
                                    file.payload - *claimed, shapeText(header.shape)));
  Result<int64_t> needed =
      byteCount(itemSize(readAs(header.type)) * (isComplex(header.type) ? 2 : 1), header.shape);
  if (!needed)
    return source.error(needed.error().text);
  int64_t copies = header.fortranOrder ? 2 : 1;
  if (*needed > limits.bytesOrMemory() / copies)
    return source.error(fmt::format("needs {} bytes of memory, more than the limit of {}",
                                    *needed * copies, limits.bytesOrMemory()));
  return success();
}

} // namespace

Result<HostArray> readNpy(ByteSource& source, const ReadLimits& limits) {
  Result<HeaderAndSize> file = readHeader(source);
  if (!file)
    return file.error();
  if (Status status = checkSize(source, *file, limits); !status)
    return status.error();
  const NpyHeader& header = file->header;
  std::vector<int64_t> shape = header.shape;
  if (isComplex(header.type))
    shape.push_back(2);
  Result<HostArray> array = allocate(readAs(header.type), std::move(shape));
  if (!array)
    return source.error(array.error().text);
  array->complex = isComplex(header.type);
  if (Status status = readElements(source, header.type, *array); !status)
    return status.error();
  if (Status status = source.finish(); !status)
    return status.error();
  if (header.fortranOrder && header.shape.size() > 1) {
    array = fromFortranOrder(std::move(*array));
    if (!array)
      return source.error(array.error().text);
  }
  return array;
}

Result<HostArray> readNpy(const std::string& path, const ReadLimits& limits) {
  Result<std::unique_ptr<ByteSource>> source = openSource(path);
  if (!source)
    return source.error();
  return readNpy(**source, limits);
}

Status writeNpy(const std::string& path, const HostArray& array) {
  FilePointer file(std::fopen(path.c_str(), "wbe"));
  if (!file)
    return systemError(path, "cannot be written");
  std::string header = npyHeader(array);
  bool written =
      std::fwrite(header.data(), 1, header.size(), file.get()) == header.size() &&
      std::fwrite(array.bytes.data(), 1, array.bytes.size(), file.get()) == array.bytes.size();
  // A full disk may show only here.
  bool closed = std::fclose(file.release()) == 0;
  if (!written || !closed)
    return systemError(path, "cannot be written");
  return success();
}

} // namespace rnnc::data
