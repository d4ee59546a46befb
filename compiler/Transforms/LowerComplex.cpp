//===- LowerComplex.cpp - complex arrays become pairs of real ones ---------------------------===//
//
// A complex tensor is real with one more axis, the last, of size 2: the real part, then the
// imaginary one. Inside the step a complex value is two values of its shape. A product is the four
// products and two sums of the textbook, so that its Jacobian is the block (a -b; b a) as it
// stands.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/LowerComplex.h"

#include "Transforms/Passes.h"
#include "rnnc/Complex.h"

#include "llvm/ADT/TypeSwitch.h"

namespace rnnc {
#define GEN_PASS_DEF_LOWERCOMPLEX
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {

bool isComplex(Value value) { return cast<ArrayType>(value.getType()).isComplex(); }

/// The number 0, as it stands or stretched to a shape.
bool isZero(Value value) {
  if (auto number = value.getDefiningOp<ConstantOp>())
    return number.getValue().isZero();
  auto chosen = value.getDefiningOp<WhereOp>();
  return chosen && chosen.getIfTrue() == chosen.getIfFalse() && isZero(chosen.getIfTrue());
}

/// The two parts of a value. A real one has no imaginary part.
struct Parts {
  Value re, im;
};

class ComplexLowering {
public:
  explicit ComplexLowering(CellOp cell) : cell(cell), b(cell.getContext()) {}
  void run();

private:
  void declare(Operation& op);
  void lower(Operation* op);
  void read(Operation* op);
  void write(Operation* op, Value value);
  void define(Value result, Parts parts);

  Parts partsOf(Value value) {
    auto known = parts.find(value);
    return known == parts.end() ? Parts{value, {}} : known->second;
  }
  Value number(double value) {
    return ConstantOp::create(b, loc, ArrayType::get(b.getContext(), {}), b.getF64FloatAttr(value));
  }
  Value imaginary(Parts x) { return x.im ? x.im : number(0); }
  Value unary(UnaryKind kind, Value x) { return UnaryOp::create(b, loc, x.getType(), kind, x); }
  ArrayType broadcastType(Value x, Value y) {
    return ArrayType::get(b.getContext(), *broadcast(cast<ArrayType>(x.getType()).getDims(),
                                                     cast<ArrayType>(y.getType()).getDims()));
  }
  Value binary(BinaryKind kind, Value x, Value y) {
    return BinaryOp::create(b, loc, broadcastType(x, y), kind, x, y);
  }
  Value add(Value x, Value y) { return binary(BinaryKind::Add, x, y); }
  Value sub(Value x, Value y) { return binary(BinaryKind::Sub, x, y); }
  Value mul(Value x, Value y) { return binary(BinaryKind::Mul, x, y); }
  Value div(Value x, Value y) { return binary(BinaryKind::Div, x, y); }
  Value compare(CompareKind kind, Value x, Value y) {
    return CompareOp::create(b, loc, broadcastType(x, y).withKind(Kind::Bool), kind, x, y);
  }
  Value where(Value c, Value x, Value y) {
    auto type = ArrayType::get(b.getContext(), *broadcast(broadcastType(x, y).getDims(),
                                                          cast<ArrayType>(c.getType()).getDims()));
    return WhereOp::create(b, loc, type, c, x, y);
  }
  Value stretch(Value x, Value beside, ArrayRef<DimAttr> dims);
  Parts sum(BinaryKind kind, Parts x, Parts y);
  Parts product(Parts x, Parts y, llvm::function_ref<Value(Value, Value)> times);
  Parts reciprocal(Parts x);
  Parts quotient(Parts x, Parts y);
  Parts arithmetic(BinaryOp op);
  Parts exponential(Parts x);
  /// The same op on each part.
  Parts each(Operation* op);
  Value cloneFor(Operation* op, ArrayRef<Value> operands);

  CellOp cell;
  OpBuilder b;
  Location loc = b.getUnknownLoc();
  DenseMap<Value, Parts> parts;
};

} // namespace

static DimAttr pairDim(MLIRContext* context) {
  return DimAttr::get(StringAttr::get(context, StringRef(kComplexDim)), 2);
}

static ArrayType pairType(ArrayType type) {
  SmallVector<DimAttr> dims(type.getDims());
  dims.push_back(pairDim(type.getContext()));
  return ArrayType::get(type.getContext(), dims);
}

void ComplexLowering::declare(Operation& op) {
  auto type = op.getAttrOfType<TypeAttr>("type");
  if (type && cast<ArrayType>(type.getValue()).isComplex())
    op.setAttr("type", TypeAttr::get(pairType(cast<ArrayType>(type.getValue()))));
}

/// A part of the result's shape. The dialect broadcasts in operations only: a choice between the
/// part and itself, under a condition that has the shape, is the part in that shape.
Value ComplexLowering::stretch(Value x, Value beside, ArrayRef<DimAttr> dims) {
  if (llvm::equal(cast<ArrayType>(x.getType()).getDims(), dims,
                  [](DimAttr a, DimAttr b) { return a.matches(b); }))
    return x;
  return where(compare(CompareKind::Eq, x, beside), x, x);
}

void ComplexLowering::define(Value result, Parts made) {
  ArrayRef<DimAttr> dims = cast<ArrayType>(result.getType()).getDims();
  Parts whole{stretch(made.re, imaginary(made), dims), {}};
  whole.im = stretch(imaginary(made), made.re, dims);
  if (auto named = dyn_cast<NameLoc>(result.getLoc()))
    for (auto [part, suffix] : {std::pair(whole.re, "_re"), std::pair(whole.im, "_im")})
      if (Operation* op = part.getDefiningOp(); op->getLoc() == loc)
        op->setLoc(NameLoc::get(b.getStringAttr(named.getName().getValue() + suffix),
                                named.getChildLoc()));
  parts[result] = whole;
}

Parts ComplexLowering::sum(BinaryKind kind, Parts x, Parts y) {
  Parts result{binary(kind, x.re, y.re), x.im};
  if (x.im && y.im)
    result.im = binary(kind, x.im, y.im);
  else if (y.im)
    result.im = kind == BinaryKind::Sub ? unary(UnaryKind::Neg, y.im) : y.im;
  return result;
}

/// A part that is the number 0 adds nothing to a product.
Parts ComplexLowering::product(Parts x, Parts y, llvm::function_ref<Value(Value, Value)> times) {
  auto term = [&](Value a, Value c) {
    return !a || !c || isZero(a) || isZero(c) ? Value() : times(a, c);
  };
  auto join = [&](BinaryKind kind, Value a, Value c) {
    if (!a || !c)
      return c && kind == BinaryKind::Sub ? unary(UnaryKind::Neg, c) : a ? a : c;
    return binary(kind, a, c);
  };
  Parts result;
  Value first = term(x.re, y.re), second = term(x.im, y.im); // ops in this order everywhere
  result.re = join(BinaryKind::Sub, first, second);
  first = term(x.re, y.im), second = term(x.im, y.re);
  result.im = join(BinaryKind::Add, first, second);
  if (!result.re) // where both parts are 0 it has to have their shape
    result.re = result.im ? number(0) : times(x.re, y.re);
  return result;
}

/// Smith's way (1962): the larger part is divided by, so that no square overflows.
Parts ComplexLowering::reciprocal(Parts x) {
  Value isWide = compare(CompareKind::Ge, unary(UnaryKind::Abs, x.re), unary(UnaryKind::Abs, x.im));
  Value large = where(isWide, x.re, x.im), small = where(isWide, x.im, x.re);
  Value ratio = div(small, large), size = add(large, mul(small, ratio));
  Value one = number(1);
  return {div(where(isWide, one, ratio), size),
          unary(UnaryKind::Neg, div(where(isWide, ratio, one), size))};
}

/// By the reciprocal: the quotient is linear in the dividend, with the block (a -b; b a).
Parts ComplexLowering::quotient(Parts x, Parts y) {
  if (!y.im)
    return {div(x.re, y.re), div(x.im, y.re)};
  return product(x, reciprocal(y), [&](Value a, Value c) { return mul(a, c); });
}

Parts ComplexLowering::arithmetic(BinaryOp op) {
  Parts x = partsOf(op.getLhs()), y = partsOf(op.getRhs());
  switch (op.getKind()) {
  case BinaryKind::Mul:
    return product(x, y, [&](Value a, Value c) { return mul(a, c); });
  case BinaryKind::Div:
    return quotient(x, y);
  default:
    return sum(op.getKind(), x, y);
  }
}

Parts ComplexLowering::exponential(Parts x) {
  if (isZero(x.re))
    return {unary(UnaryKind::Cos, x.im), unary(UnaryKind::Sin, x.im)};
  Value size = unary(UnaryKind::Exp, x.re);
  return {mul(size, unary(UnaryKind::Cos, x.im)), mul(size, unary(UnaryKind::Sin, x.im))};
}

Value ComplexLowering::cloneFor(Operation* op, ArrayRef<Value> operands) {
  Operation* made = b.clone(*op);
  made->setLoc(loc);
  made->setOperands(operands);
  made->getResult(0).setType(cast<ArrayType>(op->getResult(0).getType()).withKind(Kind::Real));
  return made->getResult(0);
}

Parts ComplexLowering::each(Operation* op) {
  SmallVector<Value> re, im;
  for (Value operand : op->getOperands()) {
    if (cast<ArrayType>(operand.getType()).isBool()) { // the condition of a choice
      re.push_back(operand);
      im.push_back(operand);
      continue;
    }
    Parts x = partsOf(operand);
    re.push_back(x.re);
    im.push_back(imaginary(x));
  }
  return {cloneFor(op, re), cloneFor(op, im)};
}

/// h[t-1] of a complex state, x[t], a param: both elements of the last axis.
void ComplexLowering::read(Operation* op) {
  Value result = op->getResult(0);
  auto type = cast<ArrayType>(result.getType());
  Operation* pair = b.clone(*op);
  pair->getResult(0).setType(pairType(type));
  auto part = [&](int64_t at) -> Value {
    return SliceOp::create(b, loc, type.withKind(Kind::Real), pair->getResult(0), type.getRank(),
                           at, /*drop=*/true);
  };
  Value re = part(0);
  parts[result] = {re, part(1)};
}

void ComplexLowering::write(Operation* op, Value value) {
  Parts x = partsOf(value);
  unsigned axis = cast<ArrayType>(x.re.getType()).getRank();
  auto last = [&](Value part) -> Value {
    return ExpandOp::create(b, loc, expandedType(cast<ArrayType>(part.getType()), axis), part,
                            axis);
  };
  Value re = last(x.re), im = last(x.im);
  SmallVector<DimAttr> dims(cast<ArrayType>(x.re.getType()).getDims());
  dims.push_back(pairDim(b.getContext()));
  Value pair =
      ConcatOp::create(b, loc, ArrayType::get(b.getContext(), dims), ValueRange{re, im}, axis);
  op->setOperand(0, pair);
}

void ComplexLowering::lower(Operation* op) {
  b.setInsertionPoint(op);
  loc = op->getLoc();
  if (auto named = dyn_cast<NameLoc>(loc))
    loc = named.getChildLoc();
  if (auto part = dyn_cast<PartOp>(op)) {
    Parts x = partsOf(part.getOperand());
    part.getResult().replaceAllUsesWith(part.getKind() == PartKind::Re ? x.re : x.im);
    return;
  }
  if (isa<SetStateOp, SetOutputOp>(op)) {
    if (isComplex(op->getOperand(0)))
      write(op, op->getOperand(0));
    return;
  }
  if (op->getNumResults() == 0 || !isComplex(op->getResult(0)))
    return;
  if (isa<StateAtOp, InputAtOp, ParamValueOp>(op))
    return read(op);
  Parts made = llvm::TypeSwitch<Operation*, Parts>(op)
                   .Case([&](ComplexOp make) { return Parts{make.getRe(), make.getIm()}; })
                   .Case([&](BinaryOp binary) { return arithmetic(binary); })
                   .Case([&](MatmulOp matmul) {
                     return product(partsOf(matmul.getLhs()), partsOf(matmul.getRhs()),
                                    [&](Value x, Value y) { return cloneFor(op, {x, y}); });
                   })
                   .Case([&](UnaryOp unary) {
                     return unary.getKind() == UnaryKind::Exp
                                ? exponential(partsOf(unary.getOperand()))
                                : each(op);
                   })
                   .Default([&](Operation* other) { return each(other); });
  define(op->getResult(0), made);
}

void ComplexLowering::run() {
  for (Operation& op : cell.getBody().front())
    declare(op);
  b.setInsertionPointToStart(&cell.getBody().front());
  DimDeclOp::create(b, cell.getLoc(), b.getStringAttr(StringRef(kComplexDim)),
                    b.getI64IntegerAttr(2));
  SmallVector<Operation*> ops;
  for (Operation& op : cell.getStep().getBody().front())
    ops.push_back(&op);
  for (Operation* op : ops)
    lower(op);
  for (Operation* op : llvm::reverse(ops))
    if (op->getNumResults() && op->use_empty() && (isa<PartOp>(op) || isComplex(op->getResult(0))))
      op->erase();
}

/// Whether a declaration or a value of the cell is complex.
static bool hasComplex(CellOp cell) {
  auto isComplexType = [](Type type) {
    auto array = dyn_cast<ArrayType>(type);
    return array && array.isComplex();
  };
  for (Operation& op : cell.getBody().front())
    if (auto type = op.getAttrOfType<TypeAttr>("type"); type && isComplexType(type.getValue()))
      return true;
  for (Operation& op : cell.getStep().getBody().front())
    if (llvm::any_of(op.getResultTypes(), isComplexType) ||
        llvm::any_of(op.getOperandTypes(), isComplexType))
      return true;
  return false;
}

void rnnc::lowerComplex(CellOp cell) {
  if (hasComplex(cell))
    ComplexLowering(cell).run();
}

namespace {
struct LowerComplex : rnnc::impl::LowerComplexBase<LowerComplex> {
  void runOnOperation() override {
    for (CellOp cell : getOperation().getOps<CellOp>())
      lowerComplex(cell);
  }
};
} // namespace
