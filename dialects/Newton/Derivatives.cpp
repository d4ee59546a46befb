//===- Derivatives.cpp - the derivative rules, all in one place ------------------------------===//

#include "Newton/Derivatives.h"
#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace rnnc::newton;

#include "Newton/DerivativeInterface.cpp.inc"

/// Where an op stands in the source, without the name that the user gave its value: a derivative is
/// another value.
static Location place(Operation* op) {
  auto named = dyn_cast<NameLoc>(op->getLoc());
  return named ? named.getChildLoc() : op->getLoc();
}

namespace {

/// Formulas as formulas: every operator builds one op at the differentiated op's location.
struct Expr {
  OpBuilder* builder;
  Location loc;
  Value value;

  Expr with(Value v) const { return {builder, loc, v}; }
  Expr constant(double number) const {
    return with(
        arith::ConstantOp::create(*builder, loc, builder->getFloatAttr(value.getType(), number)));
  }
  friend Expr operator+(Expr a, Expr b) {
    return a.with(arith::AddFOp::create(*a.builder, a.loc, a.value, b.value));
  }
  friend Expr operator-(Expr a, Expr b) {
    return a.with(arith::SubFOp::create(*a.builder, a.loc, a.value, b.value));
  }
  friend Expr operator*(Expr a, Expr b) {
    return a.with(arith::MulFOp::create(*a.builder, a.loc, a.value, b.value));
  }
  friend Expr operator/(Expr a, Expr b) {
    return a.with(arith::DivFOp::create(*a.builder, a.loc, a.value, b.value));
  }
  friend Expr operator-(Expr a) {
    return a.with(arith::NegFOp::create(*a.builder, a.loc, a.value));
  }
  friend Expr operator+(double a, Expr b) { return b.constant(a) + b; }
  friend Expr operator-(double a, Expr b) { return b.constant(a) - b; }
  friend Expr operator*(double a, Expr b) { return b.constant(a) * b; }
  friend Expr operator/(double a, Expr b) { return b.constant(a) / b; }
  template <typename OpT>
  Expr apply() const {
    return with(OpT::create(*builder, loc, value));
  }
};

/// y = f(x): the rule gives dy/dx from x and y.
using UnaryRule = Expr (*)(Expr x, Expr y);

template <typename OpT, UnaryRule rule>
struct UnaryModel : DerivativeOpInterface::template ExternalModel<UnaryModel<OpT, rule>, OpT> {
  void partials(Operation* op, OpBuilder& builder, ArrayRef<bool> wanted,
                SmallVectorImpl<Value>& partials) const {
    Expr x{&builder, place(op), op->getOperand(0)};
    partials.assign(1, wanted[0] ? rule(x, x.with(op->getResult(0))).value : Value());
  }
};

/// Sums, differences and negations are linear: their tangents are sums, differences and negations,
/// not products with 1 and -1.
template <typename OpT>
struct SumModel : DerivativeOpInterface::template ExternalModel<SumModel<OpT>, OpT> {
  static constexpr double kSign = std::is_same_v<OpT, arith::AddFOp> ? 1 : -1;
  void partials(Operation* op, OpBuilder& builder, ArrayRef<bool>,
                SmallVectorImpl<Value>& partials) const {
    Expr a{&builder, place(op), op->getOperand(0)};
    partials.assign({a.constant(1).value, a.constant(kSign).value});
  }
  Value tangent(Operation* op, OpBuilder& builder, ArrayRef<Value> tangents) const {
    if (tangents[0] && tangents[1])
      return OpT::create(builder, place(op), tangents[0], tangents[1]);
    if (tangents[0] || kSign > 0)
      return tangents[0] ? tangents[0] : tangents[1];
    return tangents[1] ? Value(arith::NegFOp::create(builder, place(op), tangents[1])) : Value();
  }
};

struct NegModel : DerivativeOpInterface::ExternalModel<NegModel, arith::NegFOp> {
  void partials(Operation* op, OpBuilder& builder, ArrayRef<bool>,
                SmallVectorImpl<Value>& partials) const {
    Expr a{&builder, place(op), op->getOperand(0)};
    partials.assign(1, a.constant(-1).value);
  }
  Value tangent(Operation* op, OpBuilder& builder, ArrayRef<Value> tangents) const {
    return tangents[0] ? Value(arith::NegFOp::create(builder, place(op), tangents[0])) : Value();
  }
};

/// y = f(a, b): one rule an operand.
using BinaryRule = Expr (*)(Expr a, Expr b, Expr y);

template <typename OpT, BinaryRule byLhs, BinaryRule byRhs>
struct BinaryModel
    : DerivativeOpInterface::template ExternalModel<BinaryModel<OpT, byLhs, byRhs>, OpT> {
  void partials(Operation* op, OpBuilder& builder, ArrayRef<bool> wanted,
                SmallVectorImpl<Value>& partials) const {
    Expr a{&builder, place(op), op->getOperand(0)};
    Expr b = a.with(op->getOperand(1)), y = a.with(op->getResult(0));
    partials.assign(2, Value());
    if (wanted[0])
      partials[0] = byLhs(a, b, y).value;
    if (wanted[1])
      partials[1] = byRhs(a, b, y).value;
  }
};

/// A step function: flat between its steps.
template <typename OpT>
struct FlatModel : DerivativeOpInterface::template ExternalModel<FlatModel<OpT>, OpT> {
  void partials(Operation*, OpBuilder&, ArrayRef<bool> wanted,
                SmallVectorImpl<Value>& partials) const {
    partials.assign(wanted.size(), Value());
  }
};

/// a * b + c, rounded once.
struct FmaModel : DerivativeOpInterface::ExternalModel<FmaModel, math::FmaOp> {
  void partials(Operation* op, OpBuilder& builder, ArrayRef<bool> wanted,
                SmallVectorImpl<Value>& partials) const {
    Expr a{&builder, place(op), op->getOperand(0)};
    partials.assign(
        {op->getOperand(1), op->getOperand(0), wanted[2] ? a.constant(1).value : Value()});
  }
};

/// The branch taken, and nothing of the other one: 0 times its derivative could be NaN.
struct SelectModel : DerivativeOpInterface::ExternalModel<SelectModel, arith::SelectOp> {
  void partials(Operation* op, OpBuilder& builder, ArrayRef<bool> wanted,
                SmallVectorImpl<Value>& partials) const {
    Expr y{&builder, place(op), op->getResult(0)};
    Value one = y.constant(1).value, zero = y.constant(0).value, condition = op->getOperand(0);
    partials.assign({Value(), arith::SelectOp::create(builder, y.loc, condition, one, zero),
                     arith::SelectOp::create(builder, y.loc, condition, zero, one)});
  }
  Value tangent(Operation* op, OpBuilder& builder, ArrayRef<Value> tangents) const {
    if (!tangents[1] && !tangents[2])
      return {};
    Expr y{&builder, place(op), op->getResult(0)};
    Value zero = y.constant(0).value;
    return arith::SelectOp::create(builder, y.loc, op->getOperand(0),
                                   tangents[1] ? tangents[1] : zero,
                                   tangents[2] ? tangents[2] : zero);
  }
};

template <typename OpT, UnaryRule rule>
void unary(MLIRContext* context) {
  OpT::template attachInterface<UnaryModel<OpT, rule>>(*context);
}
template <typename OpT, BinaryRule byLhs, BinaryRule byRhs>
void binary(MLIRContext* context) {
  OpT::template attachInterface<BinaryModel<OpT, byLhs, byRhs>>(*context);
}

void attachArith(MLIRContext* c) {
  arith::AddFOp::attachInterface<SumModel<arith::AddFOp>>(*c);
  arith::SubFOp::attachInterface<SumModel<arith::SubFOp>>(*c);
  arith::NegFOp::attachInterface<NegModel>(*c);
  binary<arith::MulFOp, [](Expr, Expr b, Expr) { return b; }, [](Expr a, Expr, Expr) { return a; }>(
      c);
  binary<arith::DivFOp, [](Expr, Expr b, Expr) { return 1 / b; },
         [](Expr, Expr b, Expr y) { return -(y / b); }>(c);
  arith::SelectOp::attachInterface<SelectModel>(*c);
}

void attachExponentials(MLIRContext* c) {
  unary<math::ExpOp, [](Expr, Expr y) { return y; }>(c);
  unary<math::ExpM1Op, [](Expr, Expr y) { return 1 + y; }>(c);
  unary<math::LogOp, [](Expr x, Expr) { return 1 / x; }>(c);
  unary<math::Log1pOp, [](Expr x, Expr) { return 1 / (1 + x); }>(c);
  unary<math::SqrtOp, [](Expr, Expr y) { return 0.5 / y; }>(c);
  unary<math::RsqrtOp, [](Expr x, Expr y) { return -(0.5 * (y / x)); }>(c);
  binary<math::PowFOp,
         [](Expr a, Expr b, Expr) {
           return b * a.with(math::PowFOp::create(*a.builder, a.loc, a.value,
                                                  (b - b.constant(1)).value));
         },
         [](Expr a, Expr, Expr y) { return y * a.apply<math::LogOp>(); }>(c);
  unary<math::ErfOp, [](Expr x, Expr) {
    return (2 * std::numbers::inv_sqrtpi) * (-(x * x)).apply<math::ExpOp>();
  }>(c);
  unary<SigmoidOp, [](Expr, Expr y) { return y * (1 - y); }>(c);
  unary<SoftplusOp, [](Expr x, Expr) { return x.apply<SigmoidOp>(); }>(c);
}

void attachTrigonometry(MLIRContext* c) {
  unary<math::SinOp, [](Expr x, Expr) { return x.apply<math::CosOp>(); }>(c);
  unary<math::CosOp, [](Expr x, Expr) { return -x.apply<math::SinOp>(); }>(c);
  unary<math::TanOp, [](Expr, Expr y) { return 1 + y * y; }>(c);
  unary<math::AsinOp, [](Expr x, Expr) { return 1 / ((1 - x) * (1 + x)).apply<math::SqrtOp>(); }>(
      c);
  unary<math::AcosOp,
        [](Expr x, Expr) { return -(1 / ((1 - x) * (1 + x)).apply<math::SqrtOp>()); }>(c);
  unary<math::AtanOp, [](Expr x, Expr) { return 1 / (1 + x * x); }>(c);
  binary<math::Atan2Op, [](Expr a, Expr b, Expr) { return b / (a * a + b * b); },
         [](Expr a, Expr b, Expr) { return -(a / (a * a + b * b)); }>(c);
  unary<math::SinhOp, [](Expr x, Expr) { return x.apply<math::CoshOp>(); }>(c);
  unary<math::CoshOp, [](Expr x, Expr) { return x.apply<math::SinhOp>(); }>(c);
  unary<math::TanhOp, [](Expr, Expr y) { return 1 - y * y; }>(c);
}

void attachKinks(MLIRContext* c) {
  unary<math::AbsFOp, [](Expr x, Expr) { return x.apply<SignOp>(); }>(c);
  math::FloorOp::attachInterface<FlatModel<math::FloorOp>>(*c);
  SignOp::attachInterface<FlatModel<SignOp>>(*c);
  math::FmaOp::attachInterface<FmaModel>(*c);
}

} // namespace

Value rnnc::newton::chainRule(Operation* op, OpBuilder& builder, ArrayRef<Value> tangents) {
  SmallVector<bool> wanted;
  for (Value tangent : tangents)
    wanted.push_back(static_cast<bool>(tangent));
  SmallVector<Value> partials;
  cast<DerivativeOpInterface>(op).partials(builder, wanted, partials);
  Value sum;
  for (auto [partial, tangent] : llvm::zip_equal(partials, tangents)) {
    if (!partial || !tangent)
      continue;
    Value term = arith::MulFOp::create(builder, place(op), partial, tangent);
    sum = sum ? Value(arith::AddFOp::create(builder, place(op), sum, term)) : term;
  }
  return sum;
}

void rnnc::newton::registerDerivativeModels(DialectRegistry& registry) {
  registry.addExtension(
      +[](MLIRContext* context, arith::ArithDialect*, math::MathDialect*, NewtonDialect*) {
        attachArith(context);
        attachExponentials(context);
        attachTrigonometry(context);
        attachKinks(context);
      });
}
