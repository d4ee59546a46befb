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

/// Reads an array of that shape and type, converted; complex ones get a last axis of size 2. A
/// large one that needs no conversion stays in its file, mapped: the file must not be cut while it
/// is used.
Result<HostArray> readArray(ByteSource& source, FileType type, std::vector<int64_t> shape);

} // namespace rnnc::data
