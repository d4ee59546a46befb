//===- Reverse.h - reverse mode over one step ------------------------------------------------===//
#pragma once

#include "Implicit.h"

namespace rnnc {

/// Takes what a loss gains by each number of `memory` after a step back to what it gains by those
/// before it: `adjoint`, as long as the memory, has the first where the step writes (`next`), and
/// adds the second up where it reads (`now`, delayed inputs). `memory` is as the step left it.
/// Derivatives by an implicit step are those of its solution: (1 - G_u)^T m = adjoint of u, and
/// m goes into the equation. An adjoint of 0 passes nothing on, so that the infinite slope of a
/// branch that was not taken is none.
void reverseStep(const Interpreter::Program& program, const Numbers& memory, Numbers& adjoint);

} // namespace rnnc
