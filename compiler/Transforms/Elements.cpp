//===- Elements.cpp - which elements of its operands an element of a result is made of -------===//

#include "Transforms/Elements.h"

#include "Analysis/Hoisting.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

Index rnnc::broadcastIndex(Value value, const Index& index, ArrayRef<DimAttr> to) {
  ArrayRef<DimAttr> dims = cast<ArrayType>(value.getType()).getDims();
  size_t offset = to.size() - dims.size();
  Index result(index.begin() + offset, index.end());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].isOne() && !to[offset + i].isOne())
      result[i] = Place::fixed(0);
  return result;
}

/// A lane axis along a cut goes on from where the cut begins.
static Element cutElement(SliceOp op, Index index) {
  int64_t from = op.getFrom();
  if (op.getDrop())
    index.insert(index.begin() + op.getAxis(), Place::fixed(from));
  else
    index[op.getAxis()].at += from;
  return {op.getOperand(), std::move(index)};
}

static Element joinedElement(ConcatOp op, Index index) {
  int64_t& at = index[op.getAxis()].at;
  for (Value part : op.getOperands()) {
    int64_t size = cast<ArrayType>(part.getType()).getDims()[op.getAxis()].getSize();
    if (at < size)
      return {part, std::move(index)};
    at -= size;
  }
  return {};
}

Element rnnc::movedElement(Operation* op, const Index& index) {
  return llvm::TypeSwitch<Operation*, Element>(op)
      .Case([&](SliceOp slice) { return cutElement(slice, index); })
      .Case([&](ConcatOp concat) { return joinedElement(concat, index); })
      .Case([&](TransposeOp transpose) {
        Index from = index;
        std::swap(from[from.size() - 1], from[from.size() - 2]);
        return Element(transpose.getOperand(), std::move(from));
      })
      .Case([&](ExpandOp expand) {
        Index from = index;
        from.erase(from.begin() + expand.getAxis());
        return Element(expand.getOperand(), std::move(from));
      })
      .Default([](Operation*) { return Element(); });
}

static SmallVector<Element> pairsOf(MatmulOp op, const Index& index) {
  SmallVector<Element> elements;
  unsigned rows = op.getLhs().getType().getRank() - 1;
  for (int64_t j = 0; j < contractedSize(op); ++j) {
    Index left(index.begin(), index.begin() + rows),
        right(index.begin(), index.begin() + op.sharedAxes());
    left.push_back(Place::fixed(j));
    right.push_back(Place::fixed(j));
    right.insert(right.end(), index.begin() + rows, index.end());
    elements.push_back({op.getLhs(), std::move(left)});
    elements.push_back({op.getRhs(), std::move(right)});
  }
  return elements;
}

static SmallVector<Element> elementsAlong(ReduceOp op, const Index& index) {
  SmallVector<Element> elements;
  for (int64_t j = 0; j < contractedSize(op); ++j) {
    Index from = index;
    if (!op.getKeep())
      from.insert(from.begin() + op.getAxis(), Place::fixed(j));
    from[op.getAxis()] = Place::fixed(j);
    elements.push_back({op.getOperand(), std::move(from)});
  }
  return elements;
}

SmallVector<Element> rnnc::operandElements(Operation* op, const Index& index) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return pairsOf(matmul, index);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return elementsAlong(reduce, index);
  if (isMovement(op))
    return {movedElement(op, index)};
  SmallVector<Element> elements;
  ArrayRef<DimAttr> to = cast<ArrayType>(op->getResult(0).getType()).getDims();
  for (Value operand : op->getOperands())
    elements.push_back({operand, broadcastIndex(operand, index, to)});
  return elements;
}
