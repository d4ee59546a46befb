//===- expressions.h - random expressions of a given shape ------------------------------------===//
#pragma once

#include "bounds.h"
#include "random.h"

#include <set>

#include <utility>

namespace rnnc::generated {

/// Grows expressions over what a program declares, and declares inputs and params where it has
/// none of a shape. Every expression it gives has a bound.
class Expressions {
public:
  Expressions(Random& random, Program& program)
      : random(random), program(program), bounds(program) {}

  /// Of this shape exactly; `depth` operators above each other at most, not counting guards.
  ExprPtr exact(const Shape& shape, int depth);
  /// Of a shape that broadcasts to this one.
  ExprPtr part(const Shape& shape, int depth);
  /// As `part`, of inputs and params alone.
  ExprPtr stateless(const Shape& shape, int depth);
  ExprPtr condition(const Shape& shape, int depth);
  /// Complex numbers of this shape exactly.
  ExprPtr complexExact(const Shape& shape, int depth);
  /// The first state turned or cut to this shape; null where it takes more than that.
  ExprPtr partOfFirstState(const Shape& shape);

  /// A value of the step from now on.
  void define(const std::string& name, const ExprPtr& value);
  void defineState(const std::string& name, double slope) {
    defined.insert(name);
    bounds.define(name, Bounds::state(slope));
  }
  void undefine(const std::string& state) { defined.erase(state); }
  /// Outside its domain a function can be anything: such a program is thrown away.
  Bound bound(const ExprPtr& expr) const {
    return bounds.of(expr).value_or(Bound{-1e5, 1e5, 1e5, true});
  }
  ExprPtr turn(const Shape& shape);
  /// The value kept within [-size, size].
  ExprPtr tame(ExprPtr expr, double size);
  double number(double low, double high);
  /// A function of scalars; `depth` as above.
  Function function(const std::string& name, int depth);
  bool followsState(const ExprPtr& expr) const;

  std::map<std::string, int64_t> orders; // how far back a state is read
  std::set<std::string> contracted;      // dims that may be contracted
  bool delays = true;                    // x[t-n]
  bool parts = false;                    // slices, concat, outer and .T
  bool complexNumbers = false;           // also among inputs, params and values
  bool numberAxes = false;               // two names of an axis meet: it has none

private:
  /// What `make` makes, of inputs and params alone.
  template <typename Make>
  ExprPtr withoutState(const Make& make) {
    bool before = std::exchange(noState, true);
    ExprPtr made = make();
    noState = before;
    return made;
  }
  ExprPtr realPart(ExprPtr value);
  ExprPtr leaf(const Shape& shape);
  std::vector<ExprPtr> leaves(const Shape& shape);
  ExprPtr newParam(const Shape& shape, bool complex = false);
  ExprPtr declared(const Shape& shape, bool complex = false);
  ExprPtr operand(const Shape& shape, int depth);
  ExprPtr operandPart(const Shape& shape, int depth);
  ExprPtr operandLeaf(const Shape& shape);
  ExprPtr complexLeaf(const Shape& shape);
  ExprPtr complexNode(const Shape& shape, int depth);
  ExprPtr ofComplex(const Shape& shape, int depth);
  ExprPtr pair(const Shape& shape, int depth);
  ExprPtr positive(ExprPtr expr);
  ExprPtr unary(const Shape& shape, int depth);
  ExprPtr binary(const Shape& shape, int depth);
  ExprPtr choice(const Shape& shape, int depth);
  ExprPtr other(const Shape& shape, int depth);
  ExprPtr reduction(const Shape& shape, int depth);
  ExprPtr matmul(const Shape& shape, int depth);
  ExprPtr call(const Shape& shape, int depth);
  ExprPtr piece(const Shape& shape, int depth);
  ExprPtr joined(const Shape& shape, int depth);
  ExprPtr numbered(ExprPtr reduction) const;
  Shape partOf(const Shape& shape);
  bool mayContract(const std::string& dim, const ExprPtr& operand) const;
  ExprPtr keepSmall(ExprPtr expr);

  Random& random;
  Program& program;
  Bounds bounds;
  std::set<std::string> defined;                       // states[t]
  std::map<std::string, ExprPtr> values;               // of the step
  std::set<std::string> following;                     // values that depend on a state
  const std::vector<std::string>* arguments = nullptr; // inside a function: all there is
  bool noState = false;
  bool mayBeComplex = false; // what an operator of both kinds of numbers is applied to
};

} // namespace rnnc::generated
