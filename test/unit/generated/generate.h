//===- generate.h - random cells that are well typed and stable by construction ---------------===//
#pragma once

#include "program.h"

namespace rnnc::generated {

/// Program `index` of a seed: the same text, sizes and numbers on every machine.
Program generate(uint64_t seed, uint64_t index);

} // namespace rnnc::generated
