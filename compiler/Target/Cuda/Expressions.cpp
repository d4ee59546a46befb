//===- Expressions.cpp - one pattern of CUDA C++ for every op --------------------------------===//

#include "Target/Cuda/Expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace rnnc::cuda;

namespace {

enum class Form { Infix, Prefix, Call, Compare, Select, Constant };

/// How one op is written.
struct OpText {
  StringRef op;
  Form form;
  StringRef token = {};
  Binding binding = Binding::Primary;
};

/// Every op that can be printed. The functions are those of runtime/device/math.cuh.
constexpr OpText kTexts[] = {
    {"arith.constant", Form::Constant},
    {"arith.addf", Form::Infix, "+", Binding::Sum},
    {"arith.subf", Form::Infix, "-", Binding::Sum},
    {"arith.mulf", Form::Infix, "*", Binding::Product},
    {"arith.divf", Form::Infix, "/", Binding::Product},
    {"arith.negf", Form::Prefix, "-", Binding::Prefix},
    {"arith.cmpf", Form::Compare},
    {"arith.andi", Form::Infix, "&&", Binding::And},
    {"arith.ori", Form::Infix, "||", Binding::Or},
    {"arith.xori", Form::Infix, "!=", Binding::Equality},
    {"arith.select", Form::Select, "?", Binding::Conditional},
    {"math.absf", Form::Call, "abs"},
    {"math.acos", Form::Call, "acos"},
    {"math.asin", Form::Call, "asin"},
    {"math.atan", Form::Call, "atan"},
    {"math.atan2", Form::Call, "atan2"},
    {"math.cos", Form::Call, "cos"},
    {"math.cosh", Form::Call, "cosh"},
    {"math.erf", Form::Call, "erf"},
    {"math.exp", Form::Call, "exp"},
    {"math.expm1", Form::Call, "expm1"},
    {"math.floor", Form::Call, "floor"},
    {"math.fma", Form::Call, "fma"},
    {"math.log", Form::Call, "log"},
    {"math.log1p", Form::Call, "log1p"},
    {"math.powf", Form::Call, "pow"},
    {"math.rsqrt", Form::Call, "rsqrt"},
    {"math.sin", Form::Call, "sin"},
    {"math.sinh", Form::Call, "sinh"},
    {"math.sqrt", Form::Call, "sqrt"},
    {"math.tan", Form::Call, "tan"},
    {"math.tanh", Form::Call, "tanh"},
    {"newton.sigmoid", Form::Call, "sigmoid"},
    {"newton.sign", Form::Call, "sign"},
    {"newton.softplus", Form::Call, "softplus"},
};

const OpText* findText(Operation* op) {
  StringRef name = op->getName().getStringRef();
  for (const OpText& how : kTexts)
    if (how.op == name)
      return &how;
  return nullptr;
}

/// In parentheses where it binds less tightly than its place asks.
std::string placed(const Expression& e, Binding least) {
  return e.binding < least ? "(" + e.text + ")" : e.text;
}

Binding tighter(Binding b) { return static_cast<Binding>(static_cast<int>(b) + 1); }

/// Infix operators associate to the left. && and || are never mixed without parentheses.
Expression infix(const OpText& how, const Expression& a, const Expression& b) {
  bool logic = how.binding <= Binding::Equality;
  Binding least = how.binding == Binding::Equality ? Binding::Prefix
                  : logic                          ? Binding::Relation
                                                   : how.binding;
  bool chain = how.binding == a.binding && how.binding != Binding::Equality;
  return {placed(a, chain ? a.binding : least) + " " + how.token.str() + " " +
              placed(b, logic ? least : tighter(least)),
          how.binding};
}

Expression compare(arith::CmpFPredicate predicate, const Expression& x, const Expression& y) {
  std::string a = placed(x, Binding::Sum), b = placed(y, Binding::Sum);
  auto relation = [&](const char* sign) {
    return Expression{a + " " + sign + " " + b, Binding::Relation};
  };
  auto equality = [&](const char* sign) {
    return Expression{a + " " + sign + " " + b, Binding::Equality};
  };
  // Unordered or true: the negation of the opposite ordered relation.
  auto negated = [&](const char* sign) {
    return Expression{"!(" + a + " " + sign + " " + b + ")", Binding::Prefix};
  };
  std::string differ = "(" + a + " < " + b + " || " + a + " > " + b + ")";
  std::string unordered = "(" + a + " != " + a + " || " + b + " != " + b + ")";
  using enum arith::CmpFPredicate;
  switch (predicate) {
  case OGT:
    return relation(">");
  case OGE:
    return relation(">=");
  case OLT:
    return relation("<");
  case OLE:
    return relation("<=");
  case OEQ:
    return equality("==");
  case UNE:
    return equality("!=");
  case UGT:
    return negated("<=");
  case UGE:
    return negated("<");
  case ULT:
    return negated(">=");
  case ULE:
    return negated(">");
  case ONE:
    return {differ, Binding::Primary};
  case UEQ:
    return {"!" + differ, Binding::Prefix};
  case UNO:
    return a == b ? equality("!=") : Expression{unordered, Binding::Primary};
  case ORD:
    return a == b ? equality("==") : Expression{"!" + unordered, Binding::Prefix};
  case AlwaysTrue:
    return {"true", Binding::Primary};
  case AlwaysFalse:
    return {"false", Binding::Primary};
  }
  return {"false", Binding::Primary};
}

/// Whole numbers up to a million as they are, everything else in hexadecimal: both are exact.
Expression number(const llvm::APFloat& value) {
  if (value.isNaN())
    return {"math::nan()", Binding::Primary};
  llvm::APFloat magnitude = abs(value);
  std::string text;
  if (value.isInfinity()) {
    text = "math::infinity()";
  } else {
    bool whole = magnitude.isInteger() && magnitude.convertToDouble() <= 1e6;
    if (whole) {
      text = "real(" + std::to_string(static_cast<int64_t>(magnitude.convertToDouble())) + ")";
    } else {
      char digits[64];
      magnitude.convertToHexString(digits, 0, /*upperCase=*/false,
                                   llvm::APFloat::rmNearestTiesToEven);
      text = "real(" + std::string(digits) + ")";
    }
  }
  return value.isNegative() ? Expression{"-" + text, Binding::Prefix}
                            : Expression{text, Binding::Primary};
}

Expression constant(arith::ConstantOp op) {
  if (auto value = dyn_cast<FloatAttr>(op.getValue()))
    return number(value.getValue());
  return {cast<IntegerAttr>(op.getValue()).getValue().isZero() ? "false" : "true",
          Binding::Primary};
}

} // namespace

std::string rnnc::cuda::numberText(const llvm::APFloat& value) { return number(value).text; }

std::string rnnc::cuda::whyNotPrintable(Operation* op, Type compute) {
  if (!findText(op))
    return "no function of a step on CUDA";
  auto isScalar = [&](Type type) { return type == compute || type.isInteger(1); };
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return "no scalar function";
  for (Type type : op->getResultTypes())
    if (!isScalar(type))
      return "of a type that the step does not compute in";
  for (Type type : op->getOperandTypes())
    if (!isScalar(type))
      return "of a type that the step does not compute in";
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (!isa<FloatAttr, IntegerAttr>(constant.getValue()))
      return "no number";
  if (auto flags = op->getAttrOfType<arith::FastMathFlagsAttr>("fastmath"))
    if (flags.getValue() != arith::FastMathFlags::none)
      return "allowed to change its rounding (fastmath); the same bits in every schedule are not";
  return "";
}

Expression rnnc::cuda::express(double value) { return number(llvm::APFloat(value)); }

Expression rnnc::cuda::express(Operation* op, ArrayRef<Expression> operands) {
  const OpText& how = *findText(op);
  switch (how.form) {
  case Form::Constant:
    return constant(cast<arith::ConstantOp>(op));
  case Form::Compare:
    return compare(cast<arith::CmpFOp>(op).getPredicate(), operands[0], operands[1]);
  case Form::Infix:
    // `c != true` is how the IR says `!c`.
    if (how.binding == Binding::Equality && operands[1].text == "true")
      return {"!" + placed(operands[0], Binding::Prefix), Binding::Prefix};
    return infix(how, operands[0], operands[1]);
  case Form::Prefix: {
    // `- -x` must not become `--x`.
    std::string operand = placed(operands[0], Binding::Prefix);
    if (operand.front() == '-')
      operand = "(" + operand + ")";
    return {how.token.str() + operand, Binding::Prefix};
  }
  case Form::Select:
    return {placed(operands[0], Binding::Prefix) + " ? " +
                placed(operands[1], tighter(Binding::Conditional)) + " : " +
                placed(operands[2], Binding::Conditional),
            Binding::Conditional};
  case Form::Call: {
    std::string text = "math::" + how.token.str() + "(";
    for (auto [i, operand] : llvm::enumerate(operands))
      text += (i ? ", " : "") + operand.text;
    return {text + ")", Binding::Primary};
  }
  }
  return {};
}
