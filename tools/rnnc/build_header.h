// rnnc build for C and C++: the header beside an object file.
#pragma once

#include "options.h"

#include "rnn/module.h"

#include <string>

namespace rnnc::tool {

/// Declares the cell's bundle, its arrays by name and its calls with them. The names are the
/// file's, with an underscore where C or C++ would take them for something else.
std::string headerText(const Options& options, const rnn_module_table& table);

} // namespace rnnc::tool
