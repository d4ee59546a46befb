//===- shrink.h - the smallest program that fails in the same way -----------------------------===//
#pragma once

#include "trial.h"

namespace rnnc::generated {

/// Cuts the program down while the same check fails; `failure` becomes that of the result.
void shrink(Program& program, Failure& failure);

} // namespace rnnc::generated
