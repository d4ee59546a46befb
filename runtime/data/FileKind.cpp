#include "data/FileKind.h"

#include "data/ByteSource.h"

#include <algorithm>
#include <fmt/format.h>

namespace rnnc::data {

Result<FileKind> fileKind(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  size_t dot = name.find_last_of('.');
  std::string suffix(dot == std::string_view::npos ? "" : name.substr(dot));
  std::ranges::transform(suffix, suffix.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  if (suffix == ".npy")
    return FileKind::Npy;
  if (suffix == ".npz")
    return FileKind::Npz;
  if (suffix == ".safetensors")
    return FileKind::Safetensors;
  if (suffix == ".wav")
    return FileKind::Wav;
  if (suffix == ".flac")
    return FileKind::Flac;
  return Error{fmt::format("{}: what it holds is told by its suffix, and '{}' is none of .npy, "
                           ".npz, .safetensors, .wav and .flac",
                           printable(path), printable(suffix))};
}

} // namespace rnnc::data
