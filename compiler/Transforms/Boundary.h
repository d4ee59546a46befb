//===- Boundary.h - what a cell's caller sees, in the Newton dialect -------------------------===//
#pragma once

#include "Analysis/LaneAxes.h"

namespace rnnc {

/// The tensors of the cell, in the order of the file.
void declareTensors(rnn::CellOp cell, mlir::Block& into);

/// The lane axis of each axis of an output, -1 for an axis of the block: where its value runs with
/// a lane axis, or by the dim's name. Failure after a diagnostic: an axis of the block has a free
/// size and `anyBlockAxis` is false, or lanes would share the output.
mlir::LogicalResult outputAxes(rnn::OutputOp output, mlir::Value value, const StateGroup& group,
                               const LaneAxes& axes, bool anyBlockAxis,
                               llvm::SmallVectorImpl<int64_t>& laneOfAxis);

} // namespace rnnc
