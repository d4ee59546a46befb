//===- LowerComplex.h - complex arrays become pairs of real ones -----------------------------===//
#pragma once

#include "Rnn/Rnn.h"

namespace rnnc {

/// Makes every complex array of the cell a pair of real ones, its tensors real with one more axis
/// (rnnc/Complex.h).
void lowerComplex(rnn::CellOp cell);

} // namespace rnnc
