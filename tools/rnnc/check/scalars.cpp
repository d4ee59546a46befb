#include "scalars.h"

#include "Rnn/Rnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using rnn::BinaryKind;
using rnn::UnaryKind;

static bool compare(arith::CmpFPredicate predicate, double a, double b) {
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case arith::CmpFPredicate::AlwaysFalse:
    return false;
  case arith::CmpFPredicate::OEQ:
    return a == b;
  case arith::CmpFPredicate::OGT:
    return a > b;
  case arith::CmpFPredicate::OGE:
    return a >= b;
  case arith::CmpFPredicate::OLT:
    return a < b;
  case arith::CmpFPredicate::OLE:
    return a <= b;
  case arith::CmpFPredicate::ONE:
    return !unordered && a != b;
  case arith::CmpFPredicate::ORD:
    return !unordered;
  case arith::CmpFPredicate::UEQ:
    return unordered || a == b;
  case arith::CmpFPredicate::UGT:
    return unordered || a > b;
  case arith::CmpFPredicate::UGE:
    return unordered || a >= b;
  case arith::CmpFPredicate::ULT:
    return unordered || a < b;
  case arith::CmpFPredicate::ULE:
    return unordered || a <= b;
  case arith::CmpFPredicate::UNE:
    return a != b;
  case arith::CmpFPredicate::UNO:
    return unordered;
  case arith::CmpFPredicate::AlwaysTrue:
    return true;
  }
  return false;
}

/// The function of one value that an op stands for.
static std::optional<UnaryKind> unaryKind(Operation& op) {
  using Kind = std::optional<UnaryKind>;
  return llvm::TypeSwitch<Operation*, Kind>(&op)
      .Case([](arith::NegFOp) { return UnaryKind::Neg; })
      .Case([](math::ExpOp) { return UnaryKind::Exp; })
      .Case([](math::ExpM1Op) { return UnaryKind::Expm1; })
      .Case([](math::LogOp) { return UnaryKind::Log; })
      .Case([](math::Log1pOp) { return UnaryKind::Log1p; })
      .Case([](math::SqrtOp) { return UnaryKind::Sqrt; })
      .Case([](math::RsqrtOp) { return UnaryKind::Rsqrt; })
      .Case([](math::SinOp) { return UnaryKind::Sin; })
      .Case([](math::CosOp) { return UnaryKind::Cos; })
      .Case([](math::TanOp) { return UnaryKind::Tan; })
      .Case([](math::AsinOp) { return UnaryKind::Asin; })
      .Case([](math::AcosOp) { return UnaryKind::Acos; })
      .Case([](math::AtanOp) { return UnaryKind::Atan; })
      .Case([](math::SinhOp) { return UnaryKind::Sinh; })
      .Case([](math::CoshOp) { return UnaryKind::Cosh; })
      .Case([](math::TanhOp) { return UnaryKind::Tanh; })
      .Case([](math::ErfOp) { return UnaryKind::Erf; })
      .Case([](math::AbsFOp) { return UnaryKind::Abs; })
      .Case([](math::FloorOp) { return UnaryKind::Floor; })
      .Case([](newton::SigmoidOp) { return UnaryKind::Sigmoid; })
      .Case([](newton::SoftplusOp) { return UnaryKind::Softplus; })
      .Case([](newton::SignOp) { return UnaryKind::Sign; })
      .Default([](Operation*) { return Kind(); });
}

static std::optional<BinaryKind> binaryKind(Operation& op) {
  using Kind = std::optional<BinaryKind>;
  return llvm::TypeSwitch<Operation*, Kind>(&op)
      .Case([](arith::AddFOp) { return BinaryKind::Add; })
      .Case([](arith::SubFOp) { return BinaryKind::Sub; })
      .Case([](arith::MulFOp) { return BinaryKind::Mul; })
      .Case([](arith::DivFOp) { return BinaryKind::Div; })
      .Case([](math::PowFOp) { return BinaryKind::Pow; })
      .Case([](math::Atan2Op) { return BinaryKind::Atan2; })
      .Default([](Operation*) { return Kind(); });
}

static double constant(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValueAsDouble();
  return cast<IntegerAttr>(value).getValue().isZero() ? 0 : 1;
}

std::optional<double> check::evaluate(Operation& op, ArrayRef<double> x) {
  if (auto kind = unaryKind(op))
    return rnn::evaluate(*kind, x[0]);
  if (auto kind = binaryKind(op))
    return rnn::evaluate(*kind, x[0], x[1]);
  using Result = std::optional<double>;
  return llvm::TypeSwitch<Operation*, Result>(&op)
      .Case([&](arith::ConstantOp c) { return constant(c.getValue()); })
      .Case([&](math::FmaOp) { return std::fma(x[0], x[1], x[2]); })
      .Case([&](arith::SelectOp) { return x[0] != 0 ? x[1] : x[2]; })
      .Case([&](arith::CmpFOp c) { return compare(c.getPredicate(), x[0], x[1]) ? 1.0 : 0.0; })
      .Case([&](arith::AndIOp) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; })
      .Case([&](arith::OrIOp) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; })
      .Case([&](arith::XOrIOp) { return (x[0] != 0) != (x[1] != 0) ? 1.0 : 0.0; })
      .Default([](Operation*) { return Result(); });
}

/// The search of an implicit step, for one lane; then its residual, at what was found.
static Operation* solve(newton::ImplicitOp op, check::Values& values) {
  SmallVector<double> search;
  for (Value start : op.getStarts())
    search.push_back(values.lookup(start));
  llvm::append_range(search, op.searchStart());
  search.push_back(0);
  Block& trial = op.trialBlock();
  for (int64_t i = 0; i < newton::ImplicitOp::kMaxTrials && search.back() == 0; ++i) {
    check::Values inner;
    for (auto [argument, value] :
         llvm::zip(trial.getArguments().take_front(op.numCarried()), search))
      inner[argument] = value;
    for (auto [argument, value] :
         llvm::zip_equal(trial.getArguments().drop_front(op.numCarried()), op.getCaptures()))
      inner[argument] = values.lookup(value);
    if (Operation* unknown = check::evaluateBlock(trial, inner))
      return unknown;
    for (auto [to, value] : llvm::zip_equal(search, trial.getTerminator()->getOperands()))
      to = inner.lookup(value);
  }
  for (auto [solution, value] : llvm::zip(op.getSolutions(), search))
    values[solution] = value;
  Block& residual = op.residualBlock();
  SmallVector<Value> read(op.getSolutions());
  llvm::append_range(read, op.getCaptures());
  for (auto [argument, value] : llvm::zip_equal(residual.getArguments(), read))
    values[argument] = values.lookup(value);
  return check::evaluateBlock(residual, values);
}

Operation* check::evaluateBlock(Block& block, Values& values) {
  for (Operation& op : block) {
    if (op.getNumResults() == 0)
      continue;
    if (auto implicit = dyn_cast<newton::ImplicitOp>(op)) {
      if (Operation* unknown = solve(implicit, values))
        return unknown;
      continue;
    }
    SmallVector<double> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.lookup(operand));
    std::optional<double> value = evaluate(op, operands);
    if (!value)
      return &op;
    values[op.getResult(0)] = *value;
  }
  return nullptr;
}
