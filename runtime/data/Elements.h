// Elements of files, and what reading makes of them.
#pragma once

#include "data/Array.h"

namespace rnnc::data {

class ByteSource;

/// What the elements are in the file. Reading gives f32 for F16, BF16, F32, Bool and integers of up
/// to 16 bits (all exact), and f64 for the others (64-bit integers above 2^53 are rounded).
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
  BF16,
  F32,
  F64,
  C64,
  C128
};

int64_t itemSize(FileType type);
DType readAs(FileType type);
constexpr bool isComplex(FileType type) { return type == FileType::C64 || type == FileType::C128; }

/// An array of that shape for elements of that type; complex ones have a last axis of size 2.
Result<HostArray> allocateFor(FileType type, std::vector<int64_t> shape);

/// Reads all elements of an array that was allocated for them, converted.
Status readElements(ByteSource& source, FileType type, HostArray& array);

} // namespace rnnc::data
