//===- rewrite.h - the same cell in other words -----------------------------------------------===//
#pragma once

#include "program.h"
#include "random.h"

namespace rnnc::generated {

/// A cell that means the same, bit for bit: other names, declarations and equations in another
/// order, values and functions written in place.
struct Rewritten {
  Program program;
  std::map<std::string, std::string> original; // new name -> old
};
Rewritten sayOtherwise(const Program& program, Random& random);

} // namespace rnnc::generated
