//===- EquationOps.cpp - operators and built-in functions, with their shapes ------------------===//

#include "Frontend/Equations.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::DimAttr;

std::string rnnc::shapeText(ArrayType type) {
  std::string text = "[";
  for (DimAttr dim : type.getDims()) {
    text += (text.size() > 1 ? ", " : "") + dim.str();
    if (!dim.getName().empty() && !dim.isFree())
      text += " = " + std::to_string(dim.getSize());
  }
  return text + "]";
}

std::string EquationBuilder::shape(Value value) {
  return shapeText(cast<ArrayType>(value.getType()));
}

/// A number without an order of its own: complex ones are no operand of most functions.
bool EquationBuilder::real(Operand operand) {
  if (!numeric(operand))
    return false;
  if (!cast<ArrayType>(operand.value.getType()).isComplex())
    return true;
  error(operand.span, "RNN0210", "'" + text(operand.span) + "' is complex, not a real number",
        "take re(z), im(z), abs(z) or arg(z)");
  return false;
}

bool EquationBuilder::numeric(Operand operand) {
  if (!cast<ArrayType>(operand.value.getType()).isBool())
    return true;
  error(operand.span, "RNN0204", "'" + text(operand.span) + "' is a truth value, not a number",
        "choose between numbers with where(condition, a, b)");
  return false;
}

bool EquationBuilder::truth(Operand operand) {
  if (cast<ArrayType>(operand.value.getType()).isBool())
    return true;
  error(operand.span, "RNN0204", "'" + text(operand.span) + "' is a number, not a truth value",
        "compare it, as in x > 0");
  return false;
}

std::optional<SmallVector<DimAttr>> EquationBuilder::broadcast(Span at, Operand a, Operand b) {
  auto left = cast<ArrayType>(a.value.getType()), right = cast<ArrayType>(b.value.getType());
  FailureOr<SmallVector<DimAttr>> dims = rnn::broadcast(left.getDims(), right.getDims());
  if (succeeded(dims))
    return *dims;
  error(at, "RNN0205",
        "shapes do not fit: " + text(a.span) + " is " + shape(a.value) + " but " + text(b.span) +
            " is " + shape(b.value));
  return std::nullopt;
}

std::optional<double> rnnc::constantOf(Value value) {
  if (auto op = value.getDefiningOp<rnn::ConstantOp>())
    return op.getValue().convertToDouble();
  return std::nullopt;
}

Value EquationBuilder::unary(Location loc, rnn::UnaryKind kind, Value x) {
  if (auto constant = constantOf(x))
    return number(loc, rnn::evaluate(kind, *constant));
  return rnn::UnaryOp::create(builder, loc, x.getType(), kind, x);
}

Value EquationBuilder::binary(Span at, rnn::BinaryKind kind, Operand a, Operand b) {
  bool isArithmetic = kind <= rnn::BinaryKind::Div;
  if (isArithmetic ? !numeric(a) || !numeric(b) : !real(a) || !real(b))
    return {};
  auto dims = broadcast(at, a, b);
  if (!dims)
    return {};
  auto x = constantOf(a.value), y = constantOf(b.value);
  if (x && y)
    return number(location(at), rnn::evaluate(kind, *x, *y));
  auto type = ArrayType::get(builder.getContext(), *dims, kindOf({a, b}));
  return rnn::BinaryOp::create(builder, location(at), type, kind, a.value, b.value);
}

Value EquationBuilder::matmul(Span at, Operand a, Operand b) {
  if (!numeric(a) || !numeric(b))
    return {};
  auto left = cast<ArrayType>(a.value.getType()), right = cast<ArrayType>(b.value.getType());
  FailureOr<SmallVector<DimAttr>> dims = rnn::matmulDims(left.getDims(), right.getDims());
  if (failed(dims)) {
    error(
        at, "RNN0206",
        "'@' does not fit: " + text(a.span) + " is " + shape(a.value) + " but " + text(b.span) +
            " is " + shape(b.value),
        left.getRank() < 2
            ? "the left side of '@' has two axes at least; '*' multiplies element by element"
            : "the last axis of the left side meets the axis before the last, or the only one, of "
              "the right");
    return {};
  }
  return rnn::MatmulOp::create(builder, location(at),
                               ArrayType::get(builder.getContext(), *dims, kindOf({a, b})), a.value,
                               b.value);
}

Value EquationBuilder::compare(Span at, StringRef sign, Operand a, Operand b) {
  if (!real(a) || !real(b))
    return {};
  auto dims = broadcast(at, a, b);
  if (!dims)
    return {};
  auto kind = llvm::StringSwitch<rnn::CompareKind>(sign)
                  .Case("<", rnn::CompareKind::Lt)
                  .Case("<=", rnn::CompareKind::Le)
                  .Case(">", rnn::CompareKind::Gt)
                  .Case(">=", rnn::CompareKind::Ge)
                  .Case("==", rnn::CompareKind::Eq)
                  .Default(rnn::CompareKind::Ne);
  auto type = ArrayType::get(builder.getContext(), *dims).withKind(rnn::Kind::Bool);
  return rnn::CompareOp::create(builder, location(at), type, kind, a.value, b.value);
}

/// and, or, not.
Value EquationBuilder::logic(const Node& node, Operand a, Operand b) {
  if (!truth(a) || (node.op != Node::Not && !truth(b)))
    return {};
  Location loc = location(node.span);
  if (node.op == Node::Not)
    return rnn::NotOp::create(builder, loc, a.value.getType(), a.value);
  auto dims = broadcast(node.span, a, b);
  if (!dims)
    return {};
  auto type = ArrayType::get(builder.getContext(), *dims).withKind(rnn::Kind::Bool);
  auto kind = node.op == Node::And ? rnn::LogicKind::And : rnn::LogicKind::Or;
  return rnn::LogicOp::create(builder, loc, type, kind, a.value, b.value);
}

Value EquationBuilder::where(Span at, Operand c, Operand a, Operand b) {
  if (!truth(c) || !numeric(a) || !numeric(b))
    return {};
  auto dims = broadcast(at, a, b);
  if (!dims)
    return {};
  auto condition = cast<ArrayType>(c.value.getType());
  FailureOr<SmallVector<DimAttr>> all = rnn::broadcast(*dims, condition.getDims());
  if (failed(all)) {
    error(at, "RNN0205",
          "shapes do not fit: " + text(c.span) + " is " + shape(c.value) + " but the values are " +
              shapeText(ArrayType::get(builder.getContext(), *dims)));
    return {};
  }
  return rnn::WhereOp::create(builder, location(at),
                              ArrayType::get(builder.getContext(), *all, kindOf({a, b})), c.value,
                              a.value, b.value);
}

Value EquationBuilder::builtin(const Node& node, const Builtin& what, ArrayRef<Operand> args) {
  Location loc = location(node.span);
  auto made = [&](Value value) -> Operand { return {value, node.span}; };
  switch (what.kind) {
  case Builtin::Unary:
    if (kindOf(args) == rnn::Kind::Complex &&
        (what.unary == rnn::UnaryKind::Exp || what.unary == rnn::UnaryKind::Abs))
      return ofComplex(node, what, args);
    return real(args[0]) ? unary(loc, what.unary, args[0].value) : Value();
  case Builtin::Binary:
    if (what.binary == rnn::BinaryKind::Pow)
      return power(node.span, args[0], args[1]);
    return what.takesAxis(args.size()) ? alongAxis(node, what, args[0])
                                       : binary(node.span, what.binary, args[0], args[1]);
  case Builtin::Where:
    return where(node.span, args[0], args[1], args[2]);
  case Builtin::Reduce:
  case Builtin::Softmax:
  case Builtin::Norm:
  case Builtin::LogSumExp:
    return alongAxis(node, what, args[0]);
  case Builtin::Clamp: {
    Value lower = binary(node.span, rnn::BinaryKind::Max, args[0], args[1]);
    return lower ? binary(node.span, rnn::BinaryKind::Min, made(lower), args[2]) : Value();
  }
  case Builtin::LeakyRelu:
  case Builtin::Elu: {
    // x where it is positive; below, slope * x or scale * expm1(x).
    bool leaky = what.kind == Builtin::LeakyRelu;
    if (!real(args[0]))
      return {};
    Operand scale = args.size() > 1 ? args[1] : made(number(loc, leaky ? 0.01 : 1));
    Value base = leaky ? args[0].value : unary(loc, rnn::UnaryKind::Expm1, args[0].value);
    Value below = binary(node.span, rnn::BinaryKind::Mul, scale, made(base));
    Value positive = compare(node.span, ">", args[0], made(number(loc, 0)));
    return below && positive ? where(node.span, made(positive), args[0], made(below)) : Value();
  }
  case Builtin::Concat:
    return concat(node, args);
  case Builtin::Outer:
    return outer(node, args[0], args[1]);
  case Builtin::Complex:
  case Builtin::Re:
  case Builtin::Im:
  case Builtin::Conj:
  case Builtin::Arg:
    return ofComplex(node, what, args);
  }
  return {};
}
