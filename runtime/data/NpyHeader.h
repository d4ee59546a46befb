// The header of a .npy file: a Python dictionary that describes one array.
#pragma once

#include "data/Elements.h"

#include <string_view>

namespace rnnc::data {

struct NpyHeader {
  FileType type = FileType::F32;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

/// `text` is the dictionary without magic, version and length. The error has no place in it yet.
Result<NpyHeader> parseNpyHeader(std::string_view text);

/// Magic, version, length and dictionary, padded to a multiple of 64 bytes, as NumPy writes them.
Result<std::string> npyHeader(const HostArray& array);

} // namespace rnnc::data
