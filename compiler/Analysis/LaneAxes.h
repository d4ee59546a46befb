//===- LaneAxes.h - which axes of the states never meet --------------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

#include "llvm/ADT/DenseMap.h"

namespace rnnc {

/// States that depend on each other, directly or through an output that reads them, and how their
/// axes run. Such a group becomes one newton.system.
struct StateGroup {
  llvm::SmallVector<rnn::StateOp> states; // in the order of the file
  /// Declarations of the outputs and hoisted arrays that this group computes, in their order.
  llvm::SmallVector<mlir::Operation*> outputs;
  llvm::SmallVector<rnn::DimAttr> lanes; // the lane axes, in the order of the first state's axes
  /// For each state axis: the lane axis it runs with, or -1 where it belongs to the block.
  llvm::DenseMap<mlir::Operation*, llvm::SmallVector<int64_t>> axes;
  /// Why an axis of a state is not a lane axis: the op that couples it, where one does.
  struct Coupling {
    rnn::StateOp state;
    unsigned axis;
    mlir::Operation* by; // null: another state of the group has no such axis
  };
  llvm::SmallVector<Coupling> couplings;
  /// Of a stage that joins arrays: the lane axis of each axis of what it sets, or -1.
  llvm::SmallVector<int64_t> placed;
};

/// Finds lane axes by walking the definition of every new state (SOLVER.md section 6): element-wise
/// ops keep an axis apart, contractions couple it. Never changes the IR.
class LaneAxes {
public:
  explicit LaneAxes(rnn::CellOp cell) : LaneAxes(cell, [](mlir::Operation*) { return false; }) {}
  /// As if the ops that `ignore` names, and what is computed from them, were not there.
  LaneAxes(rnn::CellOp cell, llvm::function_ref<bool(mlir::Operation*)> ignore);

  llvm::ArrayRef<StateGroup> groups() const { return groups_; }
  /// The lane axis along each axis of a value that depends on a state, -1 where it is of the block.
  llvm::ArrayRef<int64_t> axesOf(mlir::Value value) const;
  /// The lane axis of each axis of an output, -1 for an axis of the block: where its value runs
  /// with a lane axis, or by the dim's name. False where the group cannot compute it lane by lane:
  /// lanes would share it, or `anyBlockAxis` is false and an axis of the block has a free size.
  bool place(mlir::Type output, mlir::Value value, const StateGroup& group, bool anyBlockAxis,
             llvm::SmallVectorImpl<int64_t>& laneOfAxis) const;
  bool dependsOnState(mlir::Value value) const { return values_.contains(value); }

private:
  std::vector<StateGroup> groups_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> values_;
};

/// Which axes of what a stage sets run along a joint (rnn.concat): these cannot be lane axes, since
/// what an element is read from depends on its place.
llvm::SmallVector<bool> joinedAxes(rnn::StageOp stage);

} // namespace rnnc
