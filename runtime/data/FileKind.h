// The kind of a file of arrays, by its name.
#pragma once

#include "data/Result.h"

#include <string_view>

namespace rnnc::data {

enum class FileKind { Npy, Npz, Wav, Flac };

/// By the suffix, in any case: .npy, .npz, .wav, .flac.
Result<FileKind> fileKind(std::string_view path);

} // namespace rnnc::data
