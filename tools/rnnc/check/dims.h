// What the interpreter wants bound of a cell, from what a module's table has.
#pragma once

#include "Rnn/Rnn.h"

#include <cstdint>
#include <map>
#include <string>

namespace rnnc::check {

/// Of the cell as it was written: the table has the parts of a complex number as one more dim, and
/// not those that nothing has.
inline std::map<std::string, int64_t> dimsOf(rnn::CellOp cell,
                                             const std::map<std::string, int64_t>& bound) {
  std::map<std::string, int64_t> dims;
  for (auto dim : cell.decls<rnn::DimDeclOp>()) {
    if (dim.getSize())
      continue;
    std::string name = dim.getSymName().str();
    const auto found = bound.find(name);
    dims[name] = found == bound.end() ? 1 : found->second;
  }
  return dims;
}

} // namespace rnnc::check
