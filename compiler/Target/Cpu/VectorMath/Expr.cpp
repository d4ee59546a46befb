//===- Expr.cpp - formulas as formulas ===//

#include "Target/Cpu/VectorMath/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;

Formula::Formula(OpBuilder& builder, Location loc, Value argument, VectorMathOptions options)
    : builder(builder), loc(loc), options(options),
      floatType(getElementTypeOrSelf(argument.getType())),
      intType(builder.getIntegerType(floatType.getIntOrFloatBitWidth())), width(0) {
  if (auto vector = dyn_cast<VectorType>(argument.getType()))
    width = vector.getNumElements();
}

Type Formula::shaped(Type element) const {
  return width ? Type(VectorType::get({width}, element)) : element;
}

Type Expr::element() const { return getElementTypeOrSelf(v.getType()); }
bool Expr::isFloat() const { return isa<FloatType>(element()); }

static Expr constant(Expr like, TypedAttr number, uint64_t key) {
  Formula& f = like.in();
  Type type = like.value().getType();
  Value& known = f.constants[{type, key}];
  if (!known) {
    TypedAttr attr = number;
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(number));
    known = arith::ConstantOp::create(f.builder, f.loc, attr);
  }
  return like.with(known);
}

Expr Expr::like(double number) const {
  return constant(*this, in().builder.getFloatAttr(element(), number),
                  llvm::bit_cast<uint64_t>(number));
}

Expr Expr::like(int64_t number) const {
  unsigned bits = element().getIntOrFloatBitWidth();
  return constant(*this, in().builder.getIntegerAttr(element(), APInt(bits, number).getSExtValue()),
                  number);
}

template <typename OpT>
static Expr unary(Expr a) {
  return a.with(OpT::create(a.in().builder, a.in().loc, a.value()));
}

template <typename OpT>
static Expr binary(Expr a, Expr b) {
  return a.with(OpT::create(a.in().builder, a.in().loc, a.value(), b.value()));
}

template <typename OpT>
static Expr convert(Expr a, Type element) {
  return a.with(OpT::create(a.in().builder, a.in().loc, a.in().shaped(element), a.value()));
}

template <typename FloatT, typename IntT>
static Expr arithmetic(Expr a, Expr b) {
  return a.isFloat() ? binary<FloatT>(a, b) : binary<IntT>(a, b);
}

Expr Expr::bits() const {
  return convert<arith::BitcastOp>(*this,
                                   in().builder.getIntegerType(element().getIntOrFloatBitWidth()));
}
Expr Expr::asFloat() const {
  OpBuilder& b = in().builder;
  return convert<arith::BitcastOp>(
      *this, element().getIntOrFloatBitWidth() == 64 ? Type(b.getF64Type()) : b.getF32Type());
}
Expr Expr::toFloat() const { return convert<arith::SIToFPOp>(*this, in().floatType); }
Expr Expr::toDouble() const { return convert<arith::ExtFOp>(*this, in().builder.getF64Type()); }
Expr Expr::toSingle() const { return convert<arith::TruncFOp>(*this, in().builder.getF32Type()); }
Expr Expr::toLong() const { return convert<arith::ExtUIOp>(*this, in().builder.getI64Type()); }
Expr Expr::toInt() const { return convert<arith::TruncIOp>(*this, in().builder.getI32Type()); }

namespace rnnc::vecmath {

Expr operator+(Expr a, Expr b) { return arithmetic<arith::AddFOp, arith::AddIOp>(a, b); }
Expr operator-(Expr a, Expr b) { return arithmetic<arith::SubFOp, arith::SubIOp>(a, b); }
Expr operator*(Expr a, Expr b) { return arithmetic<arith::MulFOp, arith::MulIOp>(a, b); }
Expr operator/(Expr a, Expr b) { return binary<arith::DivFOp>(a, b); }
Expr operator-(Expr a) { return a.isFloat() ? unary<arith::NegFOp>(a) : a.like(int64_t(0)) - a; }
Expr operator&(Expr a, Expr b) { return binary<arith::AndIOp>(a, b); }
Expr operator|(Expr a, Expr b) { return binary<arith::OrIOp>(a, b); }
Expr operator^(Expr a, Expr b) { return binary<arith::XOrIOp>(a, b); }
Expr operator<<(Expr a, Expr b) { return binary<arith::ShLIOp>(a, b); }
Expr operator>>(Expr a, Expr b) { return binary<arith::ShRUIOp>(a, b); }

static Expr compare(Expr a, Expr b, arith::CmpFPredicate floats, arith::CmpIPredicate integers) {
  Formula& f = a.in();
  if (a.isFloat())
    return a.with(arith::CmpFOp::create(f.builder, f.loc, floats, a.value(), b.value()));
  return a.with(arith::CmpIOp::create(f.builder, f.loc, integers, a.value(), b.value()));
}

Expr operator<(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt);
}
Expr operator<=(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle);
}
Expr operator>(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt);
}
Expr operator>=(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge);
}
Expr operator==(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq);
}
Expr operator!=(Expr a, Expr b) {
  return compare(a, b, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne);
}
Expr isNan(Expr a) { return compare(a, a, arith::CmpFPredicate::UNO, arith::CmpIPredicate::ne); }

Expr select(Expr condition, Expr yes, Expr no) {
  Formula& f = yes.in();
  return yes.with(
      arith::SelectOp::create(f.builder, f.loc, condition.value(), yes.value(), no.value()));
}

Expr fma(Expr a, Expr b, Expr c) {
  Formula& f = a.in();
  if (!f.fma())
    return a * b + c;
  return a.with(math::FmaOp::create(f.builder, f.loc, a.value(), b.value(), c.value()));
}

Expr abs(Expr a) { return unary<math::AbsFOp>(a); }
Expr sqrt(Expr a) { return unary<math::SqrtOp>(a); }
Expr floor(Expr a) { return unary<math::FloorOp>(a); }
Expr roundEven(Expr a) { return unary<math::RoundEvenOp>(a); }
Expr copysign(Expr magnitude, Expr sign) { return binary<math::CopySignOp>(magnitude, sign); }

// Written so that x86's min and max, which return their second operand for a NaN, are one of them.
Expr atMost(Expr x, double limit) {
  Expr bound = x.like(limit);
  return select(bound < x, bound, x);
}
Expr atLeast(Expr x, double limit) {
  Expr bound = x.like(limit);
  return select(bound > x, bound, x);
}

Expr signBit(Expr x) {
  Expr bits = x.bits();
  int64_t place = bits.element().getIntOrFloatBitWidth() - 1;
  return bits & static_cast<int64_t>(uint64_t(1) << place);
}

Expr flipSign(Expr x, Expr signBit) { return (x.bits() ^ signBit).asFloat(); }

Expr polynomial(Expr x, llvm::ArrayRef<double> coefficients) {
  llvm::SmallVector<Expr> terms;
  for (double c : coefficients)
    terms.push_back(x.like(c));
  for (Expr power = x;; power = power * power) {
    if (terms.size() == 3) // as short as Estrin's last two steps, without the square
      return fma(power, fma(power, terms[2], terms[1]), terms[0]);
    llvm::SmallVector<Expr> next;
    for (size_t i = 0; i < terms.size(); i += 2)
      next.push_back(i + 1 < terms.size() ? fma(power, terms[i + 1], terms[i]) : terms[i]);
    terms = std::move(next);
    if (terms.size() == 1)
      return terms[0];
  }
}

Value build(OpBuilder& builder, Location loc, Value x, VectorMathOptions options,
            llvm::function_ref<Expr(Expr)> formula) {
  Formula place(builder, loc, x, options);
  return formula(Expr(place, x)).value();
}

Value build(OpBuilder& builder, Location loc, Value a, Value b, VectorMathOptions options,
            llvm::function_ref<Expr(Expr, Expr)> formula) {
  Formula place(builder, loc, a, options);
  return formula(Expr(place, a), Expr(place, b)).value();
}

static Value anyLane(Expr condition) {
  if (!isa<VectorType>(condition.value().getType()))
    return condition.value();
  Formula& f = condition.in();
  return vector::ReductionOp::create(f.builder, f.loc, vector::CombiningKind::OR,
                                     condition.value());
}

llvm::SmallVector<Expr> whenAny(Expr condition, llvm::ArrayRef<Expr> common,
                                llvm::function_ref<llvm::SmallVector<Expr>()> rare) {
  Formula& f = condition.in();
  llvm::SmallVector<Type> types;
  llvm::SmallVector<Value> otherwise;
  for (Expr e : common) {
    types.push_back(e.value().getType());
    otherwise.push_back(e.value());
  }
  auto branch = scf::IfOp::create(f.builder, f.loc, types, anyLane(condition), true);
  {
    OpBuilder::InsertionGuard guard(f.builder);
    auto constants = f.constants; // those made inside are not visible outside
    f.builder.setInsertionPointToStart(branch.thenBlock());
    llvm::SmallVector<Value> results;
    for (Expr e : rare())
      results.push_back(e.value());
    scf::YieldOp::create(f.builder, f.loc, results);
    f.constants = std::move(constants);
    f.builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(f.builder, f.loc, otherwise);
  }
  llvm::SmallVector<Expr> results;
  for (Value result : branch.getResults())
    results.push_back(condition.with(result));
  return results;
}

Expr whenAny(Expr condition, Expr common, llvm::function_ref<Expr()> rare) {
  return whenAny(condition, llvm::ArrayRef<Expr>(common),
                 [&] { return llvm::SmallVector<Expr>{rare()}; })
      .front();
}

} // namespace rnnc::vecmath
