// rnnc build for C and C++: the header beside an object file.
#pragma once

#include "options.h"

#include "rnn/rnn.h"

#include <string>

namespace rnnc::tool {

/// Declares the cell's bundle, its arrays by name and its calls with them. The names are the
/// file's, with an underscore where C or C++ would take them for something else.
std::string headerText(const Options& options, const rnn_signature& signature);

} // namespace rnnc::tool
