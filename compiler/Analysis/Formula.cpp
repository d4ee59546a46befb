//===- Formula.cpp - scalar IR as math in the user's names -----------------------------------===//

#include "Analysis/Formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace rnnc;

namespace {

/// How tightly a text binds: a sum in a product needs parentheses.
enum Precedence { kSum = 1, kProduct = 2, kUnary = 3, kAtom = 4 };

struct Text {
  std::string text;
  Precedence precedence = kAtom;
};

class Writer {
public:
  Writer(newton::SystemOp system, size_t limit) : system(system), limit(limit) {}

  /// `top`: the value itself, whose own name is not an answer.
  Text write(Value value, unsigned depth, bool top);

private:
  Text writeArgument(BlockArgument arg);
  Text writeOp(Operation* op, unsigned depth);
  Text combine(Text a, const char* sign, Text b, Precedence precedence);
  std::string inside(const Text& text, int least) {
    return text.precedence < least ? "(" + text.text + ")" : text.text;
  }

  newton::SystemOp system;
  size_t limit;
  DenseMap<Value, Text> known; // a value that is used twice is written once, or time is exponential
};

} // namespace

static StringRef nameOf(Operation* op) {
  auto named = dyn_cast<NameLoc>(op->getLoc());
  return named ? named.getName().getValue() : StringRef();
}

/// Whether `name` is a state or an output of the system: its value at this step is name[t].
static bool isResult(newton::SystemOp system, StringRef name) {
  auto named = [&](Attribute slot) { return cast<newton::SlotAttr>(slot).display() == name; };
  return llvm::any_of(system.getStates(), named) || llvm::any_of(system.getOutputs(), named);
}

/// `c[2]` at a time: `c[t][2]`.
static std::string atTime(StringRef name, StringRef time) {
  auto [tensor, element] = name.split('[');
  return (tensor + time + (element.empty() ? "" : "[") + element).str();
}

static std::string timeIndex(int64_t back) {
  return back == 0 ? "[t]" : "[t-" + std::to_string(back) + "]";
}

/// The new value of the state that an implicit op solves for.
static std::string unknown(newton::ImplicitOp op, unsigned i) {
  return atTime(cast<StringAttr>(op.getUnknowns()[i]).getValue(), "[t]");
}

Text Writer::writeArgument(BlockArgument arg) {
  if (auto op = dyn_cast<newton::ImplicitOp>(arg.getOwner()->getParentOp())) {
    unsigned i = arg.getArgNumber(), m = op.numUnknowns();
    return i < m ? Text{unknown(op, i)} : write(op.getCaptures()[i - m], 0, false);
  }
  int64_t i = arg.getArgNumber(), k = system.numStates(), inputs = system.numInputs();
  auto slot = [](ArrayAttr list, int64_t i) { return cast<newton::SlotAttr>(list[i]); };
  if (i < k)
    return {atTime(slot(system.getStates(), i).display(), "[t-1]")};
  if (i < k + inputs)
    return {atTime(slot(system.getInputs(), i - k).display(),
                   timeIndex(slot(system.getInputs(), i - k).getBack()))};
  return {slot(system.getParams(), i - k - inputs).display()};
}

Text Writer::combine(Text a, const char* sign, Text b, Precedence precedence) {
  // a - (b + c) and a / (b * c) keep their parentheses, a + (b + c) needs none.
  bool strict = StringRef(sign) == " - " || StringRef(sign) == " / ";
  return {inside(a, precedence) + sign + inside(b, precedence + strict), precedence};
}

static std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%.7g", value);
  return text;
}

Text Writer::write(Value value, unsigned depth, bool top) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return writeArgument(arg);
  Operation* op = value.getDefiningOp();
  if (auto implicit = dyn_cast<newton::ImplicitOp>(op))
    return {unknown(implicit, cast<OpResult>(value).getResultNumber())};
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto real = dyn_cast<FloatAttr>(constant.getValue())) {
      double n = real.getValueAsDouble();
      return {number(n), n < 0 ? kSum : kAtom};
    }
    return {cast<BoolAttr>(constant.getValue()).getValue() ? "true" : "false"};
  }
  if (!top && !nameOf(op).empty())
    return {isResult(system, nameOf(op)) ? atTime(nameOf(op), "[t]") : nameOf(op).str()};
  if (depth > 64)
    return {"..."};
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Text text = writeOp(op, depth);
  // Only the beginning of a formula is shown, so only the beginning of its parts matters.
  if (text.text.size() > limit)
    text.text.resize(limit + 1);
  return known[value] = text;
}

/// "max" or "min" of the two that a choice is between, as the front end builds it, or nothing.
static const char* extremeOf(arith::SelectOp select) {
  auto either = select.getCondition().getDefiningOp<arith::OrIOp>();
  auto order = either ? either.getLhs().getDefiningOp<arith::CmpFOp>() : nullptr;
  auto isNan = either ? either.getRhs().getDefiningOp<arith::CmpFOp>() : nullptr;
  Value left = select.getTrueValue();
  if (!order || !isNan || isNan.getPredicate() != arith::CmpFPredicate::UNO ||
      isNan.getLhs() != left || isNan.getRhs() != left || order.getLhs() != left ||
      order.getRhs() != select.getFalseValue())
    return nullptr;
  if (order.getPredicate() == arith::CmpFPredicate::OGE)
    return "max";
  return order.getPredicate() == arith::CmpFPredicate::OLE ? "min" : nullptr;
}

Text Writer::writeOp(Operation* op, unsigned depth) {
  auto operand = [&](unsigned i) { return write(op->getOperand(i), depth + 1, false); };
  auto negated = [&](Value value) -> Value {
    auto neg = value.getDefiningOp<arith::NegFOp>();
    return neg ? neg.getOperand() : Value();
  };
  auto at = [&](Value value) { return write(value, depth + 1, false); };
  return llvm::TypeSwitch<Operation*, Text>(op)
      .Case([&](arith::AddFOp) { return combine(operand(0), " + ", operand(1), kSum); })
      .Case([&](arith::SubFOp) { return combine(operand(0), " - ", operand(1), kSum); })
      .Case([&](arith::MulFOp) { return combine(operand(0), " * ", operand(1), kProduct); })
      .Case([&](arith::DivFOp) { return combine(operand(0), " / ", operand(1), kProduct); })
      .Case([&](arith::NegFOp) -> Text { return {"-" + inside(operand(0), kUnary), kSum}; })
      .Case([&](math::FmaOp fma) {
        // c - a * b was fused as fma(-a, b, c), a * b - c as fma(a, b, -c).
        if (Value a = negated(fma.getA()))
          return combine(at(fma.getC()), " - ", combine(at(a), " * ", at(fma.getB()), kProduct),
                         kSum);
        Text product = combine(at(fma.getA()), " * ", at(fma.getB()), kProduct);
        if (Value c = negated(fma.getC()))
          return combine(product, " - ", at(c), kSum);
        return combine(product, " + ", at(fma.getC()), kSum);
      })
      .Case([&](arith::SelectOp select) -> Text {
        if (const char* extreme = extremeOf(select))
          return {extreme + ("(" + operand(1).text + ", " + operand(2).text + ")")};
        return {"where(" + operand(0).text + ", " + operand(1).text + ", " + operand(2).text + ")"};
      })
      .Case([&](arith::CmpFOp compare) {
        StringRef predicate = arith::stringifyCmpFPredicate(compare.getPredicate());
        const char* sign = llvm::StringSwitch<const char*>(predicate.drop_front())
                               .Case("lt", " < ")
                               .Case("le", " <= ")
                               .Case("gt", " > ")
                               .Case("ge", " >= ")
                               .Case("eq", " == ")
                               .Case("ne", " != ")
                               .Default(" is unordered with ");
        return combine(operand(0), sign, operand(1), kSum);
      })
      .Case([&](arith::AndIOp) { return combine(operand(0), " and ", operand(1), kSum); })
      .Case([&](arith::OrIOp) { return combine(operand(0), " or ", operand(1), kSum); })
      .Case([&](arith::XOrIOp) -> Text { return {"not " + inside(operand(0), kUnary), kSum}; })
      .Case([&](math::AbsFOp) -> Text { return {"abs(" + operand(0).text + ")"}; })
      .Default([&](Operation* other) -> Text {
        std::string text = other->getName().stripDialect().str() + "(";
        for (unsigned i = 0; i < other->getNumOperands(); ++i)
          text += (i ? ", " : "") + operand(i).text;
        if (text.size() > limit)
          text = text.substr(0, limit) + "...";
        return {text + ")"};
      });
}

std::string rnnc::slotAtTime(newton::SlotAttr slot, StringRef time) {
  return atTime(slot.display(), time);
}

std::string rnnc::formula(Value value, newton::SystemOp system, bool expand, size_t limit) {
  std::string text = Writer(system, limit).write(value, 0, expand).text;
  return text.size() > limit ? text.substr(0, limit) + "..." : text;
}

/// What an implicit op solves: u = G(u), where its residual still has that form.
static std::string equation(newton::ImplicitOp op, unsigned i, newton::SystemOp system) {
  Value residual = op.residualBlock().getTerminator()->getOperand(i);
  std::string name = unknown(op, i), solves = name + " solves ";
  auto difference = residual.getDefiningOp<arith::SubFOp>();
  if (difference && difference.getRhs() == op.residualBlock().getArgument(i))
    return solves + name + " = " + formula(difference.getLhs(), system, /*expand=*/true);
  return solves + "0 = " + formula(residual, system, /*expand=*/true);
}

std::vector<std::string> rnnc::definitions(Block& block, newton::SystemOp system) {
  std::vector<std::string> lines;
  auto add = [&](std::string line) {
    if (!llvm::is_contained(lines, line)) // a value may be needed inside a search and behind it
      lines.push_back(std::move(line));
  };
  SmallVector<std::string> solved;
  if (auto implicit = dyn_cast<newton::ImplicitOp>(block.getParentOp()))
    for (unsigned i = 0; i < implicit.numUnknowns(); ++i)
      solved.push_back(unknown(implicit, i));
  for (Operation& op : block.without_terminator()) {
    if (auto implicit = dyn_cast<newton::ImplicitOp>(op)) {
      for (std::string& line : definitions(implicit.residualBlock(), system))
        add(std::move(line));
      for (unsigned i = 0; i < implicit.numUnknowns(); ++i)
        add(equation(implicit, i, system));
      continue;
    }
    StringRef name = nameOf(&op);
    if (name.empty() || isa<arith::ConstantOp>(op))
      continue;
    std::string left = isResult(system, name) ? atTime(name, "[t]") : name.str();
    if (!llvm::is_contained(solved, left))
      add(left + " = " + formula(op.getResult(0), system, /*expand=*/true));
  }
  return lines;
}
