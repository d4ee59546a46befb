// The checksum, and programs on disk: whose they are, whether they are whole, and how many.
#include "cuda/digest.hpp"
#include "cuda/disk_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace rnnc::test {
namespace {

using namespace rnnc::runtime::cuda;
namespace fs = std::filesystem;

// FIPS 180-4's examples, and lengths around a block's.
TEST(Digest, KnownValues) {
  EXPECT_EQ(hexOf(digestOf("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexOf(digestOf("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexOf(digestOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hexOf(digestOf(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, PiecesAreTheWhole) {
  const std::string text(300, 'x');
  for (size_t cut : {0, 1, 55, 56, 63, 64, 65, 128, 299}) {
    Sha256 sha;
    sha.add(std::string_view(text).substr(0, cut));
    sha.add(std::string_view(text).substr(cut));
    EXPECT_EQ(sha.finish(), digestOf(text)) << cut;
  }
}

TEST(Digest, TextsDoNotRunIntoEachOther) {
  Sha256 one, other;
  one.addText("ab"), one.addText("c");
  other.addText("a"), other.addText("bc");
  EXPECT_NE(one.finish(), other.finish());
}

class Disk : public testing::Test {
protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "rnn-cache-XXXXXX").string();
    root = mkdtemp(path.data());
    folder = root / "cache" / "rnn";
  }
  void TearDown() override {
    ::chmod(root.c_str(), 0700);
    fs::remove_all(root);
  }

  /// Of a cache that has just been made: nothing is left in memory.
  std::string loaded(const std::string& name) {
    std::string code = "nothing";
    DiskCache cache(folder);
    return cache.load(digestOf(name), code) ? code : "";
  }
  fs::path file(const std::string& name) const { return folder / hexOf(digestOf(name)); }
  std::string warningOfStore(const std::string& name) {
    DiskCache cache(folder);
    cache.store(digestOf(name), "code");
    std::string warning = cache.takeWarning();
    EXPECT_EQ(cache.takeWarning(), ""); // once
    return warning;
  }
  static mode_t modeOf(const fs::path& path) {
    struct stat about{};
    ::lstat(path.c_str(), &about);
    return about.st_mode & 07777;
  }

  fs::path root, folder;
};

TEST_F(Disk, KeepsWhatItIsGiven) {
  const std::string code("a\0b", 3);
  {
    DiskCache cache(folder);
    std::string none;
    EXPECT_FALSE(cache.load(digestOf("p"), none));
    cache.store(digestOf("p"), code);
    cache.store(digestOf("empty"), "");
    EXPECT_EQ(cache.takeWarning(), "");
  }
  EXPECT_EQ(loaded("p"), code);
  EXPECT_EQ(loaded("q"), "");
  EXPECT_EQ(modeOf(folder), 0700u);
  EXPECT_EQ(modeOf(folder.parent_path()), 0700u);
  EXPECT_EQ(modeOf(file("p")), 0600u);
  // Nothing temporary is left, one file an entry.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST_F(Disk, AnEntryIsReplaced) {
  DiskCache cache(folder);
  cache.store(digestOf("p"), "old");
  cache.store(digestOf("p"), "new");
  EXPECT_EQ(loaded("p"), "new");
}

TEST_F(Disk, EveryDamageIsAMiss) {
  const auto fresh = [&] {
    DiskCache cache(folder);
    cache.store(digestOf("p"), "some code");
  };
  fresh();
  const auto size = fs::file_size(file("p"));
  for (uintmax_t place = 0; place < size; ++place) {
    std::fstream edit(file("p"), std::ios::in | std::ios::out | std::ios::binary);
    edit.seekg(static_cast<std::streamoff>(place));
    const char old = static_cast<char>(edit.get());
    edit.seekp(static_cast<std::streamoff>(place));
    edit.put(static_cast<char>(old ^ 0x10));
    edit.close();
    EXPECT_EQ(loaded("p"), "") << "byte " << place;
    fresh();
  }
  for (uintmax_t length = 0; length < size; ++length) {
    fs::resize_file(file("p"), length);
    EXPECT_EQ(loaded("p"), "") << length << " bytes";
    fresh();
  }
  fs::resize_file(file("p"), size + 1);
  EXPECT_EQ(loaded("p"), "");
}

TEST_F(Disk, AnotherProgramsEntryUnderItsNameIsAMiss) {
  DiskCache cache(folder);
  cache.store(digestOf("p"), "code of p");
  fs::copy_file(file("p"), file("q"));
  ::chmod(file("q").c_str(), 0600);
  EXPECT_EQ(loaded("q"), "");
  EXPECT_EQ(loaded("p"), "code of p");
}

TEST_F(Disk, NoLinkIsFollowed) {
  {
    DiskCache cache(folder);
    cache.store(digestOf("p"), "code");
  }
  fs::rename(file("p"), root / "elsewhere");
  fs::create_symlink(root / "elsewhere", file("p"));
  EXPECT_EQ(loaded("p"), "");
  { // what is stored replaces the link, not what it points to
    DiskCache cache(folder);
    cache.store(digestOf("p"), "new");
  }
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file("p"))));
  EXPECT_EQ(loaded("p"), "new");
  // The folder itself.
  fs::rename(folder, root / "real");
  fs::create_directory_symlink(root / "real", folder);
  EXPECT_EQ(loaded("p"), "");
  EXPECT_NE(warningOfStore("p").find("it is no folder of its own"), std::string::npos);
}

TEST_F(Disk, OthersMayNotLookIn) {
  {
    DiskCache cache(folder);
    cache.store(digestOf("p"), "code");
  }
  for (mode_t mode : {0750, 0705, 0720, 0777}) {
    ::chmod(folder.c_str(), mode);
    EXPECT_EQ(loaded("p"), "") << mode;
    EXPECT_NE(warningOfStore("q").find("it must be yours, with mode 0700"), std::string::npos);
    EXPECT_FALSE(fs::exists(file("q")));
  }
  ::chmod(folder.c_str(), 0700);
  EXPECT_EQ(loaded("p"), "code");
  for (mode_t mode : {0640, 0602}) {
    ::chmod(file("p").c_str(), mode);
    EXPECT_EQ(loaded("p"), "") << mode;
  }
}

TEST_F(Disk, OfAnotherOwner) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  {
    DiskCache cache(folder);
    cache.store(digestOf("p"), "code");
  }
  ASSERT_EQ(::chown(file("p").c_str(), 12345, 12345), 0);
  EXPECT_EQ(loaded("p"), "");
  ASSERT_EQ(::chown(file("p").c_str(), 0, 0), 0);
  EXPECT_EQ(loaded("p"), "code");
  ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_EQ(loaded("p"), "");
  EXPECT_NE(warningOfStore("p").find("it must be yours"), std::string::npos);
}

TEST_F(Disk, WhatIsNoFileDoesNotHoldAnybodyUp) {
  {
    DiskCache cache(folder);
    cache.store(digestOf("p"), "code");
  }
  fs::remove(file("p"));
  ASSERT_EQ(::mkfifo(file("p").c_str(), 0600), 0);
  EXPECT_EQ(loaded("p"), "");
  fs::remove(file("p"));
  fs::create_directory(file("p"));
  EXPECT_EQ(loaded("p"), "");
  EXPECT_NE(warningOfStore("p"), ""); // cannot be replaced
}

TEST_F(Disk, AHomeThatCannotBeWrittenTo) {
  if (::geteuid() == 0) { // who may write anywhere, but not into a file as if it were a folder
    std::ofstream(root / "cache") << "a file";
  } else {
    ::chmod(root.c_str(), 0500);
  }
  EXPECT_NE(warningOfStore("p").find("compiled CUDA programs are not kept on disk: "),
            std::string::npos);
  EXPECT_EQ(loaded("p"), "");
}

TEST_F(Disk, TheOldestGoFirst) {
  constexpr int64_t entry = 1000 + 80;
  DiskCache cache(folder, 3 * entry);
  const std::string code(1000, 'c');
  const auto age = [&](const char* name, int seconds) {
    const timespec when[2] = {{1000000000 - seconds, 0}, {1000000000 - seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file(name).c_str(), when, 0), 0);
  };
  for (const char* name : {"a", "b", "c"}) {
    cache.store(digestOf(name), code);
  }
  age("a", 10), age("b", 30), age("c", 20);
  std::string read;
  EXPECT_TRUE(cache.load(digestOf("b"), read)); // used just now
  cache.store(digestOf("d"), code);
  EXPECT_EQ(loaded("c"), "");
  EXPECT_EQ(loaded("a"), code);
  EXPECT_EQ(loaded("b"), code);
  EXPECT_EQ(loaded("d"), code);
  // One that is larger than everything may be is not kept, and drives nothing out.
  cache.store(digestOf("huge"), std::string(3 * entry, 'h'));
  EXPECT_EQ(loaded("huge"), "");
  EXPECT_EQ(loaded("d"), code);
  EXPECT_EQ(cache.takeWarning(), "");
}

TEST_F(Disk, WhatAWriterLeftBehindIsRemoved) {
  DiskCache cache(folder);
  cache.store(digestOf("p"), "code");
  std::ofstream(folder / ".new-1-0") << "half";
  std::ofstream(folder / ".new-1-1") << "half, but somebody may still write it";
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder / ".new-1-0").c_str(), old, 0), 0);
  cache.store(digestOf("q"), "code");
  EXPECT_FALSE(fs::exists(folder / ".new-1-0"));
  EXPECT_TRUE(fs::exists(folder / ".new-1-1"));
}

TEST_F(Disk, SeveralWritersAndReaders) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      DiskCache cache(folder); // as another process would
      for (int round = 0; round < 50; ++round) {
        const std::string code(5000, static_cast<char>('a' + i));
        cache.store(digestOf("shared"), code);
        std::string read;
        if (cache.load(digestOf("shared"), read)) {
          wrong += read != std::string(5000, read[0]);
        } else {
          ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST(DiskFolder, FollowsTheVariables) {
  const std::string cache = std::getenv("XDG_CACHE_HOME");
  const char* homeBefore = std::getenv("HOME");
  const std::string home = homeBefore ? homeBefore : "";
  EXPECT_EQ(DiskCache::userFolder(), cache + "/rnn");
  setenv("HOME", "/home/somebody", 1);
  setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
  EXPECT_EQ(DiskCache::userFolder(), "/home/somebody/.cache/rnn");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(DiskCache::userFolder(), "/home/somebody/.cache/rnn");
  unsetenv("HOME");
  EXPECT_EQ(DiskCache::userFolder(), "");
  DiskCache nowhere("");
  nowhere.store(digestOf("p"), "code");
  EXPECT_NE(nowhere.takeWarning().find("neither XDG_CACHE_HOME nor HOME"), std::string::npos);
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  setenv("HOME", home.c_str(), 1);
}

} // namespace
} // namespace rnnc::test
