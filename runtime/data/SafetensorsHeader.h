// The header of a .safetensors file.
#pragma once

#include "data/Elements.h"

#include <string_view>

namespace rnnc::data {

struct SafetensorsEntry {
  std::string name;
  FileType type = FileType::F32;
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0; ///< of its bytes, after the header
};

/// `text` is the JSON; `payload` the bytes that follow it. The entries come back by where their
/// bytes are, and cover the payload. The error has no place in it yet.
Result<std::vector<SafetensorsEntry>> parseSafetensorsHeader(std::string_view text,
                                                             int64_t payload);

/// The length, the JSON, and spaces up to a multiple of 8 bytes. Arrays one behind the other.
Result<std::string> safetensorsHeader(std::span<const NamedArray> arrays);

} // namespace rnnc::data
