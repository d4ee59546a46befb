// Files that the tests make themselves, byte by byte.
#pragma once

#include "data/Array.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

namespace rnnc::data::test {

/// A folder of its own for one test, removed at the end.
class Folder {
public:
  Folder() {
    std::string name = ::testing::TempDir() + "rnn_data_XXXXXX";
    path = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(std::string_view name) const { return (path / name).string(); }

  std::string write(std::string_view name, std::string_view content) const {
    std::string at = file(name);
    std::ofstream(at, std::ios::binary).write(content.data(), std::ssize(content));
    return at;
  }

  static std::string read(const std::string& at) {
    std::ifstream stream(at, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

private:
  std::filesystem::path path;
};

/// The low bytes of a number, little-endian.
inline std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

template <class T>
std::string bytesOf(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

/// A .npy file with that dictionary, in version 1.0, without padding.
inline std::string npy(std::string_view dictionary, std::string_view payload) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += little(dictionary.size() + 1, 2);
  text += dictionary;
  text += '\n';
  text += payload;
  return text;
}

inline std::string npyOf(std::string_view descr, std::string_view shape, std::string_view payload,
                         bool fortran = false) {
  std::string dictionary = "{'descr': '" + std::string(descr) +
                           "', 'fortran_order': " + (fortran ? "True" : "False") +
                           ", 'shape': " + std::string(shape) + "}";
  return npy(dictionary, payload);
}

template <class T>
HostArray arrayOf(std::vector<int64_t> shape, std::vector<T> values) {
  Result<HostArray> array =
      allocate(std::is_same_v<T, float> ? DType::F32 : DType::F64, std::move(shape));
  EXPECT_TRUE(array);
  EXPECT_EQ(array->elements(), std::ssize(values));
  std::ranges::copy(values, array->values<T>().begin());
  return std::move(*array);
}

inline void expectSame(const HostArray& a, const HostArray& b) {
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_TRUE(a.bytes == b.bytes);
}

template <class T>
std::vector<T> valuesOf(const HostArray& array) {
  EXPECT_EQ(array.dtype, (std::is_same_v<T, float> ? DType::F32 : DType::F64));
  auto values = array.values<T>();
  return {values.begin(), values.end()};
}

/// Whether an array holds together: a damaged file may still be one.
inline bool isSound(const HostArray& array) {
  Result<int64_t> bytes = byteCount(itemSize(array.dtype), array.shape);
  return bytes && *bytes == static_cast<int64_t>(array.bytes.size());
}

/// The error's text; fails the test where there is none.
template <class T>
std::string textOfError(const Result<T>& result) {
  EXPECT_FALSE(result);
  return result ? "" : result.error().text;
}

inline ::testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
}

} // namespace rnnc::data::test
