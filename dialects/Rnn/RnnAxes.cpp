//===- RnnAxes.cpp - how the axes of an op's operands run in its result ----------------------===//

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rnnc::rnn;

static DimAttr literal(MLIRContext* context, int64_t size) {
  return DimAttr::get(StringAttr::get(context, ""), size);
}

ArrayType rnnc::rnn::reducedType(ArrayType type, uint64_t axis, bool keep) {
  return slicedType(type, axis, 1, !keep);
}

ArrayType rnnc::rnn::expandedType(ArrayType type, uint64_t axis) {
  SmallVector<DimAttr> dims(type.getDims());
  dims.insert(dims.begin() + axis, literal(type.getContext(), 1));
  return type.withDims(dims);
}

ArrayType rnnc::rnn::transposedType(ArrayType type) {
  SmallVector<DimAttr> dims(type.getDims());
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return type.withDims(dims);
}

ArrayType rnnc::rnn::slicedType(ArrayType type, uint64_t axis, int64_t size, bool drop) {
  SmallVector<DimAttr> dims(type.getDims());
  if (drop)
    dims.erase(dims.begin() + axis);
  else
    dims[axis] = literal(type.getContext(), size);
  return type.withDims(dims);
}

bool rnnc::rnn::isMovement(Operation* op) {
  return isa<SliceOp, ConcatOp, TransposeOp, ExpandOp>(op);
}

/// lhs [batch..., m, n], rhs [batch..., n] or [batch..., n, p]; the result [batch..., m] or
/// [batch..., m, p]; or one rhs [n] for all rows.
static int64_t axisInProduct(MatmulOp op, bool isLeft, int64_t axis) {
  int64_t contracted = isLeft ? op.getLhs().getType().getRank() - 1 : op.sharedAxes();
  return axis == contracted ? -1 : axis;
}

/// NumPy's rule, from the right.
static int64_t axisInBroadcast(OpOperand& operand, int64_t axis) {
  ArrayRef<DimAttr> from = cast<ArrayType>(operand.get().getType()).getDims();
  ArrayRef<DimAttr> to = cast<ArrayType>(operand.getOwner()->getResult(0).getType()).getDims();
  int64_t place = axis + static_cast<int64_t>(to.size() - from.size());
  return from[axis].isOne() && !to[place].isOne() ? -1 : place;
}

int64_t rnnc::rnn::axisInResult(OpOperand& operand, unsigned at) {
  auto axis = static_cast<int64_t>(at);
  auto without = [&](int64_t gone, bool dropped) -> int64_t {
    return axis == gone ? -1 : axis - (dropped && axis > gone);
  };
  return llvm::TypeSwitch<Operation*, int64_t>(operand.getOwner())
      .Case([&](MatmulOp op) { return axisInProduct(op, operand.getOperandNumber() == 0, axis); })
      .Case([&](ReduceOp op) { return without(op.getAxis(), !op.getKeep()); })
      .Case([&](SliceOp op) { return without(op.getAxis(), op.getDrop()); })
      .Case([&](ConcatOp op) { return without(op.getAxis(), false); })
      .Case([&](TransposeOp op) -> int64_t {
        int64_t rank = op.getType().getRank();
        return axis + 2 < rank ? axis : 2 * rank - 3 - axis;
      })
      .Case([&](ExpandOp op) { return axis + (at >= op.getAxis()); })
      .Default([&](Operation*) { return axisInBroadcast(operand, axis); });
}
