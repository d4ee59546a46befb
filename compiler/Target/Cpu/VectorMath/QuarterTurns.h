//===- QuarterTurns.h - angles reduced to an eighth of a turn -------------===//
#pragma once

#include "Target/Cpu/VectorMath/Expr.h"

namespace rnnc::vecmath {

/// x = r + count pi/2 modulo a turn, |r| <= pi/4 and a little more. NaN for infinities.
struct QuarterTurns {
  Expr r;
  Expr count; // an integer of x's width; its two lowest bits count
};

/// For every x: by parts of pi/2 where x is not large, else, when any lane is large, by as many bits
/// of 1/(2 pi) as it takes.
QuarterTurns reduceAngle(Expr x);

} // namespace rnnc::vecmath
