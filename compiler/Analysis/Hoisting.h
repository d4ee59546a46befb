//===- Hoisting.h - what can leave the recurrence --------------------------------------------===//
#pragma once

#include "Analysis/LaneAxes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace rnnc {

/// Elements that a contraction inside the step may run over. A longer one costs more than writing
/// its result once and reading it back: two numbers moved take about as long as so many
/// multiply-adds.
constexpr int64_t kFusedContraction = 8;

/// States a lane up to which a block is unrolled into scalars; a larger one is made of loops.
constexpr int64_t kUnrolledStates = 16;

/// Scalar states a lane; -1 where a size of the block is bound by the caller.
int64_t statesOf(const StateGroup& group);

/// The size of the axis that an op contracts, 1 for an element-wise op; kFree where nobody fixed
/// it.
int64_t contractedSize(mlir::Operation* op);

/// A matmul of a sequence with something made of params alone.
struct ProductForm {
  mlir::Value sequence, weight;
  bool sequenceOnTheLeft = false;
  /// A param-only term that is added to the product at once: null, or the other operand of `sum`.
  mlir::Value bias;
  rnn::BinaryOp sum;
};

/// Where every value of a step is computed, and which ones become arrays of their own. Never
/// changes the IR; valid until it changes.
class Hoisting {
public:
  explicit Hoisting(rnn::CellOp cell);

  /// Values that get an array: what stages compute, in the order of the equations, and values of
  /// the step that stages behind it read.
  struct Array {
    rnn::Phase phase;    // After also for a value of the step
    bool byStep = false; // the step itself sets it
    ProductForm product; // null sequence: a map
  };
  const llvm::MapVector<mlir::Value, Array>& arrays() const { return arrays_; }
  /// Outputs that a stage sets: rnn.set_output ops of the step, with the stage's phase.
  const llvm::MapVector<mlir::Operation*, rnn::Phase>& outputs() const { return outputs_; }
  /// The state whose new value this is, null where it is none's.
  rnn::StateOp stateSetTo(mlir::Value value) const { return newState.lookup(value); }
  bool dependsOnState(mlir::Value value) const { return onState.contains(value); }

private:
  void classify();
  void moveContractionsBehind();
  LaneAxes axesOfStep() const;
  void moveOutputs();
  void moveWithin(mlir::Value output, bool everywhere,
                  llvm::function_ref<bool(mlir::Operation*)> moves);
  void markAfter(mlir::Operation* op);
  llvm::DenseSet<mlir::Value> functionsIn(mlir::Value value) const;
  llvm::DenseSet<mlir::Value> onceACall() const;
  void listArrays();
  void addContraction(mlir::Operation* op);
  void addOperand(mlir::Value value);
  rnn::Phase phaseOf(mlir::Value value) const;
  void need(mlir::Value value, rnn::Phase phase, ProductForm product = {});
  ProductForm productForm(mlir::Operation* op) const;
  mlir::Value reducedEnd(mlir::Operation* reduction) const;
  mlir::Value biasedSum(ProductForm& form, mlir::Operation* product) const;
  bool isLeaf(mlir::Value value) const;

  rnn::CellOp cell;
  mlir::Block& step;
  llvm::DenseSet<mlir::Value> onState, ofParams, feeding, after, functions;
  llvm::DenseMap<mlir::Value, rnn::StateOp> newState;
  llvm::MapVector<mlir::Value, Array> arrays_;
  llvm::MapVector<mlir::Operation*, rnn::Phase> outputs_;
};

} // namespace rnnc
