// Bytes of a known number that are read once, in order: a file, or a member of a zip archive.
#pragma once

#include "data/Array.h"
#include "data/Result.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rnnc::data {

class ByteSource {
public:
  virtual ~ByteSource() = default;

  /// "file.npz, member h.npy": begins every message.
  const std::string& place() const { return name; }
  int64_t size() const { return length; }

  /// Reads exactly n bytes; anything less is an error.
  virtual Status read(void* to, int64_t n) = 0;
  /// The next n bytes where they lie in the file, without a copy. Nothing where they are few or not
  /// aligned for elements of so many bytes, or where the source is no file of its own.
  virtual std::optional<Bytes> map(int64_t, int64_t) { return std::nullopt; }
  /// Whether everything was read and a checksum, where there is one, agrees.
  virtual Status finish() { return success(); }

  /// The error "place: text".
  Error error(std::string_view text) const;

protected:
  ByteSource(std::string name, int64_t length) : name(std::move(name)), length(length) {}

private:
  std::string name;
  int64_t length;
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePointer = std::unique_ptr<std::FILE, CloseFile>;

/// A regular file, opened for reading, and its size.
struct OpenedFile {
  FilePointer file;
  int64_t size = 0;
};
Result<OpenedFile> openRegularFile(const std::string& path);

Result<std::unique_ptr<ByteSource>> openSource(const std::string& path);

/// A name from a file, fit for a message: bytes that are no printable text become \xNN.
std::string printable(std::string_view name);

/// Writes a file of these parts, one behind the other: beside it first, then renamed, so that no
/// half of a file is ever seen and what was mapped of an old one stays what it was.
Status writeFile(const std::string& path, std::span<const std::span<const std::byte>> parts);

/// "path: text: what errno says".
Error systemError(const std::string& path, std::string_view text);

} // namespace rnnc::data
