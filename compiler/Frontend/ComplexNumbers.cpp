//===- ComplexNumbers.cpp - functions of complex numbers --------------------------------------===//

#include "Frontend/Equations.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::BinaryKind;
using rnn::PartKind;
using rnn::UnaryKind;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

/// Complex where one of the operands is.
rnn::Kind EquationBuilder::kindOf(ArrayRef<Operand> operands) {
  bool isComplex =
      llvm::any_of(operands, [](Operand operand) { return typeOf(operand.value).isComplex(); });
  return isComplex ? rnn::Kind::Complex : rnn::Kind::Real;
}

Value EquationBuilder::complex(Span at, Operand re, Operand im) {
  auto dims = broadcast(at, re, im);
  if (!dims)
    return {};
  auto type = ArrayType::get(builder.getContext(), *dims, rnn::Kind::Complex);
  return rnn::ComplexOp::create(builder, location(at), type, re.value, im.value);
}

Value EquationBuilder::promote(Span at, Value value) {
  if (typeOf(value).isComplex())
    return value;
  return complex(at, {value, at}, {number(location(at), 0), at});
}

/// The part of a real number is itself, or 0.
Value EquationBuilder::part(Location loc, PartKind kind, Value x) {
  if (typeOf(x).isComplex())
    return rnn::PartOp::create(builder, loc, typeOf(x).withKind(rnn::Kind::Real), kind, x);
  return kind == PartKind::Re ? x : number(loc, 0);
}

/// The larger part is taken out of the root, so that no square overflows or vanishes. Where that
/// makes NaN of zeros or infinities their sum is right; its derivative at zero is 0.
Value EquationBuilder::magnitude(Span at, Value x) {
  Location loc = location(at);
  Operand re{unary(loc, UnaryKind::Abs, part(loc, PartKind::Re, x)), at};
  Operand im{unary(loc, UnaryKind::Abs, part(loc, PartKind::Im, x)), at};
  Operand isWide{compare(at, ">=", re, im), at};
  Operand large{where(at, isWide, re, im), at}, small{where(at, isWide, im, re), at};
  Operand ratio{binary(at, BinaryKind::Div, small, large), at}, one{number(loc, 1), at};
  Operand square{binary(at, BinaryKind::Mul, ratio, ratio), at};
  Value sum = binary(at, BinaryKind::Add, one, square);
  Operand root{unary(loc, UnaryKind::Sqrt, sum), at};
  Operand size{binary(at, BinaryKind::Mul, large, root), at};
  Operand limit{binary(at, BinaryKind::Add, large, small), at};
  return where(at, {compare(at, "<=", ratio, one), at}, size, limit);
}

Value EquationBuilder::argument(Span at, Value x) {
  Location loc = location(at);
  return binary(at, BinaryKind::Atan2, {part(loc, PartKind::Im, x), at},
                {part(loc, PartKind::Re, x), at});
}

Value EquationBuilder::ofComplex(const Node& node, const Builtin& what, ArrayRef<Operand> args) {
  Location loc = location(node.span);
  if (what.kind == Builtin::Complex)
    return real(args[0]) && real(args[1]) ? complex(node.span, args[0], args[1]) : Value();
  Operand z = args[0];
  if (!numeric(z))
    return {};
  switch (what.kind) {
  case Builtin::Re:
    return part(loc, PartKind::Re, z.value);
  case Builtin::Im:
    return part(loc, PartKind::Im, z.value);
  case Builtin::Conj: {
    if (!typeOf(z.value).isComplex())
      return z.value;
    Value im = unary(loc, UnaryKind::Neg, part(loc, PartKind::Im, z.value));
    return complex(node.span, {part(loc, PartKind::Re, z.value), node.span}, {im, node.span});
  }
  case Builtin::Arg:
    return argument(node.span, z.value);
  default:
    return what.unary == UnaryKind::Abs ? magnitude(node.span, z.value)
                                        : unary(loc, UnaryKind::Exp, z.value);
  }
}

/// z ^ n of a complex number is a product, for a small whole n.
Value EquationBuilder::power(Span at, Operand base, Operand exponent) {
  constexpr double kLargest = 8;
  if (kindOf({base, exponent}) == rnn::Kind::Real)
    return binary(at, BinaryKind::Pow, base, exponent);
  if (!numeric(exponent) || !numeric(base))
    return {};
  if (typeOf(exponent.value).isComplex()) {
    error(exponent.span, "RNN0210",
          "'" + text(exponent.span) + "' is complex, and a power is a real number",
          "of a positive a, write exp(z * log(a))");
    return {};
  }
  std::optional<double> n = constantOf(exponent.value);
  if (!n || *n != std::floor(*n) || std::fabs(*n) > kLargest) {
    error(exponent.span, "RNN0210", "the power of a complex number is a whole number from -8 to 8",
          "for others, write exp(n * complex(log(abs(z)), arg(z)))");
    return {};
  }
  Value product = base.value;
  for (int i = 1; i < std::fabs(*n); ++i)
    product = binary(at, BinaryKind::Mul, {product, at}, base);
  if (*n > 0)
    return product;
  Operand one{number(location(at), 1), at};
  return *n < 0 ? binary(at, BinaryKind::Div, one, {product, at}) : promote(at, one.value);
}
