//===- Pullbacks.cpp - reverse-mode differentiation of array ops -----------------------------===//

#include "Transforms/Pullbacks.h"

#include "Newton/DerivativeRules.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;
namespace rules = rnnc::newton::rules;

namespace {

using Give = llvm::function_ref<void(OpOperand&, Adjoint)>;

class Pullback {
public:
  Pullback(Operation* op, Adjoint given, Give give) : op(op), given(given), give(give) {}
  void run();

private:
  ArrayExpr operand(unsigned i) { return given.expr.with(op->getOperand(i)); }
  ArrayExpr result() { return given.expr.with(op->getResult(0)); }
  ArrayExpr scaled(ArrayExpr adjoint, ArrayExpr by);
  void pass(unsigned i, ArrayExpr adjoint) { give(op->getOpOperand(i), {adjoint, given.masked}); }
  void times(unsigned i, ArrayExpr slope) { pass(i, scaled(given.expr, slope)); }
  void branch(unsigned i, ArrayExpr taken, bool when);
  void unary(UnaryKind kind);
  void binary(BinaryKind kind);
  void matmul(MatmulOp product);
  void reduce(ReduceOp reduction);
  void slice(SliceOp cut);
  void concat(ConcatOp joint);

  Operation* op;
  Adjoint given;
  Give give;
};

} // namespace

/// Their product; of a masked adjoint 0 where that is 0.
ArrayExpr Pullback::scaled(ArrayExpr adjoint, ArrayExpr by) {
  ArrayExpr product = adjoint * by;
  if (!given.masked)
    return product;
  ArrayExpr zero = adjoint.constant(0);
  return adjoint.compare(CompareKind::Eq, zero).where(zero, product);
}

/// All of it where `taken` is as `when` says, nothing elsewhere.
void Pullback::branch(unsigned i, ArrayExpr taken, bool when) {
  ArrayExpr zero = given.expr.constant(0);
  ArrayExpr adjoint = when ? taken.where(given.expr, zero) : taken.where(zero, given.expr);
  give(op->getOpOperand(i), {adjoint, /*masked=*/true});
}

void Pullback::unary(UnaryKind kind) {
  ArrayExpr x = operand(0), y = result();
  switch (kind) {
  case UnaryKind::Neg:
    return pass(0, -given.expr);
  case UnaryKind::Exp:
    return times(0, rules::exp(x, y));
  case UnaryKind::Expm1:
    return times(0, rules::expm1(x, y));
  case UnaryKind::Log:
    return times(0, rules::log(x, y));
  case UnaryKind::Log1p:
    return times(0, rules::log1p(x, y));
  case UnaryKind::Sqrt:
    return times(0, rules::sqrt(x, y));
  case UnaryKind::Rsqrt:
    return times(0, rules::rsqrt(x, y));
  case UnaryKind::Sin:
    return times(0, rules::sin(x, y));
  case UnaryKind::Cos:
    return times(0, rules::cos(x, y));
  case UnaryKind::Tan:
    return times(0, rules::tan(x, y));
  case UnaryKind::Asin:
    return times(0, rules::asin(x, y));
  case UnaryKind::Acos:
    return times(0, rules::acos(x, y));
  case UnaryKind::Atan:
    return times(0, rules::atan(x, y));
  case UnaryKind::Sinh:
    return times(0, rules::sinh(x, y));
  case UnaryKind::Cosh:
    return times(0, rules::cosh(x, y));
  case UnaryKind::Tanh:
    return times(0, rules::tanh(x, y));
  case UnaryKind::Sigmoid:
    return times(0, rules::sigmoid(x, y));
  case UnaryKind::Softplus:
    return times(0, rules::softplus(x, y));
  case UnaryKind::Erf:
    return times(0, rules::erf(x, y));
  case UnaryKind::Abs:
    return times(0, rules::abs(x, y));
  case UnaryKind::Silu: { // x s(x)
    ArrayExpr s = x.sigmoid();
    return times(0, s * (1 + x * (1 - s)));
  }
  case UnaryKind::Gelu: { // x P(x), P the normal distribution
    ArrayExpr inner = std::numbers::sqrt2 / 2 * x;
    ArrayExpr p = 0.5 * (1 + inner.unary(UnaryKind::Erf));
    ArrayExpr density = (std::numbers::inv_sqrtpi / std::numbers::sqrt2) * (-(inner * inner)).exp();
    return times(0, p + x * density);
  }
  case UnaryKind::Relu:
    return branch(0, x.compare(CompareKind::Le, x.constant(0)), false);
  case UnaryKind::HardTanh:
    return branch(0, x.unary(UnaryKind::Abs).compare(CompareKind::Gt, x.constant(1)), false);
  case UnaryKind::HardSigmoid:
    given.expr = (1.0 / 6) * given.expr;
    return branch(0, x.unary(UnaryKind::Abs).compare(CompareKind::Gt, x.constant(3)), false);
  case UnaryKind::Sign:
  case UnaryKind::Floor:
    return;
  }
}

void Pullback::binary(BinaryKind kind) {
  ArrayExpr a = operand(0), b = operand(1), y = result();
  /// The left one, on ties and where it is NaN too.
  auto extreme = [&](CompareKind keepsLeft) {
    ArrayExpr isLeft = a.compare(keepsLeft, b).logic(LogicKind::Or, a.compare(CompareKind::Ne, a));
    branch(0, isLeft, true);
    branch(1, isLeft, false);
  };
  switch (kind) {
  case BinaryKind::Add:
    pass(0, given.expr);
    return pass(1, given.expr);
  case BinaryKind::Sub:
    pass(0, given.expr);
    return pass(1, -given.expr);
  case BinaryKind::Mul:
    times(0, b);
    return times(1, a);
  case BinaryKind::Div:
    times(0, rules::divByLhs(a, b, y));
    return times(1, rules::divByRhs(a, b, y));
  case BinaryKind::Pow:
    times(0, rules::powByLhs(a, b, y));
    return times(1, rules::powByRhs(a, b, y));
  case BinaryKind::Atan2:
    times(0, rules::atan2ByLhs(a, b, y));
    return times(1, rules::atan2ByRhs(a, b, y));
  case BinaryKind::Min:
    return extreme(CompareKind::Le);
  case BinaryKind::Max:
    return extreme(CompareKind::Ge);
  }
}

/// Y = A B: dA = dY B^T, dB = A^T dY; y = A b: dA = dy b^T, db = A^T dy.
void Pullback::matmul(MatmulOp product) {
  ArrayExpr a = operand(0), b = operand(1), y = given.expr;
  if (!product.isVector()) {
    pass(0, y.matmul(b.transpose()));
    return pass(1, a.transpose().matmul(y));
  }
  uint64_t rows = a.dims().size() - 2; // their axis
  pass(0, scaled(y.expand(rows + 1), b.dims().size() == 1 ? b : b.expand(rows)));
  pass(1, a.transpose().matmul(y));
}

void Pullback::reduce(ReduceOp reduction) {
  uint64_t axis = reduction.getAxis();
  ArrayExpr x = operand(0), y = result();
  if (!reduction.getKeep()) {
    given.expr = given.expr.expand(axis);
    y = y.expand(axis);
  }
  auto count = [&](ArrayExpr ones) { return ones.reduce(ReduceKind::Sum, axis, /*keep=*/true); };
  switch (reduction.getKind()) {
  case ReduceKind::Sum:
    return pass(0, given.expr);
  case ReduceKind::Mean:
    return pass(0, given.expr / count(x.constant(1, x.dims())));
  case ReduceKind::Max:
  case ReduceKind::Min: {
    ArrayExpr isIt = x.compare(CompareKind::Eq, y);
    given.expr = given.expr / count(isIt.where(x.constant(1), x.constant(0)));
    return branch(0, isIt, true);
  }
  }
}

/// Zeros on both sides of what was cut out.
void Pullback::slice(SliceOp cut) {
  uint64_t axis = cut.getAxis();
  ArrayRef<DimAttr> dims = operand(0).dims();
  ArrayExpr middle = cut.getDrop() ? given.expr.expand(axis) : given.expr;
  auto from = static_cast<int64_t>(cut.getFrom());
  int64_t until = from + middle.dims()[axis].getSize(), size = dims[axis].getSize();
  auto zeros = [&](int64_t count) {
    return middle.constant(0, slicedType(operand(0).type(), axis, count, false).getDims());
  };
  SmallVector<ArrayExpr> parts;
  if (from > 0)
    parts.push_back(zeros(from));
  parts.push_back(middle);
  if (until < size)
    parts.push_back(zeros(size - until));
  pass(0, ArrayExpr::concat(parts, axis));
}

void Pullback::concat(ConcatOp joint) {
  int64_t from = 0;
  for (unsigned i = 0; i < joint.getNumOperands(); ++i) {
    int64_t size = operand(i).dims()[joint.getAxis()].getSize();
    pass(i, given.expr.slice(joint.getAxis(), from, size, /*drop=*/false));
    from += size;
  }
}

void Pullback::run() {
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](UnaryOp f) { unary(f.getKind()); })
      .Case([&](BinaryOp f) { binary(f.getKind()); })
      .Case([&](WhereOp) {
        branch(1, operand(0), true);
        branch(2, operand(0), false);
      })
      .Case([&](MatmulOp product) { matmul(product); })
      .Case([&](ReduceOp reduction) { reduce(reduction); })
      .Case([&](SliceOp cut) { slice(cut); })
      .Case([&](ConcatOp joint) { concat(joint); })
      .Case([&](TransposeOp) { pass(0, given.expr.transpose()); })
      .Case(
          [&](ExpandOp added) { pass(0, given.expr.slice(added.getAxis(), 0, 1, /*drop=*/true)); });
}

void rnnc::pullBack(Operation* op, Adjoint given, Give give) { Pullback(op, given, give).run(); }
