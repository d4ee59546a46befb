//===- expressions.cpp - random expressions of a given shape ----------------------------------===//

#include "expressions.h"

#include <algorithm>
#include <cmath>

using namespace rnnc::generated;

double Expressions::number(double low, double high) {
  return std::round(random.uniform(low, high) * 1000) / 1000;
}

bool Expressions::followsState(const ExprPtr& expr) const {
  bool found = false;
  walk(expr, [&](const Expr& node) {
    found |= (node.op == Op::At && program.isState(node.text)) ||
             (node.op == Op::Name && following.contains(node.text));
  });
  return found;
}

void Expressions::define(const std::string& name, const ExprPtr& value) {
  values[name] = value;
  if (followsState(value))
    following.insert(name);
  bounds.define(name, bound(value));
}

/// Cuts off what grows: later operators multiply sizes and slopes.
ExprPtr Expressions::keepSmall(ExprPtr expr) {
  Bound b = bound(expr);
  if (b.size() > 8)
    expr = tame(std::move(expr), 4);
  if (double slope = bound(expr).slope; slope > 16)
    expr = makeSign("*", makeNumber(slope > 200 ? 0.01 : 0.1), std::move(expr));
  return expr;
}

ExprPtr Expressions::tame(ExprPtr expr, double size) {
  if (bound(expr).size() <= size)
    return expr;
  switch (random.below(5)) {
  case 0:
    return makeSign("*", makeNumber(size), makeCall("sin", {std::move(expr)}));
  case 1:
    return makeCall("clamp", {std::move(expr), makeNumber(-0.9 * size), makeNumber(size)});
  case 2:
    return makeSign("*", makeNumber(size), makeCall("erf", {std::move(expr)}));
  default:
    return makeSign("*", makeNumber(size), makeCall("tanh", {std::move(expr)}));
  }
}

/// At least 0.1, for roots, logarithms and denominators.
ExprPtr Expressions::positive(ExprPtr expr) {
  if (bound(expr).low >= 0.1)
    return expr;
  switch (random.below(5)) {
  case 0:
    return makeSign("+", makeCall("abs", {std::move(expr)}), makeNumber(number(0.2, 0.9)));
  case 1:
    return makeCall("exp", {tame(std::move(expr), 1.5)});
  case 2:
    return makeSign("+", makeNumber(number(0.2, 0.9)), makeCall("softplus", {std::move(expr)}));
  default:
    expr = tame(std::move(expr), 1);
    return makeSign("+", makeNumber(number(1.2, 1.9)), std::move(expr));
  }
}

/// The last axes of a shape, some of them as a stretched axis of size 1.
Shape Expressions::partOf(const Shape& shape) {
  size_t drop = random.chance(0.6) ? 0 : random.below(static_cast<int64_t>(shape.size()) + 1);
  Shape result(shape.begin() + static_cast<std::ptrdiff_t>(drop), shape.end());
  bool hasOne = std::any_of(program.dims.begin(), program.dims.end(),
                            [](const Dim& d) { return d.name == "one"; });
  for (std::string& dim : result)
    if (hasOne && !arguments && random.chance(0.2))
      dim = "one";
  return result;
}

ExprPtr Expressions::part(const Shape& shape, int depth) {
  if (random.chance(0.12))
    return makeNumber(number(-1.5, 1.5));
  return exact(partOf(shape), depth);
}

ExprPtr Expressions::stateless(const Shape& shape, int depth) {
  return withoutState([&] { return part(shape, depth); });
}

ExprPtr Expressions::newParam(const Shape& shape, bool complex) {
  std::string name = "p" + std::to_string(program.params.size() + 1);
  program.params.push_back({name, shape, 0, false, complex});
  return makeName(name, shape, complex);
}

/// A new input or param.
ExprPtr Expressions::declared(const Shape& shape, bool complex) {
  if (!random.chance(0.5))
    return newParam(shape, complex);
  Decl input{"x" + std::to_string(program.inputs.size() + 1), shape, 0, false, complex};
  if (random.chance(0.3) && !complex)
    input.fill = number(-1, 1);
  program.inputs.push_back(input);
  return makeAt(input, 0);
}

/// A real number of what may be complex.
ExprPtr Expressions::realPart(ExprPtr value) {
  return value->complex
             ? makeCall(random.pick<const char*>({"re", "im", "re", "im", "abs"}), {value})
             : value;
}

/// Everything of the shape that has a name, real or complex; the more often the likelier.
std::vector<ExprPtr> Expressions::leaves(const Shape& shape) {
  std::vector<ExprPtr> found;
  for (const Decl& param : program.params)
    if (param.shape == shape)
      found.push_back(makeName(param.name, shape, param.complex));
  for (const Decl& input : program.inputs)
    if (input.shape == shape)
      found.push_back(
          makeAt(input, delays && random.chance(0.15) ? random.pick({1, 2, 3, 11}) : 0));
  if (!noState)
    for (const Decl& state : program.states)
      if (state.shape == shape)
        for (int n = 0; n < 2; ++n)
          found.push_back(makeAt(state, defined.contains(state.name) && random.chance(0.4)
                                            ? 0
                                            : random.between(1, orders[state.name])));
  for (const auto& [name, value] : values)
    if (value->shape == shape && !value->truth && !(noState && following.contains(name)))
      found.insert(found.end(), 3,
                   makeName(name, shape, value->complex)); // or it would be of no use
  return found;
}

ExprPtr Expressions::leaf(const Shape& shape) {
  if (arguments) {
    if (random.chance(0.15))
      return makeNumber(number(-1.5, 1.5));
    return makeName(random.pick(*arguments), {});
  }
  std::vector<ExprPtr> found = leaves(shape);
  bool room = program.inputs.size() + program.params.size() < 8;
  if (found.empty() || (room && random.chance(0.1)))
    return declared(shape);
  return realPart(random.pick(found));
}

ExprPtr Expressions::unary(const Shape& shape, int depth) {
  static const std::vector<std::string> names = {
      "exp",  "expm1",   "log",          "log1p", "sqrt",    "rsqrt",    "sin",      "cos",
      "tan",  "asin",    "acos",         "atan",  "sinh",    "cosh",     "tanh",     "tanh",
      "tanh", "sigmoid", "relu",         "sign",  "sigmoid", "softplus", "elu",      "leaky_relu",
      "gelu", "silu",    "hard_sigmoid", "erf",   "floor",   "abs",      "hard_tanh"};
  std::string name = random.pick(names);
  ExprPtr arg = exact(shape, depth - 1);
  if (name == "log" || name == "sqrt" || name == "rsqrt")
    arg = positive(arg);
  else if (name == "log1p")
    arg = tame(arg, 0.8);
  else if (name == "asin" || name == "acos")
    arg = tame(arg, 0.85);
  else if (name == "tan")
    arg = tame(arg, 1.2);
  else if (name == "exp" || name == "expm1" || name == "sinh" || name == "cosh")
    arg = tame(arg, 1.5);
  else if (name == "floor") // never right on a jump where numbers are round
    arg = makeSign("+", makeSign("*", makeNumber(number(1, 3)), arg), makeNumber(0.1371));
  else if (name == "sign")
    arg = makeSign("-", arg, makeNumber(0.0713));
  if ((name == "leaky_relu" || name == "elu") && random.chance(0.4))
    return makeCall(name, {arg, makeNumber(number(0.05, 0.9))});
  return makeCall(name, {arg});
}

ExprPtr Expressions::binary(const Shape& shape, int depth) {
  ExprPtr a = exact(shape, depth - 1), b = part(shape, depth - 1);
  if (random.chance(0.4))
    std::swap(a, b);
  switch (random.below(8)) {
  case 0:
  case 1:
    return makeSign("+", a, b);
  case 2:
  case 3:
    return makeSign("-", a, b);
  case 4:
    return makeSign("/", a, positive(b));
  default:
    return makeSign("*", a, b);
  }
}

ExprPtr Expressions::condition(const Shape& shape, int depth) {
  if (depth > 0 && random.chance(0.25)) {
    ExprPtr a = condition(shape, depth - 1);
    switch (random.below(3)) {
    case 0:
      return makeLogic("not", {a});
    case 1:
      return makeLogic("and", {a, condition(partOf(shape), depth - 1)});
    default:
      return makeLogic("or", {a, condition(partOf(shape), depth - 1)});
    }
  }
  // No two sides are ever equal in one arithmetic and not in another: the offset is no round
  // number.
  ExprPtr a = exact(shape, depth - 1);
  ExprPtr b = random.chance(0.5) ? makeNumber(random.pick({0.0371, -0.1379, 0.4373}))
                                 : makeSign("+", part(shape, depth - 1), makeNumber(0.0173));
  return makeCompare(random.pick<const char*>({"<", "<=", ">", ">=", "<", ">", "!="}), a, b);
}

ExprPtr Expressions::choice(const Shape& shape, int depth) {
  ExprPtr a = operand(shape, depth - 1), b = operandPart(shape, depth - 1);
  if (random.chance(0.5))
    std::swap(a, b);
  for (const auto& [name, value] : values)
    if (value->truth && !arguments && !(noState && following.contains(name)) &&
        value->shape.size() <= shape.size() &&
        std::equal(value->shape.rbegin(), value->shape.rend(), shape.rbegin()) &&
        random.chance(0.5))
      return makeCall("where", {makeName(name, value->shape), a, b});
  return makeCall("where", {condition(partOf(shape), depth - 1), a, b});
}

/// Functions of two and three arguments, and powers.
ExprPtr Expressions::other(const Shape& shape, int depth) {
  ExprPtr a = exact(shape, depth - 1);
  switch (random.below(7)) {
  case 0:
    return makeSign("^", a, makeNumber(static_cast<double>(random.between(2, 3))));
  case 1:
    return makeSign("^", positive(tame(a, 4)), makeNumber(number(-1.5, 2)));
  case 2:
    return makeCall("pow", {positive(tame(a, 4)), tame(part(shape, depth - 1), 2)});
  case 3:
    return random.chance(0.5) ? makeCall("atan2", {part(shape, depth - 1), positive(a)})
                              : makeCall("atan2", {a, positive(part(shape, depth - 1))});
  case 4:
    return makeCall("clamp", {a, makeNumber(number(-1, -0.1)), makeNumber(number(0.1, 1))});
  case 5:
    return makeCall(random.pick<const char*>({"min", "max"}),
                    {a, makeSign("+", part(shape, depth - 1), makeNumber(0.0217))});
  default:
    return makeMinus(a);
  }
}

/// "m" is a free dim that no state has: what is summed over it and follows no state leaves the
/// recurrence; what does makes the step loops, which is for dense programs to test.
bool Expressions::mayContract(const std::string& dim, const ExprPtr& operand) const {
  return dim != "m" || !followsState(operand);
}

/// After a slice, and where two names meet, an axis has a size, not a name.
ExprPtr Expressions::numbered(ExprPtr reduction) const {
  if ((!parts && !numberAxes) || reduction->axis.empty())
    return reduction;
  Expr node = *reduction;
  node.numbered = true;
  return std::make_shared<const Expr>(std::move(node));
}

/// Two cuts along the last axis, one behind the other: every element in its place, or all moved. Or
/// a shorter array as it is, in front of what depends on no state.
ExprPtr Expressions::joined(const Shape& shape, int depth) {
  const Dim last = program.dim(shape.back());
  for (const Dim& other : program.dims)
    if (other.fixed && other.size < last.size && other.name != "one" && random.chance(0.4)) {
      Shape shorter = shape;
      shorter.back() = other.name;
      ExprPtr first = random.chance(0.5) ? operandLeaf(shorter) : operand(shorter, depth - 1);
      ExprPtr rest = withoutState([&] { return operand(shape, depth - 1); });
      return makeConcat(first, makeSlice(rest, other.size, last.size, "rest"), last.name);
    }
  int64_t cut = random.between(1, last.size - 1);
  ExprPtr a = operand(shape, depth - 1), b = operand(shape, depth - 1);
  ExprPtr first = makeSlice(a, 0, cut, "first"), second = makeSlice(b, cut, last.size, "second");
  if (random.chance(0.5))
    std::swap(first, second);
  return makeConcat(first, second, last.name);
}

ExprPtr Expressions::partOfFirstState(const Shape& shape) {
  const Decl& first = program.states.front();
  ExprPtr state = makeAt(first, 1);
  if (shape.size() != first.shape.size() || shape == first.shape)
    return nullptr;
  if (shape.size() == 2 && shape[0] == first.shape[1] && shape[1] == first.shape[0])
    return makeTurn(state);
  Shape longer = shape;
  longer.back() = first.shape.back();
  const Dim &from = program.dim(first.shape.back()), &to = program.dim(shape.back());
  if (longer != first.shape || !from.fixed || !to.fixed || from.size <= to.size)
    return nullptr;
  int64_t begin = random.below(from.size - to.size + 1);
  return makeSlice(state, begin, begin + to.size, to.name);
}

ExprPtr Expressions::piece(const Shape& shape, int depth) {
  if (shape.size() >= 2 && random.chance(0.5)) {
    Shape left(shape.begin(), shape.end() - 1), right = left;
    right.back() = shape.back();
    if (random.chance(0.6)) {
      ExprPtr a = operand(left, depth - 1), b = operand(right, depth - 1);
      return makeOuter(a, b);
    }
    left.push_back(shape.back());
    std::swap(left.back(), left[left.size() - 2]);
    return makeTurn(random.chance(0.5) ? operandLeaf(left) : operand(left, depth - 1));
  }
  if (shape.empty() || !program.dim(shape.back()).fixed)
    return mayBeComplex ? pair(shape, depth) : binary(shape, depth);
  int64_t size = program.dim(shape.back()).size;
  for (const Dim& other : program.dims)
    if (other.fixed && other.size > size && other.size <= 8 && shape.back() != "one" &&
        random.chance(0.6)) {
      Shape longer = shape;
      longer.back() = other.name;
      int64_t begin = random.below(other.size - size + 1);
      ExprPtr whole = random.chance(0.5) ? operandLeaf(longer) : operand(longer, depth - 1);
      return makeSlice(whole, begin, begin + size, shape.back());
    }
  return size > 1 ? joined(shape, depth) : mayBeComplex ? pair(shape, depth) : binary(shape, depth);
}

ExprPtr Expressions::reduction(const Shape& shape, int depth) {
  static const std::vector<std::string> names = {"sum", "mean", "max", "min", "norm", "logsumexp"};
  std::vector<std::string> along, within;
  for (const std::string& dim : contracted)
    (std::find(shape.begin(), shape.end(), dim) == shape.end() ? along : within).push_back(dim);
  if (!mayBeComplex && !within.empty() && (along.empty() || random.chance(0.3))) {
    const std::string& dim = random.pick(within);
    ExprPtr a = exact(shape, depth - 1);
    if (!mayContract(dim, a))
      return a;
    return numbered(makeReduction("softmax", tame(a, 4),
                                  std::find(shape.begin(), shape.end(), dim) - shape.begin(),
                                  random.chance(0.5)));
  }
  if (along.empty() || shape.size() > 2)
    return mayBeComplex ? pair(shape, depth) : unary(shape, depth);
  const std::string& dim = random.pick(along);
  Shape wider = shape;
  auto at = random.below(static_cast<int64_t>(shape.size()) + 1);
  wider.insert(wider.begin() + at, dim);
  ExprPtr a = operand(wider, depth - 1);
  if (!mayContract(dim, a))
    return operand(shape, depth - 1);
  std::string name = mayBeComplex ? random.pick<const char*>({"sum", "mean"}) : random.pick(names);
  if (name == "logsumexp")
    a = tame(a, 4);
  return numbered(makeReduction(name, a, at, random.chance(0.5)));
}

ExprPtr Expressions::matmul(const Shape& shape, int depth) {
  std::vector<std::string> along(contracted.begin(), contracted.end());
  if (along.empty() || shape.empty() || shape.size() > 2)
    return mayBeComplex ? pair(shape, depth) : binary(shape, depth);
  const std::string& dim = random.pick(along);
  // [batch..., m, n] @ [batch..., n] or @ [n], or [batch..., m, n] @ [batch..., n, p].
  bool vector = shape.size() == 1 || random.chance(0.7);
  Shape left = shape, right = shape;
  if (vector) {
    left.push_back(dim);
    right.back() = dim;
    if (random.chance(0.3))
      right = {dim};
  } else {
    left.back() = dim;
    right[right.size() - 2] = dim;
  }
  ExprPtr a = random.chance(0.7) ? operandLeaf(left) : operand(left, depth - 1);
  ExprPtr b = operand(right, depth - 1);
  if (!mayContract(dim, makeMatmul(a, b)))
    return operand(shape, depth - 1);
  if (arguments || !random.chance(0.3))
    return makeMatmul(a, b);
  // A bias, which starts the sums of a product that leaves the recurrence.
  return makeSign("+", makeMatmul(a, b), newParam(shape, mayBeComplex && random.chance(0.5)));
}

ExprPtr Expressions::call(const Shape& shape, int depth) {
  const Function& function = random.pick(program.functions);
  std::vector<ExprPtr> args;
  size_t whole = random.below(static_cast<int64_t>(function.params.size()));
  for (size_t i = 0; i < function.params.size(); ++i)
    args.push_back(i == whole ? exact(shape, depth - 1) : part(shape, depth - 1));
  Expr node{.op = Op::Call, .text = function.name};
  node.shape = shape;
  node.args = args;
  // A body that drops an argument would have a smaller shape than the call claims.
  ExprPtr body = inlined(function, args);
  return body->shape == shape ? std::make_shared<const Expr>(node) : args[whole];
}

ExprPtr Expressions::exact(const Shape& shape, int depth) {
  if (depth <= 0 || random.chance(0.08))
    return keepSmall(leaf(shape));
  ExprPtr result;
  bool inFunction = arguments != nullptr;
  const bool before = std::exchange(mayBeComplex, false);
  const double calls = program.functions.empty() ? 0 : inFunction ? 8 : 24;
  switch (random.weighted({26, 36, 9, 10, inFunction ? 0.0 : 10.0, inFunction ? 0.0 : 8.0, calls,
                           inFunction || !parts ? 0.0 : 45.0,
                           inFunction || !complexNumbers ? 0.0 : 16.0})) {
  case 0:
    result = unary(shape, depth);
    break;
  case 1:
    result = binary(shape, depth);
    break;
  case 2:
    result = choice(shape, depth);
    break;
  case 3:
    result = other(shape, depth);
    break;
  case 4:
    result = reduction(shape, depth);
    break;
  case 5:
    result = matmul(shape, depth);
    break;
  case 6:
    result = call(shape, depth);
    break;
  case 7:
    result = piece(shape, depth);
    break;
  default:
    result = ofComplex(shape, depth);
  }
  mayBeComplex = before;
  return keepSmall(std::move(result));
}

Function Expressions::function(const std::string& name, int depth) {
  Function function{name, {"a"}, {}, nullptr};
  if (random.chance(0.6))
    function.params.push_back("b");
  if (random.chance(0.2))
    function.params.push_back("c");
  std::vector<std::string> known = function.params;
  arguments = &known;
  for (const std::string& param : known)
    bounds.define(param, {-8, 8, 1, false});
  if (random.chance(0.4)) {
    ExprPtr line = exact({}, depth - 1);
    bounds.define("u", bound(line));
    function.lines.emplace_back("u", line);
    known.push_back("u");
  }
  function.result = exact({}, depth);
  for (const std::string& param : function.params) // every argument is used
    function.result = makeSign("+", function.result,
                               makeSign("*", makeNumber(number(-0.5, 0.5)), makeName(param, {})));
  arguments = nullptr;
  return function;
}
