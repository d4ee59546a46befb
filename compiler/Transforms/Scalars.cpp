//===- Scalars.cpp - the built-in functions on scalars ---------------------------------------===//

#include "Transforms/Scalars.h"
#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {

struct Scalars {
  OpBuilder& b;
  Location loc;
  Type compute;

  Value number(double value) { return buildNumber(b, loc, compute, value); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value compare(arith::CmpFPredicate p, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, p, x, y);
  }
  Value select(Value c, Value x, Value y) { return arith::SelectOp::create(b, loc, c, x, y); }

  /// x where it lies between the bounds or is NaN.
  Value clamp(Value x, double low, double high) {
    Value lo = number(low), hi = number(high);
    Value upper = select(compare(arith::CmpFPredicate::OGT, x, hi), hi, x);
    return select(compare(arith::CmpFPredicate::OLT, x, lo), lo, upper);
  }

  /// The extreme of two, the left one on ties, NaN where either is.
  Value extreme(arith::CmpFPredicate keepsLeft, Value x, Value y) {
    Value left = compare(keepsLeft, x, y), nan = compare(arith::CmpFPredicate::UNO, x, x);
    return select(arith::OrIOp::create(b, loc, left, nan), x, y);
  }

  /// A small constant whole exponent is a product: exact rules, and cheap.
  Value power(Value x, Value y) {
    FloatAttr exponent;
    if (matchPattern(y, m_Constant(&exponent))) {
      double n = exponent.getValueAsDouble();
      if (n == std::floor(n) && std::fabs(n) <= 8 && n != 0) {
        Value product = x;
        for (int i = 1; i < std::fabs(n); ++i)
          product = mul(product, x);
        return n > 0 ? product : Value(arith::DivFOp::create(b, loc, number(1), product));
      }
    }
    return math::PowFOp::create(b, loc, x, y);
  }

  Value unary(UnaryKind kind, Value x);
  Value binary(BinaryKind kind, Value x, Value y);
};

} // namespace

Value Scalars::unary(UnaryKind kind, Value x) {
  switch (kind) {
  case UnaryKind::Neg:
    return arith::NegFOp::create(b, loc, x);
  case UnaryKind::Exp:
    return math::ExpOp::create(b, loc, x);
  case UnaryKind::Expm1:
    return math::ExpM1Op::create(b, loc, x);
  case UnaryKind::Log:
    return math::LogOp::create(b, loc, x);
  case UnaryKind::Log1p:
    return math::Log1pOp::create(b, loc, x);
  case UnaryKind::Sqrt:
    return math::SqrtOp::create(b, loc, x);
  case UnaryKind::Rsqrt:
    return math::RsqrtOp::create(b, loc, x);
  case UnaryKind::Sin:
    return math::SinOp::create(b, loc, x);
  case UnaryKind::Cos:
    return math::CosOp::create(b, loc, x);
  case UnaryKind::Tan:
    return math::TanOp::create(b, loc, x);
  case UnaryKind::Asin:
    return math::AsinOp::create(b, loc, x);
  case UnaryKind::Acos:
    return math::AcosOp::create(b, loc, x);
  case UnaryKind::Atan:
    return math::AtanOp::create(b, loc, x);
  case UnaryKind::Sinh:
    return math::SinhOp::create(b, loc, x);
  case UnaryKind::Cosh:
    return math::CoshOp::create(b, loc, x);
  case UnaryKind::Tanh:
    return math::TanhOp::create(b, loc, x);
  case UnaryKind::Erf:
    return math::ErfOp::create(b, loc, x);
  case UnaryKind::Abs:
    return math::AbsFOp::create(b, loc, x);
  case UnaryKind::Floor:
    return math::FloorOp::create(b, loc, x);
  case UnaryKind::Sigmoid:
    return newton::SigmoidOp::create(b, loc, x);
  case UnaryKind::Softplus:
    return newton::SoftplusOp::create(b, loc, x);
  case UnaryKind::Sign:
    return newton::SignOp::create(b, loc, x);
  case UnaryKind::Relu: // NaN stays; relu'(0) = 0
    return select(compare(arith::CmpFPredicate::UGT, x, number(0)), x, number(0));
  case UnaryKind::Gelu: {
    Value erf = math::ErfOp::create(b, loc, mul(x, number(std::numbers::sqrt2 / 2)));
    return mul(mul(number(0.5), x), add(number(1), erf));
  }
  case UnaryKind::Silu:
    return mul(x, newton::SigmoidOp::create(b, loc, x));
  case UnaryKind::HardSigmoid:
    return clamp(add(arith::DivFOp::create(b, loc, x, number(6)), number(0.5)), 0, 1);
  case UnaryKind::HardTanh:
    return clamp(x, -1, 1);
  }
  return {};
}

Value Scalars::binary(BinaryKind kind, Value x, Value y) {
  switch (kind) {
  case BinaryKind::Add:
    return add(x, y);
  case BinaryKind::Sub:
    return arith::SubFOp::create(b, loc, x, y);
  case BinaryKind::Mul:
    return mul(x, y);
  case BinaryKind::Div:
    return arith::DivFOp::create(b, loc, x, y);
  case BinaryKind::Pow:
    return power(x, y);
  case BinaryKind::Min:
    return extreme(arith::CmpFPredicate::OLE, x, y);
  case BinaryKind::Max:
    return extreme(arith::CmpFPredicate::OGE, x, y);
  case BinaryKind::Atan2:
    return math::Atan2Op::create(b, loc, x, y);
  }
  return {};
}

static arith::CmpFPredicate predicate(CompareKind kind) {
  switch (kind) {
  case CompareKind::Lt:
    return arith::CmpFPredicate::OLT;
  case CompareKind::Le:
    return arith::CmpFPredicate::OLE;
  case CompareKind::Gt:
    return arith::CmpFPredicate::OGT;
  case CompareKind::Ge:
    return arith::CmpFPredicate::OGE;
  case CompareKind::Eq:
    return arith::CmpFPredicate::OEQ;
  case CompareKind::Ne:
    return arith::CmpFPredicate::UNE;
  }
  return arith::CmpFPredicate::AlwaysFalse;
}

Value rnnc::buildNumber(OpBuilder& builder, Location loc, Type compute, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(compute, value));
}

Value rnnc::buildBinary(OpBuilder& builder, Location loc, BinaryKind kind, Value x, Value y) {
  return Scalars{builder, loc, x.getType()}.binary(kind, x, y);
}

Value rnnc::buildScalar(OpBuilder& builder, Location loc, Operation* op, ValueRange operands,
                        Type compute) {
  Scalars scalars{builder, loc, compute};
  return llvm::TypeSwitch<Operation*, Value>(op)
      .Case([&](UnaryOp f) { return scalars.unary(f.getKind(), operands[0]); })
      .Case([&](BinaryOp f) { return scalars.binary(f.getKind(), operands[0], operands[1]); })
      .Case([&](CompareOp f) {
        return scalars.compare(predicate(f.getKind()), operands[0], operands[1]);
      })
      .Case([&](LogicOp f) -> Value {
        if (f.getKind() == LogicKind::And)
          return arith::AndIOp::create(builder, loc, operands[0], operands[1]);
        return arith::OrIOp::create(builder, loc, operands[0], operands[1]);
      })
      .Case([&](NotOp) -> Value {
        Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
        return arith::XOrIOp::create(builder, loc, operands[0], yes);
      })
      .Case([&](WhereOp) { return scalars.select(operands[0], operands[1], operands[2]); })
      .Default([](Operation*) { return Value(); });
}
