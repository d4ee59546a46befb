//===- Complex.h - how a complex tensor looks at the boundary --------------------------------===//
#pragma once

#include <string_view>

namespace rnnc {

/// The name of the last axis of a complex tensor, of size 2: its real and its imaginary part. It is
/// a function's name in the language, so that no dim of a user has it.
inline constexpr std::string_view kComplexDim = "complex";

} // namespace rnnc
