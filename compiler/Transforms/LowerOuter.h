//===- LowerOuter.h - a stage that sums the matrix that two sequences make ------------------===//
#pragma once

#include "Rnn/Rnn.h"

namespace rnnc {

/// Where `stage` sets what is summed over all steps, and each element of it is a sum of products of
/// two sequences whose axes are not all the same: adds a newton.outer for each of them at the end
/// of `into`. False where the stage is something else.
bool lowerOuter(rnn::StageOp stage, mlir::Type compute, mlir::Block& into);

} // namespace rnnc
