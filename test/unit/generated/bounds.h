//===- bounds.h - how large a value can be, and how fast it follows the state -----------------===//
#pragma once

#include "program.h"

#include <optional>

namespace rnnc::generated {

/// A value lies in [low, high] whenever inputs and params lie in [-1, 1] and states in
/// [-kState, kState]. Where it has no jump it moves by at most `slope` times the largest move of a
/// state. Of a complex number it is the absolute value, on both sides of 0.
struct Bound {
  double low = 0, high = 0, slope = 0;
  bool jumps = false;

  double size() const { return std::max(-low, high); }
};

constexpr double kState = 2;
/// The most that an equation which solves for its state may follow the states, also the new one.
constexpr double kImplicitSlope = 0.95;

class Bounds {
public:
  explicit Bounds(const Program& program) : program(program) {}

  /// Nothing where a function leaves its domain, as log of what may be negative.
  std::optional<Bound> of(const ExprPtr& expr) const;
  void define(const std::string& name, Bound bound) { values[name] = bound; }

  /// What one element of the state can be, and how it follows.
  static Bound state(double slope) { return {-kState, kState, slope, false}; }

private:
  std::optional<Bound> call(const Expr& expr, const std::vector<Bound>& args) const;
  std::optional<Bound> asIfReal(const ExprPtr& expr) const;
  std::optional<Bound> reciprocal(const ExprPtr& expr, Bound bound) const;
  std::optional<Bound> complexCall(const Expr& expr, const std::vector<Bound>& args) const;
  std::optional<Bound> reduction(const Expr& expr, Bound arg) const;

  const Program& program;
  std::map<std::string, Bound> values; // values of the step, states[t]
};

/// Whether the equations keep every state within its bounds and, where `contracts`, follow the old
/// ones with a slope of at most 1; and whether any value jumps.
struct Stability {
  bool holds = false, jumps = false;
};
Stability stabilityOf(const Program& program);

} // namespace rnnc::generated
