//===- LogParts.h - the logarithm taken apart ------------------------------------------------===//
#pragma once

#include "Target/Cpu/VectorMath/Expr.h"

namespace rnnc::vecmath {

/// u = m 2^k with m in [sqrt(1/2), sqrt(2)), for normal u > 0.
struct MantissaSplit {
  Expr biased; // k + the format's bias, an integer
  Expr m;
};
MantissaSplit splitMantissa(Expr u);

/// k as a float, less `more`.
Expr exponentOf(Expr biased, Expr more);

/// log(2^k (1 + f)) for f in [sqrt(1/2) - 1, sqrt(2) - 1].
Expr logOf(Expr k, Expr f);

} // namespace rnnc::vecmath
