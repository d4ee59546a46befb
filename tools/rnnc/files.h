// Text files that the tool writes.
#pragma once

#include "console.h"

namespace rnnc::tool {

/// Writes beside the file first and renames, so that no half of a file is ever seen.
int writeText(const Console& console, const std::string& path, const std::string& text);

} // namespace rnnc::tool
