//===- LowerDense.h - a large block becomes loops --------------------------------------------===//
#pragma once

#include "Transforms/Boundary.h"

namespace rnnc {

/// Builds the newton.dense_system of a group at the end of `into`, a newton.cell's body; failure
/// after a diagnostic. Values that are contracted, stretched, or needed by several loops get a
/// temporary; everything else is computed where it is used.
mlir::LogicalResult lowerDense(const Equations& equations, const StateGroup& group,
                               const LaneAxes& axes, mlir::Type compute, mlir::Block& into);

} // namespace rnnc
