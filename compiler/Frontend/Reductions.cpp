//===- Reductions.cpp - built-in functions that run along an axis -----------------------------===//
//
// Each is made of rnn.reduce and element-wise ops, so that derivatives and lowerings need to know
// of one reduction only.
//
//===----------------------------------------------------------------------------------------------===//

#include "Frontend/Equations.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::BinaryKind;
using rnn::ReduceKind;
using rnn::UnaryKind;

/// The axis of that name, the last where several have it; or of that number, from the left, or from
/// the right where it is negative.
std::optional<unsigned> EquationBuilder::findAxis(Value value, StringRef axis) {
  ArrayRef<rnn::DimAttr> dims = cast<ArrayType>(value.getType()).getDims();
  if (int64_t number; !axis.getAsInteger(10, number)) {
    number += number < 0 || axis.starts_with("-") ? static_cast<int64_t>(dims.size()) : 0;
    bool isThere = number >= 0 && number < static_cast<int64_t>(dims.size());
    return isThere ? std::optional<unsigned>(number) : std::nullopt;
  }
  if (Declared* dim = scope.find(axis))
    dim->used = true;
  for (unsigned i = dims.size(); i-- > 0;)
    if (dims[i].getName() == axis)
      return i;
  return std::nullopt;
}

/// The axis that a call names, or the last one.
std::optional<unsigned> EquationBuilder::axisOf(const Node& node, Operand operand) {
  auto type = cast<ArrayType>(operand.value.getType());
  if (type.getRank() == 0) {
    error(node.span, "RNN0207",
          "'" + text(operand.span) + "' is a scalar and has no axis for '" + node.text.str() + "'");
    return std::nullopt;
  }
  if (node.axis.empty())
    return type.getRank() - 1;
  if (std::optional<unsigned> axis = findAxis(operand.value, node.axis))
    return axis;
  error(node.span, "RNN0207",
        "'" + text(operand.span) + "' is " + shapeText(type) + " and has no axis '" +
            node.axis.str() + "'",
        llvm::any_of(type.getDims(), [](rnn::DimAttr dim) { return dim.getName().empty(); })
            ? "an axis that was cut or joined, or whose two sides have different names, has a size "
              "and no name: count from the right, axis = -1 for the last"
            : "");
  return std::nullopt;
}

Value EquationBuilder::reduce(Span at, ReduceKind kind, Value x, unsigned axis, bool keep) {
  auto type = rnn::reducedType(cast<ArrayType>(x.getType()), axis, keep);
  return rnn::ReduceOp::create(builder, location(at), type, kind, x, axis, keep);
}

/// Without the largest element taken off first, exp would overflow.
Value EquationBuilder::softmax(Span at, Value x, unsigned axis) {
  Value largest = reduce(at, ReduceKind::Max, x, axis, /*keep=*/true);
  Value shifted = binary(at, BinaryKind::Sub, {x, at}, {largest, at});
  Value weights = unary(location(at), UnaryKind::Exp, shifted);
  Value total = reduce(at, ReduceKind::Sum, weights, axis, /*keep=*/true);
  return binary(at, BinaryKind::Div, {weights, at}, {total, at});
}

/// At zero, where the root has no slope, the derivative is 0: that of the sum of squares. Those of
/// a complex number are of its two parts.
Value EquationBuilder::norm(Span at, Value x, unsigned axis) {
  auto square = [&](Value part) { return binary(at, BinaryKind::Mul, {part, at}, {part, at}); };
  Value squares = square(part(location(at), rnn::PartKind::Re, x));
  if (cast<ArrayType>(x.getType()).isComplex())
    squares = binary(at, BinaryKind::Add, {squares, at},
                     {square(part(location(at), rnn::PartKind::Im, x)), at});
  Value sum = reduce(at, ReduceKind::Sum, squares, axis);
  Value positive = compare(at, ">", {sum, at}, {number(location(at), 0), at});
  Value root = unary(location(at), UnaryKind::Sqrt, sum);
  return where(at, {positive, at}, {root, at}, {sum, at});
}

/// An infinite largest element is not taken off: inf - inf would be NaN, where the answer is inf.
Value EquationBuilder::logSumExp(Span at, Value x, unsigned axis) {
  Location loc = location(at);
  Value largest = reduce(at, ReduceKind::Max, x, axis, /*keep=*/true);
  Value finite =
      compare(at, "<", {unary(loc, UnaryKind::Abs, largest), at}, {number(loc, INFINITY), at});
  Value shift = where(at, {finite, at}, {largest, at}, {number(loc, 0), at});
  Value shifted = binary(at, BinaryKind::Sub, {x, at}, {shift, at});
  Value total = reduce(at, ReduceKind::Sum, unary(loc, UnaryKind::Exp, shifted), axis);
  Value offset = reduce(at, ReduceKind::Max, shift, axis); // its one element, without the axis
  return binary(at, BinaryKind::Add, {offset, at}, {unary(loc, UnaryKind::Log, total), at});
}

Value EquationBuilder::alongAxis(const Node& node, const Builtin& what, Operand operand) {
  bool takesComplex = what.reduce == ReduceKind::Sum || what.reduce == ReduceKind::Mean ||
                      what.kind == Builtin::Norm;
  if (takesComplex ? !numeric(operand) : !real(operand))
    return {};
  std::optional<unsigned> axis = axisOf(node, operand);
  if (!axis)
    return {};
  switch (what.kind) {
  case Builtin::Softmax:
    return softmax(node.span, operand.value, *axis);
  case Builtin::Norm:
    return norm(node.span, operand.value, *axis);
  case Builtin::LogSumExp:
    return logSumExp(node.span, operand.value, *axis);
  default:
    return reduce(node.span, *what.reduce, operand.value, *axis);
  }
}
