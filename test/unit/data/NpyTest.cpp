#include "Files.h"

#include "data/Npy.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sys/stat.h>

using namespace rnnc::data;
using namespace rnnc::data::test;

namespace {

Result<HostArray> readContent(std::string_view content, ReadLimits limits = {}) {
  Folder folder;
  return readNpy(folder.write("x.npy", content), limits);
}

TEST(Npy, WritesWhatNumPyWrites) {
  Folder folder;
  std::string path = folder.file("x.npy");
  ASSERT_TRUE(writeNpy(path, arrayOf<float>({3}, {1, 2, 3})));
  std::string expected("\x93NUMPY\x01\x00v\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  expected.resize(127, ' ');
  expected += "\n" + bytesOf<float>({1, 2, 3});
  EXPECT_EQ(Folder::read(path), expected);
}

TEST(Npy, RoundTripKeepsEveryBit) {
  Folder folder;
  std::string path = folder.file("x.npy");
  float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (const HostArray& array :
       {arrayOf<float>({}, {7}), arrayOf<float>({0}, {}), arrayOf<float>({2, 0, 5}, {}),
        arrayOf<float>({2, 3}, {nan, -nan, inf, -inf, -0.f, 1e-45f}),
        arrayOf<double>({1, 2, 1, 2}, {5e-324, -0., 1e308, 0.1})}) {
    ASSERT_TRUE(writeNpy(path, array));
    Result<HostArray> again = readNpy(path);
    ASSERT_TRUE(again) << again.error().text;
    expectSame(*again, array);
  }
}

TEST(Npy, ConvertsOtherTypes) {
  auto read = [](std::string_view descr, std::string_view payload) {
    Result<HostArray> array = readContent(npyOf(descr, "(2,)", payload));
    EXPECT_TRUE(array) << array.error().text;
    return array ? std::move(*array) : HostArray{};
  };
  using F = std::vector<float>;
  using D = std::vector<double>;
  EXPECT_EQ(valuesOf<float>(read("|b1", bytesOf<uint8_t>({0, 2}))), (F{0, 1}));
  EXPECT_EQ(valuesOf<float>(read("|i1", bytesOf<int8_t>({-128, 127}))), (F{-128, 127}));
  EXPECT_EQ(valuesOf<float>(read("|u1", bytesOf<uint8_t>({0, 255}))), (F{0, 255}));
  EXPECT_EQ(valuesOf<float>(read("<i2", bytesOf<int16_t>({-32768, 5}))), (F{-32768, 5}));
  EXPECT_EQ(valuesOf<float>(read("<u2", bytesOf<uint16_t>({65535, 5}))), (F{65535, 5}));
  EXPECT_EQ(valuesOf<double>(read("<i4", bytesOf<int32_t>({INT32_MIN, 123456789}))),
            (D{-2147483648., 123456789}));
  EXPECT_EQ(valuesOf<double>(read("<u4", bytesOf<uint32_t>({UINT32_MAX, 0}))), (D{4294967295., 0}));
  EXPECT_EQ(valuesOf<double>(read("<i8", bytesOf<int64_t>({-(1LL << 53), 9}))), (D{-0x1p53, 9}));
  EXPECT_EQ(valuesOf<double>(read("=u8", bytesOf<uint64_t>({1ULL << 63, 9}))), (D{0x1p63, 9}));
}

TEST(Npy, HalvesAreExact) {
  std::string payload;
  for (uint32_t bits = 0; bits < 65536; ++bits)
    payload += little(bits, 2);
  Result<HostArray> array = readContent(npyOf("<f2", "(65536,)", payload));
  ASSERT_TRUE(array);
  std::vector<float> values = valuesOf<float>(*array);
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                      : std::ldexp(fraction, -24);
    float value = values[bits];
    ASSERT_EQ(std::signbit(value), bits >> 15 == 1) << bits;
    if (std::isnan(magnitude))
      ASSERT_TRUE(std::isnan(value)) << bits;
    else
      ASSERT_EQ(std::fabs(value), magnitude) << bits;
  }
}

TEST(Npy, FortranOrder) {
  Result<HostArray> matrix =
      readContent(npyOf("<f4", "(2, 3)", bytesOf<float>({1, 4, 2, 5, 3, 6}), true));
  ASSERT_TRUE(matrix);
  EXPECT_EQ(valuesOf<float>(*matrix), (std::vector<float>{1, 2, 3, 4, 5, 6}));

  // Element (i, j, k) of shape (2, 3, 4) is 100 i + 10 j + k.
  std::vector<int16_t> payload;
  std::vector<float> expected;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        payload.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        expected.push_back(static_cast<float>(100 * i + 10 * j + k));
  std::string_view bytes(reinterpret_cast<const char*>(payload.data()), payload.size() * 2);
  Result<HostArray> cube = readContent(npyOf("<i2", "(2, 3, 4)", bytes, true));
  ASSERT_TRUE(cube);
  EXPECT_EQ(valuesOf<float>(*cube), expected);

  Result<HostArray> empty = readContent(npyOf("<f8", "(3, 0, 2)", "", true));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->shape, (std::vector<int64_t>{3, 0, 2}));
}

TEST(Npy, ComplexNumbersArePairs) {
  Result<HostArray> wide =
      readContent(npyOf("<c16", "(2, 2)", bytesOf<double>({1, -1, 2, -2, 3, -3, 4, -4}), true));
  ASSERT_TRUE(wide) << wide.error().text;
  EXPECT_TRUE(wide->complex);
  EXPECT_EQ(wide->shape, (std::vector<int64_t>{2, 2, 2}));
  EXPECT_EQ(valuesOf<double>(*wide), (std::vector<double>{1, -1, 3, -3, 2, -2, 4, -4}));

  Folder folder;
  std::string path = folder.file("z.npy");
  HostArray array = arrayOf<float>({1, 2}, {0.5f, -0.f});
  array.complex = true;
  ASSERT_TRUE(writeNpy(path, array));
  EXPECT_NE(Folder::read(path).find("'<c8', 'fortran_order': False, 'shape': (1,)"),
            std::string::npos);
  Result<HostArray> again = readNpy(path);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_TRUE(again->complex);
  expectSame(*again, array);
  EXPECT_FALSE(readContent(npyOf("<c8", "(2,)", bytesOf<float>({1, 2, 3}))));
}

TEST(Npy, Versions) {
  std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n";
  for (char version : {'\x02', '\x03'}) {
    std::string content = std::string("\x93NUMPY") + version + '\0' + little(dictionary.size(), 4) +
                          dictionary + bytesOf<double>({0.25});
    Result<HostArray> array = readContent(content);
    ASSERT_TRUE(array) << array.error().text;
    EXPECT_EQ(valuesOf<double>(*array), std::vector<double>{0.25});
  }
  std::string later("\x93NUMPY\x04\x00\x00\x00", 10);
  EXPECT_TRUE(contains(textOfError(readContent(later)), "has version 4.0"));
}

TEST(Npy, HeadersOfOtherWriters) {
  for (std::string_view dictionary :
       {"{'shape': (2,), 'fortran_order': False, 'descr': '<f4'}",
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
        "{ 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2L , ) , }   ",
        "{'descr': '=f4', 'fortran_order': True, 'shape': (2, ), }"}) {
    Result<HostArray> array = readContent(npy(dictionary, bytesOf<float>({1, 2})));
    ASSERT_TRUE(array) << dictionary << array.error().text;
    EXPECT_EQ(valuesOf<float>(*array), (std::vector<float>{1, 2}));
  }
}

// Mapped like a .safetensors file's; one whose elements are not aligned, or turned, is read.
TEST(Npy, LargeArrays) {
  Folder folder;
  std::string payload(2 << 20, '\0');
  for (size_t i = 0; i < payload.size(); i += 4)
    payload[i + 1] = static_cast<char>(i >> 12);
  for (bool fortran : {false, true})
    for (size_t padding = 0; padding < 4; ++padding) {
      std::string shape = "(512, 1024)" + std::string(padding, ' ');
      std::string path = folder.write("x.npy", npyOf("<f4", shape, payload, fortran));
      auto array = readNpy(path);
      ASSERT_TRUE(array) << array.error().text;
      auto values = array->values<uint32_t>();
      for (size_t i = 0; i < values.size(); ++i) {
        size_t at = fortran ? i % 1024 * 512 + i / 1024 : i;
        uint32_t expected;
        std::memcpy(&expected, payload.data() + 4 * at, 4);
        ASSERT_EQ(values[i], expected) << i;
      }
    }
}

struct BadDictionary {
  std::string_view dictionary, message;
};

TEST(Npy, BadHeadersSayWhatIsWrong) {
  for (const BadDictionary& bad : {
           BadDictionary{"", "'{' is missing"},
           {"{", "a quoted word is missing"},
           {"{'descr", "a quote is not closed"},
           {"{'descr'", "':' is missing"},
           {"{}", "lacks one of 'descr'"},
           {"{'descr': '<f4', 'shape': (2,)}", "lacks one of 'descr'"},
           {"{'descr': '<f4' 'shape': (2,)}", "a comma or '}' is missing"},
           {"{'descr': '<f4', 'descr': '<f4', 'shape': (2,)}", "'descr' twice"},
           {"{'descr': '<f4', 'colour': 3}", "unknown key 'colour'"},
           {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}",
            "big-endian ('>f4'); save array.astype('<f4')"},
           {"{'descr': '<c4', 'fortran_order': False, 'shape': (2,)}", "type '<c4'"},
           {"{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "type '|O'"},
           {"{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}", "type '|f4'"},
           {"{'descr': '', 'fortran_order': False, 'shape': (2,)}", "type ''"},
           {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "records"},
           {"{'descr': '<f4', 'fortran_order': Perhaps, 'shape': (2,)}", "neither True nor False"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "'(' is missing"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "not a tuple"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "not a tuple"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.5,)}", "not a tuple"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", "not a tuple"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "negative size, -2"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "63 bits"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} and more", "goes on after"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 8)}",
            "63 bits"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}",
            "is cut short: shape (1000000000000,) needs 4000000000000 bytes"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
            "has 4 bytes after its array"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "is cut short"},
       }) {
    std::string text = textOfError(readContent(npy(bad.dictionary, bytesOf<float>({1, 2}))));
    EXPECT_TRUE(contains(text, bad.message)) << bad.dictionary;
    EXPECT_TRUE(contains(text, "x.npy: "));
  }
}

TEST(Npy, TooManyDimensions) {
  std::string shape = "(";
  for (int i = 0; i < 33; ++i)
    shape += "1, ";
  EXPECT_TRUE(contains(textOfError(readContent(npyOf("<f4", shape + ")", "1234"))),
                       "more than 32 dimensions"));
}

TEST(Npy, LongHeadersAreRefused) {
  std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}";
  dictionary.resize(70000, ' ');
  std::string content =
      std::string("\x93NUMPY\x02\x00", 8) + little(dictionary.size(), 4) + dictionary + "1234";
  EXPECT_TRUE(contains(textOfError(readContent(content)), "a header of 70000 bytes"));
  content.replace(8, 4, little(0xffffffff, 4));
  EXPECT_TRUE(contains(textOfError(readContent(content)), "ends within its header"));
}

TEST(Npy, MemoryLimit) {
  std::string content = npyOf("<f4", "(4,)", bytesOf<float>({1, 2, 3, 4}));
  EXPECT_TRUE(readContent(content, ReadLimits{16}));
  EXPECT_TRUE(contains(textOfError(readContent(content, ReadLimits{15})),
                       "needs 16 bytes of memory, more than the limit of 15"));
  // Integers widen: 4 bytes in the file, 8 in memory.
  std::string integers = npyOf("<i4", "(4,)", bytesOf<int32_t>({1, 2, 3, 4}));
  EXPECT_TRUE(contains(textOfError(readContent(integers, ReadLimits{31})), "needs 32 bytes"));
}

TEST(Npy, WhatIsNoFileSaysSo) {
  Folder folder;
  EXPECT_TRUE(contains(textOfError(readNpy(folder.file("none.npy"))), "No such file"));
  EXPECT_TRUE(contains(textOfError(readNpy(folder.file(""))), "is a directory"));
  EXPECT_TRUE(contains(textOfError(readNpy("/dev/zero")), "is a device or a pipe"));
  ASSERT_EQ(::mkfifo(folder.file("pipe.npy").c_str(), 0600), 0);
  EXPECT_TRUE(contains(textOfError(readNpy(folder.file("pipe.npy"))), "is a device or a pipe"));
  EXPECT_TRUE(contains(textOfError(readContent("")), "0 bytes are too few"));
  EXPECT_TRUE(contains(textOfError(readContent("PK\x03\x04 and so on")), "does not begin with"));
  Result<HostArray> brain = convert(arrayOf<float>({1}, {1}), DType::BF16);
  ASSERT_TRUE(brain);
  EXPECT_TRUE(contains(textOfError(writeNpy(folder.file("x.npy"), *brain)),
                       "NumPy has no bf16; convert it to f32"));
  EXPECT_TRUE(contains(textOfError(writeNpy(folder.file("none/x.npy"), HostArray{})),
                       "cannot be written: No such file"));
  // A full disk is reported although the bytes fit into the stream's buffer.
  EXPECT_TRUE(contains(textOfError(writeNpy("/dev/full", arrayOf<float>({1}, {1}))),
                       "cannot be written: No space"));
}

TEST(Npy, EveryTruncationIsAnError) {
  for (const std::string& content : {npyOf("<f4", "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6})),
                                     npyOf("<i8", "(2,)", bytesOf<int64_t>({1, 2}), true)}) {
    ASSERT_TRUE(readContent(content));
    for (size_t length = 0; length < content.size(); ++length)
      EXPECT_FALSE(readContent(content.substr(0, length))) << length;
  }
}

TEST(Npy, DamageIsAnErrorOrAnArray) {
  std::string content = npyOf("<f4", "(2, 3)", bytesOf<float>({1, 2, 3, 4, 5, 6}), true);
  for (size_t at = 0; at < content.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = content;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      Result<HostArray> array = readContent(damaged);
      EXPECT_TRUE(!array || isSound(*array)) << at << " " << bit;
    }
  }
}

} // namespace
