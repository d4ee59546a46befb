//===- GroupLowering.h - one group of states becomes one system of scalars -------------------===//
//
// Two walks over the equations, neither recursive. Backward (LowerToNewton.cpp): which elements of
// every value are wanted. Forward (BuildSystem.cpp): build each wanted element once.
//
//===----------------------------------------------------------------------------------------------===//
#pragma once

#include "Newton/Newton.h"
#include "Transforms/Boundary.h"
#include "Transforms/Elements.h"
#include "Transforms/ImplicitSteps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <set>

namespace rnnc {

/// States that one implicit equation is solved for together, at most.
constexpr int64_t kMaxUnknowns = 16;

/// The error for an implicit step in too large a block; -1: of a size that the caller binds.
mlir::LogicalResult emitTooManyUnknowns(mlir::Location loc, int64_t count);

class GroupLowering : SystemSource {
public:
  GroupLowering(const Equations& equations, const StateGroup& group, const LaneAxes& axes,
                mlir::Type compute, int64_t limit)
      : SystemSource{equations, group, axes, compute}, limit(limit), context(cell.getContext()) {}

  /// Builds the system at the end of `into`; failure after a diagnostic, or with `needsLoops`.
  mlir::LogicalResult lower(mlir::Block& into);
  /// A contraction over an axis of free size, which scalars cannot hold.
  mlir::Operation* needsLoops() const { return unrollable; }

private:
  struct Result {
    mlir::Value value; // in the Rnn dialect
    Index index;       // of that value
    Index slot;        // of the tensor that it goes to
    mlir::FlatSymbolRefAttr tensor;
  };

  mlir::LogicalResult listResults();
  mlir::LogicalResult listElements(mlir::Operation* set, mlir::Value value,
                                   mlir::FlatSymbolRefAttr tensor, rnn::ArrayType type,
                                   llvm::ArrayRef<int64_t> laneOfAxis,
                                   llvm::SmallVectorImpl<Result>& into);
  mlir::LogicalResult demand();
  mlir::LogicalResult demandOperands(mlir::Operation* op, const Index& index);
  mlir::LogicalResult want(mlir::Operation* by, mlir::Value value, Index index);
  void listLeaves();
  void listWanted();
  ImplicitSteps findImplicit();
  newton::SystemOp createSystem(mlir::OpBuilder& builder);
  void buildSystem(newton::SystemOp system, const ImplicitSteps& implicit);
  void buildKnown(mlir::OpBuilder& builder, const ImplicitSteps& implicit);
  std::vector<Element> neededBy(const ImplicitSteps& implicit, const llvm::BitVector& unknowns);
  void solve(mlir::OpBuilder& builder, const ImplicitSteps& implicit,
             const llvm::BitVector& unknowns);
  mlir::LogicalResult checkSizes(const ImplicitSteps& implicit);
  mlir::Value buildAny(mlir::OpBuilder& builder, const Element& element);
  mlir::Value buildElement(mlir::OpBuilder& builder, mlir::Operation* op, const Index& index,
                           mlir::Location loc);
  mlir::Value buildNamed(mlir::OpBuilder& builder, mlir::Operation* op, const Index& index);
  newton::SlotAttr slot(mlir::FlatSymbolRefAttr tensor, const Index& index, int64_t back);
  mlir::Value element(mlir::OpBuilder& builder, const Element& from);
  mlir::Location nameElement(mlir::Location loc, const Index& index);

  int64_t limit;
  mlir::MLIRContext* context;

  llvm::SmallVector<Result> states, outputs, sums;
  llvm::DenseMap<mlir::Value, std::set<Index>> wanted;
  mlir::Operation* unrollable = nullptr;
  int64_t count = 0;
  using Leaf = std::pair<mlir::Attribute, std::pair<int64_t, Index>>; // tensor, steps back, element
  llvm::SmallVector<Leaf> inputs, params;
  std::map<std::pair<const void*, std::pair<int64_t, Index>>, mlir::Value> leaves;
  std::vector<Element> elements; // all that is wanted, operands first
  std::map<Element, mlir::Value, ElementLess> built;
  llvm::BitVector solved; // unknowns
  int64_t implicits = 0;  // newton.implicit ops

  /// The residual of an implicit step, while it is built: what depends on its unknowns is inside,
  /// everything else is given.
  struct Inside {
    mlir::Block& block;
    std::map<Element, mlir::Value, ElementLess> built;
    llvm::MapVector<mlir::Value, mlir::Value> given; // outside, the block's argument
  };
  Inside* inside = nullptr;
};

} // namespace rnnc
