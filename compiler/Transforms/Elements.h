//===- Elements.h - which elements of its operands an element of a result is made of ---------===//
#pragma once

#include "Rnn/Rnn.h"

#include <compare>
#include <vector>

namespace rnnc {

/// Where an element stands along one axis: at a number, or with a lane axis, whose first lane is at
/// that number.
struct Place {
  int64_t lane = -1;
  int64_t at = 0;

  static Place ofLane(int64_t axis) { return {axis, 0}; }
  static Place fixed(int64_t at) { return {-1, at}; }
  bool isLane() const { return lane >= 0; }
  auto operator<=>(const Place&) const = default;
};

/// For every axis of a value.
using Index = std::vector<Place>;
using Element = std::pair<mlir::Value, Index>;

/// The index into an operand for an index into the shape `to` that it broadcasts to. Of an axis
/// that is stretched every place reads element 0; an axis of size 1 on both sides may well be a
/// lane axis.
Index broadcastIndex(mlir::Value value, const Index& index, llvm::ArrayRef<rnn::DimAttr> to);

/// The index into the only operand, or into the one operand of a concat, that an element of an op
/// that moves elements comes from. A concat's axis is never a lane axis (LaneAxes).
Element movedElement(mlir::Operation* op, const Index& index);

/// The elements that one element of an op's result is made of, in the order in which it is built
/// from them: the pairs of a product, what a reduction runs over, the operands of everything else.
llvm::SmallVector<Element> operandElements(mlir::Operation* op, const Index& index);

} // namespace rnnc
