// Named arrays in a .safetensors file, as Hugging Face's library writes it: the length of a JSON
// header, the header, then the elements of all arrays without a gap.
//
// Files are not trusted. Nothing is allocated before every length, offset, name, type and shape has
// been found to fit the others, and the file.
#pragma once

#include "data/Array.h"

namespace rnnc::data {

/// All arrays, in the order of their elements. Read: floats of 16 (both kinds), 32 and 64 bits,
/// integers of 8 to 64 bits, bool, and complex numbers of two f32. Not accepted: names that occur
/// twice, are empty or hold control characters; elements that overlap, have gaps between them or
/// after them, or are more or fewer than their shape says; a header above 100 MB. `limits` holds
/// for the sum of all arrays.
Result<std::vector<NamedArray>> readSafetensors(const std::string& path,
                                                const ReadLimits& limits = {});

/// The same arrays make the same file, bit for bit. There is no type for complex numbers of two
/// f64.
Status writeSafetensors(const std::string& path, std::span<const NamedArray> arrays);

} // namespace rnnc::data
