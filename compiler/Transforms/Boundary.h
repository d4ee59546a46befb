//===- Boundary.h - what a cell's caller sees, in the Newton dialect -------------------------===//
#pragma once

#include "Analysis/LaneAxes.h"
#include "Newton/Newton.h"

namespace rnnc {

/// On the declaration of an output that a stage sets: what it holds, for a reader.
constexpr llvm::StringLiteral kHoldsAttr = "rnn.holds";

/// The equations that become one system: the step of a cell, or one of its stages.
struct Equations {
  rnn::CellOp cell;
  mlir::Block* body;
  rnn::StageOp stage; // null: the step

  /// After the first state, or after what a stage sets.
  std::string name(const StateGroup& group) const;
  newton::PhaseAttr phase() const;
};

/// What becomes one system, of scalars or dense.
struct SystemSource {
  const Equations& equations;
  const StateGroup& group;
  const LaneAxes& axes;
  mlir::Type compute;
  rnn::CellOp cell = equations.cell;
  mlir::Block& step = *equations.body;
};

/// The tensors of the cell, in the order of the file.
void declareTensors(rnn::CellOp cell, mlir::Block& into);

/// LaneAxes::place for an output or a hoisted array of that type; failure after a diagnostic.
mlir::LogicalResult outputAxes(mlir::Operation* output, mlir::Type type, mlir::Value value,
                               const StateGroup& group, const LaneAxes& axes, bool anyBlockAxis,
                               llvm::SmallVectorImpl<int64_t>& laneOfAxis);

} // namespace rnnc
