#include "data/Safetensors.h"

#include "data/ByteSource.h"
#include "data/SafetensorsHeader.h"

#include <fmt/format.h>

namespace rnnc::data {

namespace {

constexpr int64_t lengthBytes = 8;
constexpr uint64_t maxHeaderBytes = 100'000'000; // as the format says

Result<std::vector<SafetensorsEntry>> readHeader(ByteSource& source) {
  if (source.size() < lengthBytes)
    return source.error(
        fmt::format("is no .safetensors file: {} bytes are too few", source.size()));
  unsigned char bytes[lengthBytes];
  if (Status status = source.read(bytes, lengthBytes); !status)
    return status.error();
  uint64_t length = 0;
  for (int i = 0; i < lengthBytes; ++i)
    length |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  if (length > maxHeaderBytes)
    return source.error(fmt::format("is no .safetensors file: its header would have {} bytes; at "
                                    "most {} are supported",
                                    length, maxHeaderBytes));
  if (static_cast<int64_t>(length) > source.size() - lengthBytes)
    return source.error("ends within its header");
  std::string text(length, '\0');
  if (Status status = source.read(text.data(), static_cast<int64_t>(length)); !status)
    return status.error();
  auto entries =
      parseSafetensorsHeader(text, source.size() - lengthBytes - static_cast<int64_t>(length));
  if (!entries)
    return source.error(entries.error().text);
  return entries;
}

/// Whether all arrays together fit.
Status checkMemory(const ByteSource& source, const std::vector<SafetensorsEntry>& entries,
                   const ReadLimits& limits) {
  int64_t left = limits.bytesOrMemory();
  for (const SafetensorsEntry& entry : entries) {
    Result<int64_t> needed =
        byteCount(itemSize(readAs(entry.type)) * (isComplex(entry.type) ? 2 : 1), entry.shape);
    if (!needed)
      return source.error(needed.error().text);
    if (*needed > left)
      return source.error(fmt::format("its arrays need more memory than the limit of {} bytes",
                                      limits.bytesOrMemory()));
    left -= *needed;
  }
  return success();
}

} // namespace

Result<std::vector<NamedArray>> readSafetensors(const std::string& path, const ReadLimits& limits) {
  Result<std::unique_ptr<ByteSource>> opened = openSource(path);
  if (!opened)
    return opened.error();
  ByteSource& source = **opened;
  auto entries = readHeader(source);
  if (!entries)
    return entries.error();
  if (Status status = checkMemory(source, *entries, limits); !status)
    return status.error();
  std::vector<NamedArray> arrays;
  for (SafetensorsEntry& entry : *entries) {
    Result<HostArray> array = readArray(source, entry.type, std::move(entry.shape));
    if (!array)
      return array.error();
    arrays.push_back({std::move(entry.name), std::move(*array)});
  }
  return arrays;
}

Status writeSafetensors(const std::string& path, std::span<const NamedArray> arrays) {
  Result<std::string> header = safetensorsHeader(arrays);
  if (!header)
    return Error{fmt::format("{}: {}", printable(path), header.error().text)};
  std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(*header))};
  for (const NamedArray& named : arrays)
    parts.push_back(named.array.bytes);
  return writeFile(path, parts);
}

} // namespace rnnc::data
