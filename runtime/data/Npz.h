// Several named arrays in a .npz file: a zip archive of .npy files, as NumPy writes it.
#pragma once

#include "data/Array.h"

namespace rnnc::data {

/// All arrays, in the order of the archive, named as in NumPy (the member without ".npy"). Members
/// may be stored or deflated. Not accepted: names that occur twice, that look like paths or hold
/// control characters; members that are encrypted, are no .npy file, or whose sizes contradict each
/// other. `limits` holds for the sum of all arrays.
Result<std::vector<NamedArray>> readNpz(const std::string& path, const ReadLimits& limits = {});

enum class Compression { Stored, Deflated };

/// The same arrays make the same file, bit for bit: members carry no time.
Status writeNpz(const std::string& path, std::span<const NamedArray> arrays,
                Compression compression = Compression::Stored);

} // namespace rnnc::data
