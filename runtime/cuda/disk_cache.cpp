#include "cuda/disk_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace rnnc::runtime::cuda {
namespace {

/// In front of the code: what this is, whose, how long, and its checksum.
struct EntryHead {
  static constexpr char magicText[8] = {'r', 'n', 'n', 'c', 'u', 'b', 'i', '1'};
  char magic[8];
  Digest key;
  uint64_t bytes;
  Digest checksum;
};
static_assert(sizeof(EntryHead) == 80);

constexpr const char* temporaryBegin = ".new-";
/// Of a temporary file that nobody writes any more.
constexpr time_t staleSeconds = 3600;

class Descriptor {
public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

private:
  int number_;
};

bool readAll(int file, void* to, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::read(file, at, bytes);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    at += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool writeAll(int file, const void* from, size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = ::write(file, at, bytes);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return false;
    }
    at += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

/// The folder and those above it, as XDG wants them. An error shows when it is opened.
void makeFolders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    ::mkdir(path.substr(0, slash).c_str(), 0700);
  }
  ::mkdir(path.c_str(), 0700);
}

bool isOurs(const struct stat& about, mode_t kind) {
  return (about.st_mode & S_IFMT) == kind && about.st_uid == ::geteuid() &&
         (about.st_mode & 077) == 0;
}

std::string temporaryName() {
  static std::atomic<uint64_t> next{0};
  return fmt::format("{}{}-{}", temporaryBegin, ::getpid(), next.fetch_add(1));
}

struct Entry {
  std::string name;
  int64_t bytes;
  struct timespec used;
};

/// Every whole entry; what a writer that ended left behind is removed.
std::vector<Entry> entriesOf(int folder) {
  std::vector<Entry> entries;
  Descriptor again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* listing = again ? ::fdopendir(again.get()) : nullptr;
  if (!listing) {
    return entries;
  }
  again.release();
  while (const dirent* one = ::readdir(listing)) {
    struct stat about{};
    if (::fstatat(folder, one->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(about.st_mode)) {
      continue;
    }
    if (std::string_view(one->d_name).starts_with(temporaryBegin)) {
      if (about.st_mtime + staleSeconds < ::time(nullptr)) {
        ::unlinkat(folder, one->d_name, 0);
      }
      continue;
    }
    entries.push_back({one->d_name, about.st_size, about.st_mtim});
  }
  ::closedir(listing);
  return entries;
}

} // namespace

std::string DiskCache::userFolder() {
  // XDG's specification: a path that is not absolute is to be ignored.
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') {
    return std::string(cache) + "/rnn";
  }
  const char* home = std::getenv("HOME");
  return home && home[0] == '/' ? std::string(home) + "/.cache/rnn" : "";
}

DiskCache::DiskCache(std::string folder, int64_t mostBytes)
    : folder_(std::move(folder)), mostBytes_(mostBytes) {}

DiskCache::~DiskCache() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

bool DiskCache::refuse(std::string why) {
  if (!warned_) {
    warned_ = true;
    warning_ = fmt::format("compiled CUDA programs are not kept on disk: {}", why);
  }
  return false;
}

bool DiskCache::open() {
  if (tried_) {
    return descriptor_ >= 0;
  }
  tried_ = true;
  if (folder_.empty()) {
    return refuse("neither XDG_CACHE_HOME nor HOME is an absolute path");
  }
  makeFolders(folder_);
  Descriptor opened(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) {
    const bool isLink = errno == ELOOP || errno == ENOTDIR;
    return refuse(fmt::format("{}: {}", folder_,
                              isLink ? "it is no folder of its own" : std::strerror(errno)));
  }
  struct stat about{};
  if (::fstat(opened.get(), &about) != 0 || !isOurs(about, S_IFDIR)) {
    return refuse(fmt::format("{}: it must be yours, with mode 0700", folder_));
  }
  descriptor_ = opened.release();
  return true;
}

bool DiskCache::load(const Digest& key, std::string& code) noexcept {
  try {
    std::lock_guard lock(mutex_);
    if (!open()) {
      return false;
    }
    const std::string name = hexOf(key);
    // Not even a device or a pipe in an entry's place makes us wait.
    const Descriptor file(
        ::openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat about{};
    if (!file || ::fstat(file.get(), &about) != 0 || !isOurs(about, S_IFREG) ||
        about.st_size < static_cast<off_t>(sizeof(EntryHead)) || about.st_size > mostBytes_) {
      return false;
    }
    EntryHead head;
    std::string read(static_cast<size_t>(about.st_size) - sizeof(head), '\0');
    if (!readAll(file.get(), &head, sizeof(head)) ||
        !readAll(file.get(), read.data(), read.size()) ||
        std::memcmp(head.magic, EntryHead::magicText, sizeof(head.magic)) != 0 || head.key != key ||
        head.bytes != read.size() || head.checksum != digestOf(read)) {
      return false;
    }
    ::futimens(file.get(), nullptr); // used now: the last to go
    code = std::move(read);
    return true;
  } catch (...) {
    return false;
  }
}

bool DiskCache::write(const Digest& key, std::string_view code) {
  const std::string name = hexOf(key);
  std::string temporary;
  int created = -1;
  // A process that had our number may have left files with our names.
  for (int attempt = 0; created < 0 && attempt < 100; ++attempt) {
    temporary = temporaryName();
    created = ::openat(descriptor_, temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (created < 0 && errno != EEXIST) {
      break;
    }
  }
  const Descriptor file(created);
  if (!file) {
    return refuse(fmt::format("{}: {}", folder_, std::strerror(errno)));
  }
  EntryHead head;
  std::memcpy(head.magic, EntryHead::magicText, sizeof(head.magic));
  head.key = key;
  head.bytes = code.size();
  head.checksum = digestOf(code);
  if (!writeAll(file.get(), &head, sizeof(head)) ||
      !writeAll(file.get(), code.data(), code.size()) ||
      ::renameat(descriptor_, temporary.c_str(), descriptor_, name.c_str()) != 0) {
    const int why = errno;
    ::unlinkat(descriptor_, temporary.c_str(), 0);
    return refuse(fmt::format("{}: {}", folder_, std::strerror(why)));
  }
  return true;
}

void DiskCache::shrink(const std::string& kept) {
  std::vector<Entry> entries = entriesOf(descriptor_);
  int64_t total = 0;
  for (const Entry& entry : entries) {
    total += entry.bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= mostBytes_) {
      break;
    }
    if (entry.name != kept && ::unlinkat(descriptor_, entry.name.c_str(), 0) == 0) {
      total -= entry.bytes;
    }
  }
}

void DiskCache::store(const Digest& key, std::string_view code) noexcept {
  try {
    std::lock_guard lock(mutex_);
    const bool fits = static_cast<int64_t>(code.size() + sizeof(EntryHead)) <= mostBytes_;
    if (fits && open() && write(key, code)) {
      shrink(hexOf(key));
    }
  } catch (...) {
    // Out of memory: then it is not kept.
  }
}

std::string DiskCache::takeWarning() {
  std::lock_guard lock(mutex_);
  return std::exchange(warning_, std::string());
}

} // namespace rnnc::runtime::cuda
