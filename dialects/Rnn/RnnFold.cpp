//===- RnnFold.cpp - folding, and the meaning of the built-in functions ----------------------===//

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace rnnc::rnn;

double rnnc::rnn::evaluate(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Exp:
    return std::exp(x);
  case UnaryKind::Expm1:
    return std::expm1(x);
  case UnaryKind::Log:
    return std::log(x);
  case UnaryKind::Log1p:
    return std::log1p(x);
  case UnaryKind::Sqrt:
    return std::sqrt(x);
  case UnaryKind::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryKind::Sin:
    return std::sin(x);
  case UnaryKind::Cos:
    return std::cos(x);
  case UnaryKind::Tan:
    return std::tan(x);
  case UnaryKind::Asin:
    return std::asin(x);
  case UnaryKind::Acos:
    return std::acos(x);
  case UnaryKind::Atan:
    return std::atan(x);
  case UnaryKind::Sinh:
    return std::sinh(x);
  case UnaryKind::Cosh:
    return std::cosh(x);
  case UnaryKind::Tanh:
    return std::tanh(x);
  case UnaryKind::Sigmoid: // exp(-x) overflows to inf for x < -709: the limit 0 is right there,
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); // but not the values
  case UnaryKind::Softplus:
    return x != x ? x : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
  case UnaryKind::Relu:
    return x > 0 || x != x ? x : 0;
  case UnaryKind::Gelu:
    return 0.5 * x * (1 + std::erf(x * (std::numbers::sqrt2 / 2)));
  case UnaryKind::Silu:
    return x * evaluate(UnaryKind::Sigmoid, x);
  case UnaryKind::HardSigmoid: {
    double y = x / 6 + 0.5;
    return y < 0 ? 0 : y > 1 ? 1 : y;
  }
  case UnaryKind::HardTanh:
    return x < -1 ? -1 : x > 1 ? 1 : x;
  case UnaryKind::Erf:
    return std::erf(x);
  case UnaryKind::Abs:
    return std::fabs(x);
  case UnaryKind::Sign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  case UnaryKind::Floor:
    return std::floor(x);
  }
  return std::nan("");
}

// max: the left argument on ties, NaN where either is NaN; min likewise.
double rnnc::rnn::evaluate(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return a / b;
  case BinaryKind::Pow:
    return std::pow(a, b);
  case BinaryKind::Min:
    return a <= b || a != a ? a : b;
  case BinaryKind::Max:
    return a >= b || a != a ? a : b;
  case BinaryKind::Atan2:
    return std::atan2(a, b);
  }
  return std::nan("");
}

BinaryKind rnnc::rnn::combining(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return BinaryKind::Add;
  case ReduceKind::Max:
    return BinaryKind::Max;
  case ReduceKind::Min:
    return BinaryKind::Min;
  }
  return BinaryKind::Add;
}

bool rnnc::rnn::evaluate(CompareKind kind, double a, double b) {
  switch (kind) {
  case CompareKind::Lt:
    return a < b;
  case CompareKind::Le:
    return a <= b;
  case CompareKind::Gt:
    return a > b;
  case CompareKind::Ge:
    return a >= b;
  case CompareKind::Eq:
    return a == b;
  case CompareKind::Ne:
    return a != b;
  }
  return false;
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult UnaryOp::fold(FoldAdaptor adaptor) {
  auto value = dyn_cast_or_null<FloatAttr>(adaptor.getOperand());
  if (!value || getType().getRank() != 0)
    return {};
  return FloatAttr::get(value.getType(), evaluate(getKind(), value.getValueAsDouble()));
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  auto lhs = dyn_cast_or_null<FloatAttr>(adaptor.getLhs());
  auto rhs = dyn_cast_or_null<FloatAttr>(adaptor.getRhs());
  if (!lhs || !rhs || getType().getRank() != 0)
    return {};
  return FloatAttr::get(lhs.getType(),
                        evaluate(getKind(), lhs.getValueAsDouble(), rhs.getValueAsDouble()));
}

/// Of one element every reduction is that element; the types say whether its axis stays.
OpFoldResult ReduceOp::fold(FoldAdaptor) {
  return getType() == getOperand().getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult PartOp::fold(FoldAdaptor) {
  auto made = getOperand().getDefiningOp<ComplexOp>();
  Value part = made ? getKind() == PartKind::Re ? made.getRe() : made.getIm() : Value();
  return part && part.getType() == getType() ? OpFoldResult(part) : OpFoldResult();
}

/// The whole axis is no cut. Of arrays that were joined, a cut that is one of them is that one.
OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (getType() == getOperand().getType())
    return getOperand();
  auto concat = getOperand().getDefiningOp<ConcatOp>();
  if (!concat || concat.getAxis() != getAxis() || getDrop())
    return {};
  int64_t at = 0;
  for (Value part : concat.getOperands()) {
    if (at == static_cast<int64_t>(getFrom()) && part.getType() == getType())
      return part;
    at += cast<ArrayType>(part.getType()).getDims()[getAxis()].getSize();
  }
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  bool alone = getOperands().size() == 1 && getOperands().front().getType() == getType();
  return alone ? OpFoldResult(getOperands().front()) : OpFoldResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  auto before = getOperand().getDefiningOp<TransposeOp>();
  return before && before.getOperand().getType() == getType() ? OpFoldResult(before.getOperand())
                                                              : OpFoldResult();
}

Operation* RnnDialect::materializeConstant(OpBuilder& builder, Attribute value, Type type,
                                           Location loc) {
  auto number = dyn_cast<FloatAttr>(value);
  auto array = dyn_cast<ArrayType>(type);
  if (!number || !array || array.isBool() || array.getRank() != 0)
    return nullptr;
  return ConstantOp::create(builder, loc, array, number);
}
