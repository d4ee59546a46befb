// Compiled programs on disk, one file each, in a folder that is the user's alone.
//
// Nothing here fails: what cannot be read, or is not whole, is not there, and what cannot be
// written is not kept. Loading and storing may happen in several threads and processes at once: a
// file appears whole, by a rename, or not at all.
#pragma once

#include "cuda/digest.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace rnnc::runtime::cuda {

/// Of all entries together.
inline constexpr int64_t diskCacheBytes = int64_t(256) << 20;

class DiskCache {
public:
  /// $XDG_CACHE_HOME/rnn, else $HOME/.cache/rnn; empty where neither is an absolute path.
  static std::string userFolder();

  /// Opened when first used: made with mode 0700 where it is missing. A folder that is not the
  /// user's own, that others may look into, or that is a symbolic link, is not used.
  explicit DiskCache(std::string folder, int64_t mostBytes = diskCacheBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// False where there is no whole entry of this name.
  bool load(const Digest& key, std::string& code) noexcept;
  /// Replaces an entry of the same name; removes the entries that were used longest ago where all
  /// together are too large.
  void store(const Digest& key, std::string_view code) noexcept;
  /// Why programs are not kept, the first reason, once; then empty.
  std::string takeWarning();

private:
  bool open();
  bool refuse(std::string why);
  bool write(const Digest& key, std::string_view code);
  void shrink(const std::string& kept);

  const std::string folder_;
  const int64_t mostBytes_;
  std::mutex mutex_;
  int descriptor_ = -1;
  bool tried_ = false;
  bool warned_ = false;
  std::string warning_;
};

} // namespace rnnc::runtime::cuda
