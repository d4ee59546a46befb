//===- Derivatives.cpp - the derivative rules of scalar ops ----------------------------------===//

#include "Newton/Derivatives.h"

#include "Newton/DerivativeRules.h"
#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
  Expr exp() const { return apply<math::ExpOp>(); }
  Expr log() const { return apply<math::LogOp>(); }
  Expr sqrt() const { return apply<math::SqrtOp>(); }
  Expr sin() const { return apply<math::SinOp>(); }
  Expr cos() const { return apply<math::CosOp>(); }
  Expr sinh() const { return apply<math::SinhOp>(); }
  Expr cosh() const { return apply<math::CoshOp>(); }
  Expr sigmoid() const { return apply<SigmoidOp>(); }
  Expr sign() const { return apply<SignOp>(); }
  Expr pow(Expr exponent) const {
    return with(math::PowFOp::create(*builder, loc, value, exponent.value));
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
  binary<arith::DivFOp, rules::divByLhs<Expr>, rules::divByRhs<Expr>>(c);
  arith::SelectOp::attachInterface<SelectModel>(*c);
}

void attachExponentials(MLIRContext* c) {
  unary<math::ExpOp, rules::exp<Expr>>(c);
  unary<math::ExpM1Op, rules::expm1<Expr>>(c);
  unary<math::LogOp, rules::log<Expr>>(c);
  unary<math::Log1pOp, rules::log1p<Expr>>(c);
  unary<math::SqrtOp, rules::sqrt<Expr>>(c);
  unary<math::RsqrtOp, rules::rsqrt<Expr>>(c);
  binary<math::PowFOp, rules::powByLhs<Expr>, rules::powByRhs<Expr>>(c);
  unary<math::ErfOp, rules::erf<Expr>>(c);
  unary<SigmoidOp, rules::sigmoid<Expr>>(c);
  unary<SoftplusOp, rules::softplus<Expr>>(c);
}

void attachTrigonometry(MLIRContext* c) {
  unary<math::SinOp, rules::sin<Expr>>(c);
  unary<math::CosOp, rules::cos<Expr>>(c);
  unary<math::TanOp, rules::tan<Expr>>(c);
  unary<math::AsinOp, rules::asin<Expr>>(c);
  unary<math::AcosOp, rules::acos<Expr>>(c);
  unary<math::AtanOp, rules::atan<Expr>>(c);
  binary<math::Atan2Op, rules::atan2ByLhs<Expr>, rules::atan2ByRhs<Expr>>(c);
  unary<math::SinhOp, rules::sinh<Expr>>(c);
  unary<math::CoshOp, rules::cosh<Expr>>(c);
  unary<math::TanhOp, rules::tanh<Expr>>(c);
}

void attachKinks(MLIRContext* c) {
  unary<math::AbsFOp, rules::abs<Expr>>(c);
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
