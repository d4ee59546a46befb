//===- table_text.h - everything a table says, to be compared ---------------------------------===//
#pragma once

#include "rnn/module.h"

#include <string>

namespace rnnc {

/// A line for each member of each struct, but for kernels only whether they are there.
std::string tableText(const rnn_module_table& table);

} // namespace rnnc
