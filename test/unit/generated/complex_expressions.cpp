//===- complex_expressions.cpp - random expressions of complex numbers ------------------------===//
//
// Operators of both kinds of numbers (@, where, sum, parts of arrays) are made by the functions for
// real ones, whose operands then may be complex.
//
//===----------------------------------------------------------------------------------------------===//

#include "expressions.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace rnnc::generated;

/// What turns a complex number and makes it no larger.
ExprPtr Expressions::turn(const Shape& shape) {
  if (random.chance(0.5)) {
    double angle = number(-3, 3);
    auto rounded = [](double value) { return makeNumber(std::round(value * 1000) / 1000); };
    return makeCall("complex", {rounded(0.99 * std::cos(angle)), rounded(0.99 * std::sin(angle))});
  }
  ExprPtr shrink = makeMinus(makeCall("abs", {stateless(shape, 1)}));
  return makeCall("exp", {makeCall("complex", {shrink, stateless(shape, 2)})});
}

ExprPtr Expressions::operand(const Shape& shape, int depth) {
  return mayBeComplex && random.chance(0.7) ? complexExact(shape, depth) : exact(shape, depth);
}

ExprPtr Expressions::operandPart(const Shape& shape, int depth) {
  return mayBeComplex && random.chance(0.7) ? complexExact(partOf(shape), depth)
                                            : part(shape, depth);
}

ExprPtr Expressions::operandLeaf(const Shape& shape) {
  return mayBeComplex && random.chance(0.7) ? complexLeaf(shape) : leaf(shape);
}

ExprPtr Expressions::complexLeaf(const Shape& shape) {
  std::vector<ExprPtr> found = leaves(shape);
  std::erase_if(found, [](const ExprPtr& leaf) { return !leaf->complex; });
  bool room = program.inputs.size() + program.params.size() < 8;
  if (found.empty() || (room && random.chance(0.15)))
    return declared(shape, /*complex=*/true);
  return random.pick(found);
}

ExprPtr Expressions::pair(const Shape& shape, int depth) {
  ExprPtr re = exact(shape, depth - 1), im = part(shape, depth - 1);
  if (random.chance(0.4))
    std::swap(re, im);
  return makeCall("complex", {re, im});
}

/// An operator whose result may be real after all.
ExprPtr Expressions::complexNode(const Shape& shape, int depth) {
  switch (random.weighted({18, 10, 30, 10, 6, 8, 8, 8, 10, parts ? 30.0 : 0.0})) {
  case 0:
    return pair(shape, depth);
  case 1: {
    ExprPtr z = complexExact(shape, depth - 1);
    return random.chance(0.5) ? makeCall("conj", {z}) : makeMinus(z);
  }
  case 2: {
    ExprPtr a = complexExact(shape, depth - 1), b = operandPart(shape, depth - 1);
    if (random.chance(0.4))
      std::swap(a, b);
    return makeSign(random.pick<const char*>({"+", "-", "*", "*"}), a, b);
  }
  case 3: {
    ExprPtr a = operand(shape, depth - 1), below = positive(part(shape, depth - 1));
    return makeSign("/", a, makeCall("complex", {below, part(shape, depth - 1)}));
  }
  case 4:
    return makeSign("^", complexExact(shape, depth - 1),
                    makeNumber(static_cast<double>(random.between(2, 3))));
  case 5:
    return choice(shape, depth);
  case 6: {
    ExprPtr re = tame(exact(shape, depth - 1), 1);
    return makeCall("exp", {makeCall("complex", {re, part(shape, depth - 1)})});
  }
  case 7:
    return reduction(shape, depth);
  case 8:
    return matmul(shape, depth);
  default:
    return piece(shape, depth);
  }
}

ExprPtr Expressions::complexExact(const Shape& shape, int depth) {
  if (depth <= 0 || random.chance(0.15))
    return complexLeaf(shape);
  const bool before = std::exchange(mayBeComplex, true);
  ExprPtr result = complexNode(shape, depth);
  mayBeComplex = before;
  if (!result->complex)
    result = makeCall("complex", {result, part(shape, 1)});
  Bound b = bound(result);
  double factor = std::min(b.size() > 8 ? 4 / b.size() : 1, b.slope > 16 ? 8 / b.slope : 1);
  if (factor == 1)
    return result;
  double digits = std::pow(10, 1 - std::floor(std::log10(factor)));
  return makeSign("*", makeNumber(std::floor(factor * digits) / digits), result);
}

/// A real number that is made of complex ones.
ExprPtr Expressions::ofComplex(const Shape& shape, int depth) {
  if (random.chance(0.15)) { // where no angle jumps
    ExprPtr re = positive(part(shape, depth - 1));
    return makeCall("arg", {makeCall("complex", {re, exact(shape, depth - 1)})});
  }
  if (random.chance(0.2) && !contracted.empty() && shape.size() < 3) {
    std::vector<std::string> along;
    for (const std::string& dim : contracted)
      if (std::find(shape.begin(), shape.end(), dim) == shape.end())
        along.push_back(dim);
    if (!along.empty()) {
      const std::string& dim = random.pick(along);
      Shape wider = shape;
      wider.push_back(dim);
      ExprPtr z = complexExact(wider, depth - 1);
      if (mayContract(dim, z))
        return makeReduction("norm", z, wider.size() - 1, false);
    }
  }
  return realPart(complexExact(shape, depth - 1));
}
