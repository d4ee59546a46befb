#include "data/ByteSource.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rnnc::data {

namespace {

class FileSource final : public ByteSource {
public:
  FileSource(const std::string& path, OpenedFile opened)
      : ByteSource(path, opened.size), file(std::move(opened.file)) {}

  Status read(void* to, int64_t n) override {
    if (std::fread(to, 1, static_cast<size_t>(n), file.get()) == static_cast<size_t>(n))
      return success();
    if (std::ferror(file.get()))
      return systemError(place(), "cannot be read");
    return error("ends too early; it became shorter while it was read");
  }

  std::optional<Bytes> map(int64_t n, int64_t alignment) override {
    constexpr int64_t kLeast = 1 << 20; // fewer are copied sooner than mapped
    int64_t at = ::ftello(file.get()), before = at % ::sysconf(_SC_PAGESIZE);
    if (n < kLeast || at < 0 || at % alignment != 0)
      return std::nullopt;
    auto length = static_cast<size_t>(before + n);
    void* pages = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                         ::fileno(file.get()), at - before);
    if (pages == MAP_FAILED)
      return std::nullopt;
    auto mapping =
        std::make_shared<const Mapping>(pages, length, static_cast<std::byte*>(pages) + before);
    if (::fseeko(file.get(), n, SEEK_CUR) != 0)
      return std::nullopt;
    return Bytes(static_cast<size_t>(n), ArrayAllocator<std::byte>(std::move(mapping)));
  }

private:
  FilePointer file;
};

} // namespace

Error ByteSource::error(std::string_view text) const {
  return Error{fmt::format("{}: {}", name, text)};
}

Error systemError(const std::string& path, std::string_view text) {
  return Error{fmt::format("{}: {}: {}", printable(path), text, std::strerror(errno))};
}

Result<OpenedFile> openRegularFile(const std::string& path) {
  // Without O_NONBLOCK the open itself would wait for the other end of a named pipe.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return systemError(path, "cannot be opened");
  FilePointer file(::fdopen(descriptor, "rb"));
  if (!file) {
    ::close(descriptor);
    return systemError(path, "cannot be opened");
  }
  struct stat info;
  if (::fstat(descriptor, &info) != 0)
    return systemError(path, "cannot be opened");
  if (!S_ISREG(info.st_mode))
    return Error{fmt::format("{}: is {}, not a file", printable(path),
                             S_ISDIR(info.st_mode) ? "a directory" : "a device or a pipe")};
  return OpenedFile{std::move(file), static_cast<int64_t>(info.st_size)};
}

Result<std::unique_ptr<ByteSource>> openSource(const std::string& path) {
  Result<OpenedFile> opened = openRegularFile(path);
  if (!opened)
    return opened.error();
  return std::unique_ptr<ByteSource>(new FileSource(printable(path), std::move(*opened)));
}

Status writeFile(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  struct stat info;
  bool isSpecial = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  std::string first = isSpecial ? path : fmt::format("{}.{}.tmp", path, ::getpid());
  FilePointer file(std::fopen(first.c_str(), "wbe"));
  if (!file)
    return systemError(path, "cannot be written");
  bool written = true;
  for (std::span<const std::byte> part : parts)
    written = written && std::fwrite(part.data(), 1, part.size(), file.get()) == part.size();
  // A full disk may show only here.
  written = std::fclose(file.release()) == 0 && written;
  if (written && (isSpecial || std::rename(first.c_str(), path.c_str()) == 0))
    return success();
  Error error = systemError(path, "cannot be written");
  if (!isSpecial)
    std::remove(first.c_str());
  return error;
}

std::string printable(std::string_view name) {
  std::string text;
  for (unsigned char c : name) {
    if (c < 0x20 || c == 0x7f)
      text += fmt::format("\\x{:02x}", c);
    else
      text += static_cast<char>(c);
  }
  return text;
}

} // namespace rnnc::data
