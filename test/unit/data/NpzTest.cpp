#include "Files.h"

#include "data/Npz.h"

#include <optional>

using namespace rnnc::data;
using namespace rnnc::data::test;

namespace {

uint32_t crc32(std::string_view data) {
  uint32_t crc = ~0u;
  for (unsigned char c : data) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

/// One deflate stream made of stored blocks.
std::string deflateStored(std::string_view data) {
  std::string stream;
  while (data.size() > 100) {
    stream += '\0' + little(100, 2) + little(~100u, 2) + std::string(data.substr(0, 100));
    data.remove_prefix(100);
  }
  return stream + '\1' + little(data.size(), 2) + little(~data.size(), 2) + std::string(data);
}

/// A member; what is set overrules what the content says.
struct Member {
  std::string name, content;
  uint16_t method = 0;
  std::optional<std::string> packed = {};
  std::optional<uint32_t> crc = {}, size = {}, packedSize = {};
  uint16_t flags = 0;
  bool zip64 = false; // the local header as NumPy writes it: sizes in an extra field
};

/// A zip archive, byte by byte.
std::string zip(const std::vector<Member>& members) {
  std::string archive, directory;
  for (const Member& member : members) {
    std::string packed =
        member.packed.value_or(member.method == 8 ? deflateStored(member.content) : member.content);
    uint32_t size = member.size.value_or(static_cast<uint32_t>(member.content.size()));
    uint32_t packedSize = member.packedSize.value_or(static_cast<uint32_t>(packed.size()));
    std::string method = little(member.flags, 2) + little(member.method, 2);
    std::string time = little(0, 2) + little(33, 2);
    std::string crc = little(member.crc.value_or(crc32(member.content)), 4);
    std::string sizes = little(packedSize, 4) + little(size, 4);
    std::string extra =
        member.zip64 ? little(1, 2) + little(16, 2) + little(size, 8) + little(packedSize, 8) : "";
    uint64_t offset = archive.size(), version = member.zip64 ? 45 : 20;
    archive += "PK\3\4" + little(version, 2) + method + time + crc +
               (member.zip64 ? std::string(8, '\xff') : sizes) + little(member.name.size(), 2) +
               little(extra.size(), 2) + member.name + extra + packed;
    directory += "PK\1\2" + little(version, 2) + little(version, 2) + method + time + crc + sizes +
                 little(member.name.size(), 2) + std::string(12, '\0') + little(offset, 4) +
                 member.name;
  }
  uint64_t start = archive.size(), n = members.size();
  return archive + directory + "PK\5\6" + std::string(4, '\0') + little(n, 2) + little(n, 2) +
         little(directory.size(), 4) + little(start, 4) + std::string(2, '\0');
}

const std::string twoFloats = npyOf("<f4", "(2,)", bytesOf<float>({1.5, -2}));

Result<std::vector<NamedArray>> readContent(std::string_view content, ReadLimits limits = {}) {
  Folder folder;
  return readNpz(folder.write("x.npz", content), limits);
}

std::string errorOf(Member member) { return textOfError(readContent(zip({std::move(member)}))); }

TEST(Npz, ReadsStoredAndDeflatedMembers) {
  auto arrays = readContent(zip({{"x_z.npy", twoFloats},
                                 {"a.npy", npyOf("<f8", "()", bytesOf<double>({7})), 8},
                                 {"big.npy", npyOf("<f4", "(9, 9)", std::string(324, '\0')), 8}}));
  ASSERT_TRUE(arrays) << arrays.error().text;
  ASSERT_EQ(arrays->size(), 3u);
  EXPECT_EQ((*arrays)[0].name, "x_z");
  EXPECT_EQ(valuesOf<float>((*arrays)[0].array), (std::vector<float>{1.5, -2}));
  EXPECT_EQ((*arrays)[1].name, "a");
  EXPECT_EQ(valuesOf<double>((*arrays)[1].array), std::vector<double>{7});
  EXPECT_EQ((*arrays)[2].array.shape, (std::vector<int64_t>{9, 9}));
}

TEST(Npz, ReadsLocalHeadersAsNumPyWritesThem) {
  Member member{"x.npy", twoFloats};
  member.zip64 = true;
  auto arrays = readContent(zip({member}));
  ASSERT_TRUE(arrays) << arrays.error().text;
  EXPECT_EQ(valuesOf<float>((*arrays)[0].array), (std::vector<float>{1.5, -2}));
}

TEST(Npz, GreekNames) {
  Member member{"\xcf\x83.npy", twoFloats};
  member.flags = 1 << 11; // the name is UTF-8
  auto arrays = readContent(zip({member}));
  ASSERT_TRUE(arrays) << arrays.error().text;
  EXPECT_EQ((*arrays)[0].name, "\xcf\x83");
}

TEST(Npz, RoundTrip) {
  Folder folder;
  std::vector<NamedArray> arrays;
  arrays.push_back({"h", arrayOf<float>({2, 3}, {1, 2, 3, 4, 5, 6})});
  arrays.push_back({"\xce\xb1", arrayOf<double>({}, {0.1})});
  arrays.push_back({"nothing", arrayOf<float>({4, 0}, {})});
  for (Compression compression : {Compression::Stored, Compression::Deflated}) {
    std::string path = folder.file("x.npz");
    ASSERT_TRUE(writeNpz(path, arrays, compression));
    auto again = readNpz(path);
    ASSERT_TRUE(again) << again.error().text;
    ASSERT_EQ(again->size(), arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ((*again)[i].name, arrays[i].name);
      expectSame((*again)[i].array, arrays[i].array);
    }
  }
}

TEST(Npz, TheSameArraysMakeTheSameFile) {
  Folder folder;
  std::vector<NamedArray> arrays;
  arrays.push_back({"h", arrayOf<float>({3}, {1, 2, 3})});
  ASSERT_TRUE(writeNpz(folder.file("a.npz"), arrays));
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  ::usleep(2100000); // more than the two seconds that a zip archive's clock resolves
  ASSERT_TRUE(writeNpz(folder.file("b.npz"), arrays));
  ::unsetenv("TZ");
  EXPECT_EQ(Folder::read(folder.file("a.npz")), Folder::read(folder.file("b.npz")));
}

TEST(Npz, ReplacesWhatIsThere) {
  Folder folder;
  std::string path = folder.write("x.npz", "no archive at all");
  std::vector<NamedArray> arrays;
  arrays.push_back({"h", arrayOf<float>({1}, {1})});
  ASSERT_TRUE(writeNpz(path, arrays));
  EXPECT_TRUE(readNpz(path));
}

TEST(Npz, RefusesToWriteWhatItWouldNotRead) {
  Folder folder;
  std::string path = folder.file("x.npz");
  std::vector<NamedArray> arrays(2, {"a", arrayOf<float>({1}, {1})});
  EXPECT_TRUE(contains(textOfError(writeNpz(path, arrays)), "member 'a.npy': two arrays"));
  arrays[1].name = "../a";
  EXPECT_TRUE(contains(textOfError(writeNpz(path, arrays)), "looks like a path"));
  arrays[1].name = "";
  EXPECT_TRUE(contains(textOfError(writeNpz(path, arrays)), "has no name"));
  EXPECT_TRUE(contains(textOfError(writeNpz(path, {})), "no arrays"));
  EXPECT_FALSE(std::filesystem::exists(path));
  arrays[1].name = "b";
  EXPECT_TRUE(
      contains(textOfError(writeNpz(folder.file("none/x.npz"), arrays)), "cannot be written"));
}

TEST(Npz, BadNames) {
  for (const char* name : {"/etc/passwd.npy", "../x.npy", "a/b.npy", "a\\b.npy", "folder/"})
    EXPECT_TRUE(contains(errorOf({name, twoFloats}), "looks like a path")) << name;
  EXPECT_TRUE(contains(errorOf({"..npy", twoFloats}), "looks like a path"));
  EXPECT_TRUE(contains(errorOf({"a\nb.npy", twoFloats}), "member 'a\\x0ab.npy': has a control"));
  EXPECT_TRUE(contains(errorOf({".npy", twoFloats}), "has no name"));
  EXPECT_TRUE(contains(errorOf({std::string(300, 'a') + ".npy", twoFloats}), "300 bytes"));
  EXPECT_TRUE(contains(errorOf({"readme.txt", "hello"}), "does not end in .npy"));
}

TEST(Npz, TwoArraysOfOneName) {
  auto arrays =
      readContent(zip({{"a.npy", twoFloats}, {"b.npy", twoFloats}, {"a.npy", twoFloats}}));
  EXPECT_TRUE(contains(textOfError(arrays), "x.npz: holds two arrays with the name 'a'"));
}

TEST(Npz, ErrorsNameFileAndMember) {
  std::string text = errorOf({"h.npy", npyOf("<f4", "(3,)", bytesOf<float>({1, 2}))});
  EXPECT_TRUE(contains(text, "x.npz, member 'h.npy': is cut short: shape (3,) needs 12 bytes"));
  EXPECT_TRUE(contains(errorOf({"h.npy", "no array"}), "member 'h.npy': is no .npy file"));
  EXPECT_TRUE(contains(errorOf({"h.npy", twoFloats + "!"}), "has 1 bytes after its array"));
}

TEST(Npz, SizesThatContradict) {
  // The directory promises more than can be packed into so few bytes: nothing is allocated.
  Member bomb{"h.npy", npyOf("<f4", "(1000000000,)", ""), 8};
  bomb.size = 4000000060;
  EXPECT_TRUE(contains(errorOf(bomb), "cannot have 4000000060 bytes"));
  Member stored{"h.npy", twoFloats};
  stored.size = static_cast<uint32_t>(twoFloats.size() + 8);
  EXPECT_TRUE(contains(errorOf(stored), "cannot have"));

  // Shape and directory agree, the stream ends early.
  Member promises{"h.npy", npyOf("<f4", "(1000,)", bytesOf<float>({1, 2})), 8};
  promises.size = static_cast<uint32_t>(promises.content.size() - 8 + 4000);
  EXPECT_TRUE(contains(errorOf(promises), "member 'h.npy': "));

  // Shape and directory agree, the stream goes on.
  Member goesOn{"h.npy", twoFloats + "more", 8};
  goesOn.size = static_cast<uint32_t>(twoFloats.size());
  goesOn.crc = crc32(twoFloats);
  EXPECT_TRUE(contains(errorOf(goesOn), "member 'h.npy': "));
}

TEST(Npz, DamagedMembers) {
  Member checksum{"h.npy", twoFloats};
  checksum.crc = 1;
  EXPECT_TRUE(contains(errorOf(checksum), "member 'h.npy': is damaged"));
  Member stream{"h.npy", twoFloats, 8};
  stream.packed = std::string(twoFloats.size(), '\xff');
  EXPECT_TRUE(contains(errorOf(stream), "member 'h.npy': is damaged"));
  Member method{"h.npy", twoFloats, 12};
  EXPECT_TRUE(contains(errorOf(method), "method 12; only stored and deflated"));
  Member encrypted{"h.npy", twoFloats};
  encrypted.flags = 1;
  EXPECT_TRUE(contains(errorOf(encrypted), "is encrypted"));
}

TEST(Npz, LimitHoldsForTheSum) {
  std::string content = zip({{"a.npy", twoFloats}, {"b.npy", twoFloats}, {"c.npy", twoFloats}});
  EXPECT_TRUE(readContent(content, ReadLimits{24}));
  std::string text = textOfError(readContent(content, ReadLimits{23}));
  EXPECT_TRUE(contains(text, "member 'c.npy': needs 8 bytes of memory, more than the limit of 7"));
  EXPECT_TRUE(contains(textOfError(readContent(content, ReadLimits{16})), "member 'c.npy'"));
}

TEST(Npz, WhatIsNoArchiveSaysSo) {
  Folder folder;
  EXPECT_TRUE(contains(textOfError(readNpz(folder.file("none.npz"))), "No such file"));
  EXPECT_TRUE(contains(textOfError(readNpz(folder.file(""))), "is a directory"));
  EXPECT_TRUE(contains(textOfError(readContent("")), "x.npz: is empty"));
  EXPECT_TRUE(contains(textOfError(readContent(twoFloats)), "is no intact .npz file"));
  EXPECT_TRUE(contains(textOfError(readContent(zip({{"a.npy", twoFloats}}) + "more")),
                       "is no intact .npz file"));
}

const std::string sample = zip({{"a.npy", twoFloats}, {"b.npy", twoFloats, 8}});

TEST(Npz, EveryTruncationIsAnError) {
  ASSERT_TRUE(readContent(sample));
  for (size_t length = 0; length < sample.size(); ++length)
    EXPECT_FALSE(readContent(sample.substr(0, length))) << length;
}

TEST(Npz, DamageIsAnErrorOrCorrectArrays) {
  Folder folder;
  for (size_t at = 0; at < sample.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = sample;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      auto arrays = readNpz(folder.write("x.npz", damaged));
      if (!arrays)
        continue;
      // The elements are guarded by a checksum; names and times may change unnoticed.
      for (const NamedArray& array : *arrays)
        EXPECT_EQ(valuesOf<float>(array.array), (std::vector<float>{1.5, -2})) << at << " " << bit;
    }
  }
}

} // namespace
