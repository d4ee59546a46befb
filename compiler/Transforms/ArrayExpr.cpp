//===- ArrayExpr.cpp - formulas over arrays --------------------------------------------------===//

#include "Transforms/ArrayExpr.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

/// What operands that are known to broadcast give.
static ArrayType broadcastType(ArrayRef<ArrayExpr> operands, Kind kind) {
  SmallVector<DimAttr> dims;
  for (const ArrayExpr& operand : operands)
    dims = *broadcast(dims, operand.dims());
  return ArrayType::get(operands.front().builder->getContext(), dims, kind);
}

ArrayExpr ArrayExpr::constant(double number, ArrayRef<DimAttr> dims) const {
  return with(ConstantOp::create(*builder, loc, ArrayType::get(builder->getContext(), dims),
                                 builder->getF64FloatAttr(number)));
}

ArrayExpr ArrayExpr::unary(UnaryKind kind) const {
  return with(UnaryOp::create(*builder, loc, type(), kind, value));
}

ArrayExpr ArrayExpr::binary(BinaryKind kind, ArrayExpr rhs) const {
  return with(BinaryOp::create(*builder, loc, broadcastType({*this, rhs}, Kind::Real), kind, value,
                               rhs.value));
}

ArrayExpr ArrayExpr::compare(CompareKind kind, ArrayExpr rhs) const {
  return with(CompareOp::create(*builder, loc, broadcastType({*this, rhs}, Kind::Bool), kind, value,
                                rhs.value));
}

ArrayExpr ArrayExpr::logic(LogicKind kind, ArrayExpr rhs) const {
  return with(LogicOp::create(*builder, loc, broadcastType({*this, rhs}, Kind::Bool), kind, value,
                              rhs.value));
}

ArrayExpr ArrayExpr::where(ArrayExpr a, ArrayExpr b) const {
  return with(WhereOp::create(*builder, loc, broadcastType({*this, a, b}, Kind::Real), value,
                              a.value, b.value));
}

ArrayExpr ArrayExpr::reduce(ReduceKind kind, uint64_t axis, bool keep) const {
  return with(
      ReduceOp::create(*builder, loc, reducedType(type(), axis, keep), kind, value, axis, keep));
}

ArrayExpr ArrayExpr::slice(uint64_t axis, int64_t from, int64_t size, bool drop) const {
  return with(SliceOp::create(*builder, loc, slicedType(type(), axis, size, drop), value, axis,
                              from, drop));
}

ArrayExpr ArrayExpr::expand(uint64_t axis) const {
  return with(ExpandOp::create(*builder, loc, expandedType(type(), axis), value, axis));
}

ArrayExpr ArrayExpr::transpose() const {
  return with(TransposeOp::create(*builder, loc, transposedType(type()), value));
}

ArrayExpr ArrayExpr::matmul(ArrayExpr rhs) const {
  auto result = ArrayType::get(builder->getContext(), *matmulDims(dims(), rhs.dims()));
  return with(MatmulOp::create(*builder, loc, result, value, rhs.value));
}

ArrayExpr ArrayExpr::concat(ArrayRef<ArrayExpr> parts, uint64_t axis) {
  const ArrayExpr& first = parts.front();
  SmallVector<Value> values;
  int64_t size = 0;
  for (const ArrayExpr& part : parts) {
    values.push_back(part.value);
    size += part.dims()[axis].getSize();
  }
  auto type = slicedType(first.type(), axis, size, /*drop=*/false);
  return first.with(ConcatOp::create(*first.builder, first.loc, type, values, axis));
}

ArrayExpr ArrayExpr::sumTo(ArrayRef<DimAttr> dims) const {
  ArrayExpr sum = *this;
  SmallVector<DimAttr> all = *broadcast(dims, sum.dims());
  if (!llvm::equal(all, sum.dims(), [](DimAttr a, DimAttr b) { return a.matches(b); }))
    sum = sum * constant(1, all);
  while (sum.dims().size() > dims.size())
    sum = sum.reduce(ReduceKind::Sum, 0, /*keep=*/false);
  for (uint64_t axis = 0; axis < dims.size(); ++axis)
    if (dims[axis].isOne() && !sum.dims()[axis].isOne())
      sum = sum.reduce(ReduceKind::Sum, axis, /*keep=*/true);
  return sum;
}
