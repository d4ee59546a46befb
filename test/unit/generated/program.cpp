//===- program.cpp - making nodes, and writing them as text -----------------------------------===//

#include "program.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

using namespace rnnc::generated;

static ExprPtr make(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }

Shape rnnc::generated::broadcast(const Shape& a, const Shape& b) {
  // Dims that are stretched are called "one" (a dim of size 1), so names tell all.
  Shape result = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  size_t offset = result.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i)
    if (result[offset + i] == "one")
      result[offset + i] = other[i];
  return result;
}

ExprPtr rnnc::generated::makeNumber(double value) {
  Expr expr{.op = Op::Number};
  expr.number = value;
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeConst(const std::string& name, double value) {
  Expr expr{.op = Op::Const, .text = name};
  expr.number = value;
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeName(const std::string& name, Shape shape, bool complex) {
  Expr expr{.op = Op::Name, .text = name};
  expr.shape = std::move(shape);
  expr.complex = complex;
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeAt(const Decl& decl, int64_t back) {
  Expr expr{.op = Op::At, .text = decl.name, .back = back};
  expr.shape = decl.shape;
  expr.complex = decl.complex;
  return make(std::move(expr));
}

static bool anyComplex(const std::vector<ExprPtr>& args) {
  return std::any_of(args.begin(), args.end(), [](const ExprPtr& arg) { return arg->complex; });
}

/// Whether the function takes a complex number and gives a real one.
static bool givesReal(const Expr& expr) {
  static const std::array names{"re", "im", "abs", "arg", "norm"};
  return expr.op == Op::Call && std::find(names.begin(), names.end(), expr.text) != names.end();
}

/// A node whose shape is what its arguments broadcast to.
static ExprPtr elementwise(Op op, const std::string& text, std::vector<ExprPtr> args, bool truth) {
  Expr expr{.op = op, .text = text};
  for (const ExprPtr& arg : args)
    expr.shape = broadcast(expr.shape, arg->shape);
  expr.complex =
      !truth && !givesReal(expr) && (anyComplex(args) || (op == Op::Call && text == "complex"));
  expr.args = std::move(args);
  expr.truth = truth;
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeSign(const std::string& sign, ExprPtr a, ExprPtr b) {
  return elementwise(Op::Sign, sign, {std::move(a), std::move(b)}, false);
}

ExprPtr rnnc::generated::makeMinus(ExprPtr a) {
  return elementwise(Op::Sign, "-", {std::move(a)}, false);
}

ExprPtr rnnc::generated::makeMatmul(ExprPtr a, ExprPtr b) {
  Expr expr{.op = Op::Sign, .text = "@"};
  expr.shape = a->shape;
  if (!expr.shape.empty()) // a cut of the shrinker may leave too few axes; it looks before it runs
    expr.shape.pop_back();
  if (b->shape.size() > 1 && b->shape.size() == a->shape.size())
    expr.shape.push_back(b->shape.back());
  expr.complex = a->complex || b->complex;
  expr.args = {std::move(a), std::move(b)};
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeCompare(const std::string& sign, ExprPtr a, ExprPtr b) {
  return elementwise(Op::Compare, sign, {std::move(a), std::move(b)}, true);
}

ExprPtr rnnc::generated::makeLogic(const std::string& word, std::vector<ExprPtr> args) {
  return elementwise(Op::Logic, word, std::move(args), true);
}

ExprPtr rnnc::generated::makeCall(const std::string& function, std::vector<ExprPtr> args) {
  return elementwise(Op::Call, function, std::move(args), false);
}

bool rnnc::generated::isReduction(const Expr& expr) {
  static const std::array names{"sum", "mean", "norm", "logsumexp", "softmax"};
  if (expr.op != Op::Call)
    return false;
  if (expr.text == "max" || expr.text == "min")
    return expr.args.size() == 1;
  return std::find(names.begin(), names.end(), expr.text) != names.end();
}

ExprPtr rnnc::generated::makeReduction(const std::string& function, ExprPtr a, size_t axis,
                                       bool name) {
  Expr expr{.op = Op::Call, .text = function};
  expr.shape = a->shape;
  if (axis < a->shape.size()) {
    if (name || axis + 1 != a->shape.size())
      expr.axis = a->shape[axis];
    if (function != "softmax")
      expr.shape.erase(expr.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  expr.complex = a->complex && !givesReal(expr);
  expr.args = {std::move(a)};
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeSlice(ExprPtr a, int64_t begin, int64_t end, const std::string& dim) {
  Expr expr{.op = Op::Slice, .begin = begin, .end = end};
  expr.shape = a->shape;
  if (!expr.shape.empty())
    expr.shape.back() = dim;
  expr.complex = a->complex;
  expr.args = {std::move(a)};
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeTurn(ExprPtr a) {
  Expr expr{.op = Op::Turn};
  expr.shape = a->shape;
  if (expr.shape.size() >= 2)
    std::swap(expr.shape.back(), expr.shape[expr.shape.size() - 2]);
  expr.complex = a->complex;
  expr.args = {std::move(a)};
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeOuter(ExprPtr a, ExprPtr b) {
  Expr expr{.op = Op::Call, .text = "outer"};
  expr.shape = a->shape;
  if (!b->shape.empty())
    expr.shape.push_back(b->shape.back());
  expr.complex = a->complex || b->complex;
  expr.args = {std::move(a), std::move(b)};
  return make(std::move(expr));
}

ExprPtr rnnc::generated::makeConcat(ExprPtr a, ExprPtr b, const std::string& dim) {
  Expr expr{.op = Op::Call, .text = "concat"};
  expr.shape = a->shape;
  if (!expr.shape.empty())
    expr.shape.back() = dim;
  expr.complex = a->complex || b->complex;
  expr.args = {std::move(a), std::move(b)};
  return make(std::move(expr));
}

ExprPtr rnnc::generated::withArgs(const Expr& expr, std::vector<ExprPtr> args) {
  if (expr.op == Op::Sign && expr.text == "@")
    return makeMatmul(args[0], args[1]);
  if (expr.op == Op::Slice)
    return makeSlice(args[0], expr.begin, expr.end, expr.shape.empty() ? "" : expr.shape.back());
  if (expr.op == Op::Turn)
    return makeTurn(args[0]);
  if (expr.op == Op::Call && expr.text == "outer")
    return makeOuter(args[0], args[1]);
  if (expr.op == Op::Call && expr.text == "concat")
    return makeConcat(args[0], args[1], expr.shape.empty() ? "" : expr.shape.back());
  if (isReduction(expr)) {
    const Shape& shape = args[0]->shape;
    size_t axis = expr.axis.empty()
                      ? shape.size() - 1
                      : std::find(shape.begin(), shape.end(), expr.axis) - shape.begin();
    ExprPtr made = makeReduction(expr.text, args[0], axis, !expr.axis.empty());
    Expr named = *made;
    named.axis = expr.axis;
    named.numbered = expr.numbered;
    return make(std::move(named));
  }
  return elementwise(expr.op, expr.text, std::move(args), expr.truth);
}

const Dim& Program::dim(const std::string& name) const {
  return *std::find_if(dims.begin(), dims.end(), [&](const Dim& d) { return d.name == name; });
}

const Decl* Program::find(const std::vector<Decl>& decls, const std::string& name) const {
  auto it = std::find_if(decls.begin(), decls.end(), [&](const Decl& d) { return d.name == name; });
  return it == decls.end() ? nullptr : &*it;
}

ExprPtr rnnc::generated::withoutConsts(const ExprPtr& expr) {
  return rewrite(expr, [](const ExprPtr& node) {
    return node->op == Op::Const ? makeNumber(node->number) : nullptr;
  });
}

ExprPtr rnnc::generated::inlined(const Function& function, const std::vector<ExprPtr>& args) {
  std::map<std::string, ExprPtr> values;
  for (size_t i = 0; i < args.size(); ++i)
    values[function.params[i]] = args[i];
  auto substitute = [&](const ExprPtr& node) -> ExprPtr {
    if (node->op == Op::Const)
      return makeNumber(node->number);
    auto it = node->op == Op::Name ? values.find(node->text) : values.end();
    return it == values.end() ? nullptr : it->second;
  };
  for (const auto& [name, value] : function.lines)
    values[name] = rewrite(value, substitute);
  return rewrite(function.result, substitute);
}

namespace {

/// Binding of an operator, from the loosest.
int bindingOf(const Expr& expr) {
  switch (expr.op) {
  case Op::Logic:
    return expr.text == "or" ? 1 : expr.text == "and" ? 2 : 3;
  case Op::Compare:
    return 4;
  case Op::Sign:
    if (expr.args.size() == 1)
      return 7;
    return expr.text == "^" ? 8 : expr.text == "+" || expr.text == "-" ? 5 : 6;
  case Op::Number:
    return expr.number < 0 ? 7 : 9;
  default:
    return 9;
  }
}

std::string numberText(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.17g", value);
  std::array<char, 32> shorter;
  for (int digits = 1; digits < 17; ++digits) {
    std::snprintf(shorter.data(), shorter.size(), "%.*g", digits, value);
    if (std::strtod(shorter.data(), nullptr) == value)
      return shorter.data();
  }
  return text.data();
}

std::string inBrackets(const Expr& expr, bool brackets) {
  std::string text = print(expr);
  return brackets ? "(" + text + ")" : text;
}

/// Its name, or its number from the right, -1 for the last.
/// An axis by its name or its number. Of two dims that may both have size 1 a product's axis has
/// either name: those have a number.
std::string axisText(const Expr& expr) {
  const Shape& shape = expr.args[0]->shape;
  if (!expr.numbered && expr.axis != "j" && expr.axis != "one")
    return expr.axis;
  return std::to_string(std::find(shape.begin(), shape.end(), expr.axis) - shape.end());
}

} // namespace

std::string rnnc::generated::print(const Expr& expr) {
  int binding = bindingOf(expr);
  auto operand = [&](size_t i, bool tighter) {
    int own = bindingOf(*expr.args[i]);
    return inBrackets(*expr.args[i], own < binding || (tighter && own == binding));
  };
  switch (expr.op) {
  case Op::Number:
    return numberText(expr.number);
  case Op::Const:
  case Op::Name:
    return expr.text;
  case Op::At:
    return expr.text + (expr.back ? "[t-" + std::to_string(expr.back) + "]" : "[t]");
  case Op::Call: {
    std::string text = expr.text + "(";
    for (size_t i = 0; i < expr.args.size(); ++i)
      text += (i ? ", " : "") + print(*expr.args[i]);
    return text + (expr.axis.empty() ? ")" : ", axis = " + axisText(expr) + ")");
  }
  case Op::Slice:
    return operand(0, false) + "[" + std::to_string(expr.begin) + ":" + std::to_string(expr.end) +
           "]";
  case Op::Turn:
    return operand(0, false) + ".T";
  default:
    break;
  }
  if (expr.args.size() == 1)
    return expr.text + (expr.text == "-" ? "" : " ") + operand(0, true);
  // Comparisons do not chain, '^' binds its left side tighter, all else its right side.
  bool power = expr.text == "^", compare = expr.op == Op::Compare;
  return operand(0, power || compare) + " " + expr.text + " " + operand(1, !power);
}
