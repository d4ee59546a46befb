#include "data/Npy.h"

#include "data/ByteSource.h"
#include "data/NpyHeader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

namespace rnnc::data {

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
  Result<HostArray> array = readArray(source, header.type, header.shape);
  if (!array)
    return array;
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
  Result<std::string> header = npyHeader(array);
  if (!header)
    return Error{fmt::format("{}: {}", printable(path), header.error().text)};
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(*header)), array.bytes};
  return writeFile(path, parts);
}

} // namespace rnnc::data
