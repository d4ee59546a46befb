// The header of a .npy file: a Python dictionary that describes one array.
#pragma once

#include "data/Array.h"

#include <string_view>

namespace rnnc::data {

/// What the elements are in the file. Reading gives f32 for F16, F32, Bool and integers of up to 16
/// bits (all exact), and f64 for the others (64-bit integers above 2^53 are rounded).
enum class FileType : uint8_t {
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  F32,
  F64,
  C64,
  C128
};

int64_t itemSize(FileType type);
DType readAs(FileType type);
constexpr bool isComplex(FileType type) { return type == FileType::C64 || type == FileType::C128; }

struct NpyHeader {
  FileType type = FileType::F32;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// `text` is the dictionary without magic, version and length. The error has no place in it yet.
Result<NpyHeader> parseNpyHeader(std::string_view text);

/// Magic, version, length and dictionary, padded to a multiple of 64 bytes, as NumPy writes them.
std::string npyHeader(const HostArray& array);

} // namespace rnnc::data
