// The kind of a file of arrays, by its name.
#pragma once

#include "data/Result.h"

#include <string_view>

namespace rnnc::data {

enum class FileKind { Npy, Npz, Safetensors, Wav, Flac };

/// By the suffix, in any case: .npy, .npz, .safetensors, .wav, .flac.
Result<FileKind> fileKind(std::string_view path);

/// Whether such a file holds several arrays by name.
constexpr bool holdsNames(FileKind kind) {
  return kind == FileKind::Npz || kind == FileKind::Safetensors;
}

} // namespace rnnc::data
