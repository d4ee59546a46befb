//===- LowerProduct.h - a stage that is one matrix product -----------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

namespace rnnc {

/// Where `stage` sets an array to a product of a sequence with a param, or to its sum with a param:
/// adds it to the newton.product over the same sequence in `into`, or makes one at the end.
/// False where the stage is something else.
bool lowerProduct(rnn::StageOp stage, mlir::Type compute, mlir::Block& into);

} // namespace rnnc
