//===- ArrayFormula.cpp - a value of a step as the user would write it -----------------------===//

#include "Analysis/ArrayFormula.h"

#include "rnnc/Complex.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace mlir;
using namespace rnnc::rnn;

namespace {
/// How tightly an expression holds together.
enum Binding { kOr, kAnd, kCompare, kSum, kProduct, kPower, kAtom };
struct Text {
  std::string text;
  Binding binding = kAtom;
  std::string within(Binding least) const { return binding < least ? "(" + text + ")" : text; }
};
constexpr int kDepth = 8;       // recursion ends here, whatever the user wrote
constexpr size_t kLength = 200; // or earlier, where the text would be longer
} // namespace

using Known = llvm::function_ref<std::string(Value)>;

static Text textOf(Value value, int depth, Known known);

/// The axis of a complex tensor that holds its parts.
static bool isComplexAxis(ArrayType type, uint64_t axis) {
  return type.getDims()[axis].getName() == StringRef(rnnc::kComplexDim);
}

/// What lower-complex gives the axis of the parts, to be joined along it.
static bool isPartOfPair(ExpandOp op) {
  return llvm::any_of(op->getUsers(), [&](Operation* user) {
    auto pair = dyn_cast<ConcatOp>(user);
    return pair && pair.getAxis() == op.getAxis() && isComplexAxis(pair.getType(), pair.getAxis());
  });
}

static std::string at(StringRef name, int64_t back) {
  return (name + (back ? "[t-" + Twine(back) + "]" : "[t]")).str();
}

static Text call(StringRef name, Operation* op, int depth, Known known) {
  std::string text = name.str() + "(";
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    text += (i ? ", " : "") + textOf(operand, depth, known).text;
  return {text + ")", kAtom};
}

static Text binary(BinaryOp op, int depth, Known known) {
  Text left = textOf(op.getLhs(), depth, known), right = textOf(op.getRhs(), depth, known);
  switch (op.getKind()) {
  case BinaryKind::Add:
    return {left.within(kSum) + " + " + right.within(kSum), kSum};
  case BinaryKind::Sub:
    return {left.within(kSum) + " - " + right.within(kProduct), kSum};
  case BinaryKind::Mul:
    return {left.within(kProduct) + " * " + right.within(kProduct), kProduct};
  case BinaryKind::Div:
    return {left.within(kProduct) + " / " + right.within(kPower), kProduct};
  case BinaryKind::Pow:
    return {left.within(kAtom) + "^" + right.within(kAtom), kPower};
  default:
    return call(stringifyBinaryKind(op.getKind()), op, depth, known);
  }
}

static StringRef sign(CompareKind kind) {
  constexpr StringRef signs[] = {"<", "<=", ">", ">=", "==", "!="};
  return signs[static_cast<int>(kind)];
}

static Text textOf(Value value, int depth, Known known) {
  if (std::string text = known(value); !text.empty())
    return {text};
  Operation* op = value.getDefiningOp();
  if (auto state = dyn_cast<StateAtOp>(op))
    return {at(state.getName(), state.getBack())};
  if (auto input = dyn_cast<InputAtOp>(op))
    return {at(input.getName(), input.getBack())};
  if (auto param = dyn_cast<ParamValueOp>(op))
    return {param.getName().str()};
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", constant.getValue().convertToDouble());
    return {text, text.front() == '-' ? kSum : kAtom};
  }
  if (depth == 0)
    return {"..."};
  --depth;
  if (auto unary = dyn_cast<UnaryOp>(op))
    return unary.getKind() == UnaryKind::Neg
               ? Text{"-" + textOf(unary.getOperand(), depth, known).within(kPower), kSum}
               : call(stringifyUnaryKind(unary.getKind()), op, depth, known);
  if (auto two = dyn_cast<BinaryOp>(op))
    return binary(two, depth, known);
  if (auto product = dyn_cast<MatmulOp>(op))
    return {textOf(product.getLhs(), depth, known).within(kProduct) + " @ " +
                textOf(product.getRhs(), depth, known).within(kPower),
            kProduct};
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    ArrayRef<DimAttr> dims = reduce.getOperand().getType().getDims();
    std::string text = stringifyReduceKind(reduce.getKind()).str() + "(" +
                       textOf(reduce.getOperand(), depth, known).text;
    if (reduce.getAxis() + 1 != dims.size())
      text += ", axis = " + dims[reduce.getAxis()].str();
    return {text + ")"};
  }
  if (auto compare = dyn_cast<CompareOp>(op))
    return {textOf(compare.getLhs(), depth, known).within(kSum) + " " +
                sign(compare.getKind()).str() + " " +
                textOf(compare.getRhs(), depth, known).within(kSum),
            kCompare};
  if (auto logic = dyn_cast<LogicOp>(op)) {
    Binding own = logic.getKind() == LogicKind::And ? kAnd : kOr;
    return {textOf(logic.getLhs(), depth, known).within(own) + " " +
                stringifyLogicKind(logic.getKind()).str() + " " +
                textOf(logic.getRhs(), depth, known).within(own),
            own};
  }
  if (StringRef part = rnnc::complexPart(value); !part.empty())
    return call(part, op, depth, known);
  if (auto pair = dyn_cast<ConcatOp>(op); pair && isComplexAxis(pair.getType(), pair.getAxis()))
    return call("complex", op, depth, known);
  if (auto alone = dyn_cast<ExpandOp>(op); alone && isPartOfPair(alone))
    return textOf(alone.getOperand(), depth, known);
  return call(op->getName().stripDialect(), op, depth, known);
}

StringRef rnnc::complexPart(Value value) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice || !slice.getDrop() || !isComplexAxis(slice.getOperand().getType(), slice.getAxis()))
    return {};
  return slice.getFrom() == 0 ? "re" : "im";
}

std::string rnnc::arrayFormula(Value value, Known known) {
  for (int depth = kDepth;; --depth) {
    bool first = true; // the value itself is never one of the known ones
    std::string text = textOf(value, depth, [&](Value inside) {
                         return std::exchange(first, false) ? std::string() : known(inside);
                       }).text;
    if (text.size() <= kLength || depth == 1)
      return text;
  }
}
