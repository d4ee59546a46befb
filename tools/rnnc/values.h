// Values on the command line.
#pragma once

#include "options.h"

#include <string_view>

namespace rnnc::tool {

/// Empty where `text` is not exactly one value of the kind.
std::optional<int64_t> parseInteger(std::string_view text);
std::optional<uint64_t> parseUnsigned(std::string_view text);
std::optional<double> parseNumber(std::string_view text);
/// An integer with an optional KiB, MiB or GiB.
std::optional<int64_t> parseSize(std::string_view text);

/// Adds one NAME=VALUE. Returns what is wrong, empty where nothing is.
std::string addSize(std::string_view text, Sizes& to);
std::string addNumber(std::string_view text, Numbers& to);

} // namespace rnnc::tool
