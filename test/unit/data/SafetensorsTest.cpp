#include "Files.h"

#include "data/Safetensors.h"

#include <cmath>
#include <limits>

using namespace rnnc::data;
using namespace rnnc::data::test;

namespace {

std::string fileOf(std::string_view json, std::string_view payload) {
  return little(json.size(), 8) + std::string(json) + std::string(payload);
}

Result<std::vector<NamedArray>> readContent(std::string_view content, ReadLimits limits = {}) {
  Folder folder;
  return readSafetensors(folder.write("x.safetensors", content), limits);
}

/// One array 'a' of one type.
HostArray readOne(std::string_view type, std::string_view shape, std::string_view payload) {
  std::string json = "{\"a\":{\"dtype\":\"" + std::string(type) +
                     "\",\"shape\":" + std::string(shape) + ",\"data_offsets\":[0," +
                     std::to_string(payload.size()) + "]}}";
  auto arrays = readContent(fileOf(json, payload));
  EXPECT_TRUE(arrays) << arrays.error().text;
  return arrays && arrays->size() == 1 ? std::move(arrays->front().array) : HostArray{};
}

TEST(Safetensors, WritesWhatTheFormatSays) {
  Folder folder;
  std::string path = folder.file("x.safetensors");
  std::vector<NamedArray> arrays;
  arrays.push_back({"w\"1", arrayOf<float>({2, 1}, {1, -2})});
  arrays.push_back({"b", arrayOf<double>({}, {0.5})});
  ASSERT_TRUE(writeSafetensors(path, arrays));
  std::string json = R"({"w\"1":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                     R"("b":{"dtype":"F64","shape":[],"data_offsets":[8,16]}})";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(Folder::read(path), fileOf(json, bytesOf<float>({1, -2}) + bytesOf<double>({0.5})));
}

TEST(Safetensors, RoundTripKeepsEveryBit) {
  Folder folder;
  std::string path = folder.file("x.safetensors");
  float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  std::vector<NamedArray> arrays;
  arrays.push_back({"scalar", arrayOf<float>({}, {7})});
  arrays.push_back({"none", arrayOf<float>({2, 0, 5}, {})});
  arrays.push_back({"none.either", arrayOf<double>({0}, {})});
  arrays.push_back(
      {"layers/0.weight", arrayOf<float>({2, 3}, {nan, -nan, inf, -inf, -0.f, 1e-45f})});
  arrays.push_back({"wide", arrayOf<double>({1, 2, 1, 2}, {5e-324, -0., 1e308, 0.1})});
  arrays.push_back({"complex", arrayOf<float>({3, 2}, {1, 2, 3, 4, 5, 6})});
  arrays.back().array.complex = true;
  ASSERT_TRUE(writeSafetensors(path, arrays));
  auto again = readSafetensors(path);
  ASSERT_TRUE(again) << again.error().text;
  ASSERT_EQ(again->size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ((*again)[i].name, arrays[i].name);
    EXPECT_EQ((*again)[i].array.complex, arrays[i].array.complex);
    expectSame((*again)[i].array, arrays[i].array);
  }
}

TEST(Safetensors, ConvertsOtherTypes) {
  using F = std::vector<float>;
  using D = std::vector<double>;
  EXPECT_EQ(valuesOf<float>(readOne("BOOL", "[2]", bytesOf<uint8_t>({0, 1}))), (F{0, 1}));
  EXPECT_EQ(valuesOf<float>(readOne("I8", "[2]", bytesOf<int8_t>({-128, 127}))), (F{-128, 127}));
  EXPECT_EQ(valuesOf<float>(readOne("U8", "[1,2]", bytesOf<uint8_t>({0, 255}))), (F{0, 255}));
  EXPECT_EQ(valuesOf<float>(readOne("I16", "[2]", bytesOf<int16_t>({-32768, 5}))), (F{-32768, 5}));
  EXPECT_EQ(valuesOf<float>(readOne("U16", "[1]", bytesOf<uint16_t>({65535}))), (F{65535}));
  EXPECT_EQ(valuesOf<double>(readOne("I32", "[1]", bytesOf<int32_t>({INT32_MIN}))),
            (D{-2147483648.}));
  EXPECT_EQ(valuesOf<double>(readOne("U32", "[1]", bytesOf<uint32_t>({UINT32_MAX}))),
            (D{4294967295.}));
  EXPECT_EQ(valuesOf<double>(readOne("I64", "[1]", bytesOf<int64_t>({-5}))), (D{-5}));
  EXPECT_EQ(valuesOf<double>(readOne("U64", "[1]", bytesOf<uint64_t>({1ull << 53}))),
            (D{9007199254740992.}));
  // 1, -2, the largest below 1, the least above 0, infinity
  EXPECT_EQ(valuesOf<float>(
                readOne("F16", "[5]", bytesOf<uint16_t>({0x3c00, 0xc000, 0x3bff, 0x0001, 0x7c00}))),
            (F{1, -2, 0x1.ffcp-1f, 0x1p-24f, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(valuesOf<float>(readOne("BF16", "[5]",
                                    bytesOf<uint16_t>({0x3f80, 0xc000, 0x3f7f, 0x0001, 0x7f80}))),
            (F{1, -2, 0x1.fep-1f, 0x1p-133f, std::numeric_limits<float>::infinity()}));
  HostArray complex = readOne("C64", "[1]", bytesOf<float>({1, 2}));
  EXPECT_TRUE(complex.complex);
  EXPECT_EQ(complex.shape, (std::vector<int64_t>{1, 2}));
}

// Metadata is skipped, the order in the header does not matter, spaces at its end neither.
TEST(Safetensors, TakesWhatTheFormatAllows) {
  auto arrays = readContent(fileOf(
      R"({"__metadata__":{"format":"pt","x":""}, "b":{"data_offsets":[4,8],"shape":[1],"dtype":"F32"},)"
      R"("a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}    )",
      bytesOf<float>({1, 2})));
  ASSERT_TRUE(arrays) << arrays.error().text;
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_EQ((*arrays)[0].name, "a");
  EXPECT_EQ(valuesOf<float>((*arrays)[1].array), std::vector<float>{2});
  auto empty = readContent(fileOf("{}", ""));
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->empty());
}

struct Bad {
  const char* name;
  std::string content;
  const char* text;
};

std::string header(std::string_view json) { return fileOf(json, bytesOf<float>({1, 2})); }

/// An array 'a' of two f32 with other members.
std::string with(std::string_view type, std::string_view shape, std::string_view offsets) {
  return header("{\"a\":{\"dtype\":" + std::string(type) + ",\"shape\":" + std::string(shape) +
                ",\"data_offsets\":" + std::string(offsets) + "}}");
}

const Bad badFiles[] = {
    {"empty", "", "0 bytes are too few"},
    {"seven bytes", "\x01\0\0\0\0\0\0", "bytes are too few"},
    {"no header", little(2, 8), "ends within its header"},
    {"short header", little(100, 8) + "{}", "ends within its header"},
    {"huge length", little(UINT64_MAX, 8) + "{}", "would have 18446744073709551615 bytes"},
    {"negative length", little(1ull << 63, 8) + "{}", "would have 9223372036854775808 bytes"},
    {"above 100 MB", little(100000001, 8) + "{}", "at most 100000000 are supported"},
    {"length 0", little(0, 8), "does not begin with '{'"},
    {"space first", header(" {}"), "does not begin with '{'"},
    {"a list", header("[]"), "does not begin with '{'"},
    {"broken JSON", header("{\"a\""), "is no JSON"},
    {"two values", header("{}{}"), "is no JSON"},
    {"comma at the end", header("{\"a\":{},}"), "lacks one of dtype, shape and data_offsets"},
    {"not UTF-8", header("{\"\xff\":{}}"), "is no JSON"},
    {"NUL in the JSON", header(std::string_view("{\0}", 3)), "is no JSON"},
    {"no name", header("{\"\":{}}"), "an array without a name"},
    {"control character", header("{\"a\\u0007\":{}}"), "control character"},
    {"long name", header("{\"" + std::string(1025, 'n') + "\":{}}"), "a name of 1025 bytes"},
    {"array is a number", header("{\"a\":1}"), "array 'a' is a number"},
    {"array is a list", header("{\"a\":[]}"), "array 'a' is a list"},
    {"array is null", header("{\"a\":null}"), "array 'a' is null"},
    {"metadata of numbers", header("{\"__metadata__\":{\"a\":1}}"), "only texts are allowed"},
    {"metadata of objects", header("{\"__metadata__\":{\"a\":{}}}"), "only texts are allowed"},
    {"metadata is a text", header("{\"__metadata__\":\"a\"}"), "is a text, not an object"},
    {"no dtype", header("{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}"), "lacks one of"},
    {"no shape", header("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}"), "lacks one of"},
    {"no offsets", header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}"), "lacks one of"},
    {"two shapes",
     header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"shape\":[2],\"data_offsets\":[0,8]}}"),
     "two members shape"},
    {"unknown member", header("{\"a\":{\"stride\":[1]}}"), "a member 'stride'"},
    {"unknown dtype", with("\"F8_E4M3\"", "[2]", "[0,8]"), "type 'F8_E4M3'"},
    {"dtype is a number", with("32", "[2]", "[0,8]"), "has a number as its dtype"},
    {"dtype is an object", with("{}", "[2]", "[0,8]"), "has an object as its dtype"},
    {"shape is a number", with("\"F32\"", "2", "[0,8]"), "has a number as its shape"},
    {"shape of texts", with("\"F32\"", "[\"2\"]", "[0,8]"), "has a text as its shape"},
    {"shape of lists", with("\"F32\"", "[[2]]", "[0,8]"), "has a list as its shape"},
    {"negative size", with("\"F32\"", "[-2]", "[0,8]"), "a negative number, -2, in its shape"},
    {"broken size", with("\"F32\"", "[2.0]", "[0,8]"), "a broken number as its shape"},
    {"size of 2^63", with("\"F32\"", "[9223372036854775808]", "[0,8]"),
     "does not fit into 63 bits"},
    {"size of 2^64", with("\"F32\"", "[18446744073709551616]", "[0,8]"), "a broken number"},
    {"overflowing shape", with("\"F32\"", "[4294967296,4294967296]", "[0,8]"),
     "more bytes than 63 bits can count"},
    {"33 dimensions",
     with("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]",
          "[0,8]"),
     "more than 32 dimensions"},
    {"one offset", with("\"F32\"", "[2]", "[8]"), "has 1 data_offsets, not two"},
    {"three offsets", with("\"F32\"", "[2]", "[0,8,8]"), "has 3 data_offsets, not two"},
    {"offsets turned", with("\"F32\"", "[2]", "[8,0]"), "has the bytes 8 to 0 of 8"},
    {"offsets past the end", with("\"F32\"", "[3]", "[0,12]"), "has the bytes 0 to 12 of 8"},
    {"fewer bytes than the shape", with("\"F32\"", "[3]", "[0,8]"),
     "has 8 bytes, and its shape (3,)"},
    {"more bytes than the shape", with("\"F32\"", "[1]", "[0,8]"),
     "has 8 bytes, and its shape (1,)"},
    {"bytes in front", with("\"F32\"", "[1]", "[4,8]"), "4 bytes in front of array 'a'"},
    {"bytes at the end", with("\"F32\"", "[1]", "[0,4]"), "4 bytes at its end belong to no array"},
    {"no arrays but bytes", header("{}"), "8 bytes at its end belong to no array"},
    {"two of one name",
     header("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
            "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}"),
     "two arrays with the name 'a'"},
    {"overlap",
     header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}"),
     "array 'b' overlaps another array"},
    {"the same bytes twice",
     header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
            "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"),
     "overlaps another array"},
};

/// Whether part of the file is in this process's memory.
bool isMapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(std::filesystem::path(path).filename()) != std::string::npos)
      return true;
  return false;
}

// A large array that needs no conversion stays in its file.
TEST(Safetensors, LargeArraysAreMapped) {
  Folder folder;
  std::string path = folder.file("mapped_weights.safetensors");
  std::vector<float> values(1 << 19);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  std::vector<NamedArray> arrays;
  arrays.push_back({"first", arrayOf<double>({1}, {0.5})});
  arrays.push_back({"large", arrayOf<float>({2, 1 << 18}, values)});
  arrays.push_back({"last", arrayOf<float>({1}, {7})});
  ASSERT_TRUE(writeSafetensors(path, arrays));
  const std::string content = Folder::read(path);
  HostArray copy;
  {
    auto again = readSafetensors(path);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_TRUE(isMapped(path));
    for (size_t i = 0; i < arrays.size(); ++i)
      expectSame((*again)[i].array, arrays[i].array);
    // What is written stays here; a copy, or more room, is memory of its own.
    HostArray& large = (*again)[1].array;
    copy = large;
    HostArray moved = std::move(large);
    moved.values<float>()[3] = -1;
    EXPECT_EQ(copy.values<float>()[3], 3);
    moved.bytes.resize(moved.bytes.size() + 4);
    EXPECT_EQ(moved.values<float>()[3], -1);
    EXPECT_EQ(moved.values<float>()[values.size() - 1], values.back());
    // The file is written anew while it is mapped.
    ASSERT_TRUE(writeSafetensors(path, std::span(arrays).first(1)));
    EXPECT_EQ((*again)[2].array.values<float>()[0], 7);
  }
  EXPECT_FALSE(isMapped(path));
  expectSame(copy, arrays[1].array);
  EXPECT_NE(Folder::read(path), content);
}

TEST(Safetensors, BadFilesGiveOneClearError) {
  for (const Bad& bad : badFiles) {
    auto arrays = readContent(bad.content);
    ASSERT_FALSE(arrays) << bad.name;
    EXPECT_TRUE(contains(arrays.error().text, bad.text)) << bad.name;
    EXPECT_TRUE(contains(arrays.error().text, "x.safetensors: ")) << bad.name;
    EXPECT_LT(arrays.error().text.size(), 400u) << bad.name;
  }
}

TEST(Safetensors, TruncatedAnywhereIsAnError) {
  std::string whole = with("\"F32\"", "[2]", "[0,8]");
  ASSERT_TRUE(readContent(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(readContent(whole.substr(0, size))) << size;
}

// A damaged file may still be one, but never one that does not hold together.
TEST(Safetensors, EveryBitDamaged) {
  std::string whole = with("\"F32\"", "[2]", "[0,8]");
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] ^= static_cast<char>(1 << bit);
      if (auto arrays = readContent(damaged))
        for (const NamedArray& named : *arrays)
          EXPECT_TRUE(isSound(named.array));
    }
}

TEST(Safetensors, MemoryIsLimitedForTheSum) {
  std::string file = header("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                            "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}");
  EXPECT_TRUE(readContent(file, {8}));
  EXPECT_TRUE(contains(textOfError(readContent(file, {7})), "the limit of 7 bytes"));
  // Bytes in the file become eight times as many in memory.
  EXPECT_TRUE(contains(textOfError(readContent(with("\"I64\"", "[1]", "[0,8]"), {7})), "limit"));
}

TEST(Safetensors, DeepJsonIsRefusedAtOnce) {
  EXPECT_TRUE(contains(textOfError(readContent(header("{\"a\":" + std::string(5000000, '[')))),
                       "array 'a' is a list"));
}

TEST(Safetensors, WhatCannotBeWritten) {
  Folder folder;
  auto error = [&](std::string name, HostArray array, bool twice = false) {
    std::vector<NamedArray> arrays;
    arrays.push_back({name, array});
    if (twice)
      arrays.push_back({name, array});
    return textOfError(writeSafetensors(folder.file("x.safetensors"), arrays));
  };
  EXPECT_TRUE(contains(error("", arrayOf<float>({}, {1})), "without a name"));
  EXPECT_TRUE(contains(error("__metadata__", arrayOf<float>({}, {1})), "an array called"));
  EXPECT_TRUE(contains(error("a", arrayOf<float>({}, {1}), true), "two arrays called 'a'"));
  EXPECT_TRUE(contains(error("\xff", arrayOf<float>({}, {1})), "no UTF-8"));
  HostArray wide = arrayOf<double>({1, 2}, {1, 2});
  wide.complex = true;
  EXPECT_TRUE(contains(error("z", wide), "no complex numbers of two f64"));
  EXPECT_TRUE(contains(textOfError(writeSafetensors(folder.file("no/x.safetensors"), {})),
                       "cannot be written"));
  EXPECT_FALSE(std::filesystem::exists(folder.file("x.safetensors")));
}

} // namespace
