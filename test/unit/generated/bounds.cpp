//===- bounds.cpp - interval arithmetic with slopes -------------------------------------------===//

#include "bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace rnnc::generated;

namespace {

Bound add(Bound a, Bound b) {
  return {a.low + b.low, a.high + b.high, a.slope + b.slope, a.jumps || b.jumps};
}

Bound negate(Bound a) { return {-a.high, -a.low, a.slope, a.jumps}; }

Bound multiply(Bound a, Bound b) {
  auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high, a.size() * b.slope + b.size() * a.slope, a.jumps || b.jumps};
}

Bound scale(Bound a, double by) { return multiply(a, {by, by, 0, false}); }

Bound hull(Bound a, Bound b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::max(a.slope, b.slope),
          a.jumps || b.jumps};
}

/// What is not zero: 1 / a.
std::optional<Bound> inverse(Bound a) {
  if (a.low <= 0.05 && a.high >= -0.05)
    return std::nullopt;
  double nearest = std::min(std::fabs(a.low), std::fabs(a.high));
  return Bound{1 / a.high, 1 / a.low, a.slope / (nearest * nearest), a.jumps};
}

/// A function with the values it can take and its steepest slope over an interval.
struct Shape1 {
  double least, most;                            // where it is defined
  double (*value)(double);                       // null: any value of `range`
  double low, high;                              // of its range
  double (*steepest)(double least, double most); // over an interval
  int direction;                                 // 1 rising, -1 falling, 0 neither
};

double one(double, double) { return 1; }
double larger(double a, double b) { return std::max(std::fabs(a), std::fabs(b)); }

const std::map<std::string, Shape1>& shapes() {
  const double inf = INFINITY, pi = 3.15;
  static const std::map<std::string, Shape1> table = {
      {"exp", {-inf, 4, std::exp, 0, inf, [](double, double b) { return std::exp(b); }, 1}},
      {"expm1", {-inf, 4, std::expm1, -1, inf, [](double, double b) { return std::exp(b); }, 1}},
      {"log", {0.1, inf, std::log, -inf, inf, [](double a, double) { return 1 / a; }, 1}},
      {"log1p",
       {-0.9, inf, std::log1p, -inf, inf, [](double a, double) { return 1 / (1 + a); }, 1}},
      {"sqrt",
       {0.1, inf, std::sqrt, 0, inf, [](double a, double) { return 0.5 / std::sqrt(a); }, 1}},
      {"rsqrt",
       {0.1, inf, [](double x) { return 1 / std::sqrt(x); }, 0, inf,
        [](double a, double) { return 0.5 / (a * std::sqrt(a)); }, -1}},
      {"sin", {-inf, inf, nullptr, -1, 1, one, 0}},
      {"cos", {-inf, inf, nullptr, -1, 1, one, 0}},
      {"tan",
       {-1.3, 1.3, std::tan, -inf, inf,
        [](double a, double b) { return 1 + std::pow(std::tan(larger(a, b)), 2); }, 1}},
      {"asin",
       {-0.9, 0.9, std::asin, -pi, pi,
        [](double a, double b) { return 1 / std::sqrt(1 - std::pow(larger(a, b), 2)); }, 1}},
      {"acos",
       {-0.9, 0.9, std::acos, 0, pi,
        [](double a, double b) { return 1 / std::sqrt(1 - std::pow(larger(a, b), 2)); }, -1}},
      {"atan", {-inf, inf, std::atan, -pi, pi, one, 1}},
      {"sinh",
       {-4, 4, std::sinh, -inf, inf, [](double a, double b) { return std::cosh(larger(a, b)); },
        1}},
      {"cosh",
       {-4, 4, nullptr, 1, 28, [](double a, double b) { return std::sinh(larger(a, b)); }, 0}},
      {"tanh", {-inf, inf, std::tanh, -1, 1, one, 1}},
      {"sigmoid",
       {-inf, inf, [](double x) { return 1 / (1 + std::exp(-x)); }, 0, 1,
        [](double, double) { return 0.25; }, 1}},
      {"softplus", {-inf, 30, [](double x) { return std::log1p(std::exp(x)); }, 0, inf, one, 1}},
      {"relu", {-inf, inf, [](double x) { return std::max(x, 0.0); }, 0, inf, one, 1}},
      {"leaky_relu", {-inf, inf, [](double x) { return x > 0 ? x : 0.01 * x; }, -inf, inf, one, 1}},
      {"elu", {-inf, inf, [](double x) { return x > 0 ? x : std::expm1(x); }, -1, inf, one, 1}},
      {"hard_sigmoid", {-inf, inf, nullptr, 0, 1, one, 0}},
      {"hard_tanh", {-inf, inf, nullptr, -1, 1, one, 0}},
      {"erf", {-inf, inf, std::erf, -1, 1, [](double, double) { return 1.13; }, 1}},
      {"sign", {-inf, inf, nullptr, -1, 1, [](double, double) { return 0.0; }, 0}},
      {"floor", {-inf, inf, std::floor, -inf, inf, [](double, double) { return 0.0; }, 1}},
  };
  return table;
}

/// A function of one argument that `shapes` does not say everything about.
std::optional<Bound> special(const std::string& name, Bound a) {
  if (name == "abs")
    return Bound{a.low > 0 ? a.low : 0, a.size(), a.slope, a.jumps};
  if (name == "gelu" || name == "silu")
    return Bound{-0.3, std::max(a.high, 0.0), 1.2 * a.slope, a.jumps};
  return std::nullopt;
}

std::optional<Bound> unary(const std::string& name, Bound a) {
  auto it = shapes().find(name);
  if (it == shapes().end())
    return special(name, a);
  const Shape1& f = it->second;
  if (a.low < f.least || a.high > f.most)
    return std::nullopt;
  Bound result{f.low, f.high, f.steepest(a.low, a.high) * a.slope,
               a.jumps || name == "floor" || name == "sign"};
  if (f.value && f.direction > 0)
    result = {f.value(a.low), f.value(a.high), result.slope, result.jumps};
  else if (f.value)
    result = {f.value(a.high), f.value(a.low), result.slope, result.jumps};
  return result;
}

/// a^b of a positive a; b may be anything.
std::optional<Bound> power(Bound a, Bound b) {
  if (a.low < 0.1 || b.size() > 4 || a.high > 20)
    return std::nullopt;
  auto [low, high] = std::minmax({std::pow(a.low, b.low), std::pow(a.low, b.high),
                                  std::pow(a.high, b.low), std::pow(a.high, b.high)});
  double logarithm = larger(std::log(a.low), std::log(a.high));
  return Bound{low, high, high * (b.size() / a.low * a.slope + logarithm * b.slope),
               a.jumps || b.jumps};
}

/// y ^ n of any y.
Bound wholePower(Bound a, int64_t n) {
  Bound result{1, 1, 0, false};
  for (int64_t i = 0; i < n; ++i)
    result = multiply(result, a);
  return result;
}

/// On the right half plane, where it has no jump.
std::optional<Bound> angle(Bound y, Bound x) {
  if (x.low < 0.1)
    return std::nullopt;
  return Bound{-1.6, 1.6, y.slope / x.low + x.slope * y.size() / (x.low * x.low),
               x.jumps || y.jumps};
}

} // namespace

std::optional<Bound> Bounds::reduction(const Expr& expr, Bound a) const {
  const Shape& shape = expr.args[0]->shape;
  auto n = static_cast<double>(program.dim(expr.axis.empty() ? shape.back() : expr.axis).size);
  if (expr.text == "sum")
    return scale(a, n);
  if (expr.text == "norm")
    return Bound{0, std::sqrt(n) * a.size(), std::sqrt(n) * a.slope, a.jumps};
  if (expr.text == "logsumexp")
    return Bound{a.low + std::log(n), a.high + std::log(n), a.slope, a.jumps};
  if (expr.text == "softmax")
    return Bound{0, 1, a.slope, a.jumps};
  return a; // mean max min
}

static bool isPair(const ExprPtr& expr) { return expr->op == Op::Call && expr->text == "complex"; }

static Bound around(double size, double slope, bool jumps) { return {-size, size, slope, jumps}; }

/// A function that takes or gives a complex number.
std::optional<Bound> Bounds::complexCall(const Expr& expr, const std::vector<Bound>& args) const {
  const Bound& a = args[0];
  if (expr.text == "complex")
    return around(a.size() + args[1].size(), a.slope + args[1].slope, a.jumps || args[1].jumps);
  if (expr.text == "abs")
    return Bound{0, a.size(), a.slope, a.jumps};
  if (expr.text == "re" || expr.text == "im" || expr.text == "conj")
    return around(a.size(), a.slope, a.jumps);
  if (!isPair(expr.args[0])) // too little is known of the parts
    return std::nullopt;
  std::optional<Bound> re = of(expr.args[0]->args[0]), im = of(expr.args[0]->args[1]);
  if (expr.text == "arg")
    return angle(*im, *re);
  double size = std::exp(re->high); // |exp(z)| = exp(re(z))
  return around(size, size * a.slope, a.jumps);
}

/// 1 / expr. A complex number is at least as large as its real part.
std::optional<Bound> Bounds::reciprocal(const ExprPtr& expr, Bound bound) const {
  if (!expr->complex)
    return inverse(bound);
  std::optional<Bound> re = isPair(expr) ? of(expr->args[0]) : std::nullopt;
  if (!re || re->low < 0.05)
    return std::nullopt;
  return around(1 / re->low, bound.slope / (re->low * re->low), bound.jumps);
}

std::optional<Bound> Bounds::call(const Expr& expr, const std::vector<Bound>& args) const {
  for (const Function& function : program.functions)
    if (function.name == expr.text)
      return of(inlined(function, expr.args));
  if (isReduction(expr))
    return reduction(expr, args[0]);
  const std::string& name = expr.text;
  if (name == "complex" || name == "re" || name == "im" || name == "conj" || name == "arg" ||
      ((name == "abs" || name == "exp") && expr.args[0]->complex))
    return complexCall(expr, args);
  if (name == "pow")
    return power(args[0], args[1]);
  if (name == "atan2")
    return angle(args[0], args[1]);
  if (name == "min" || name == "max")
    return hull(args[0], args[1]);
  if (name == "concat")
    return hull(args[0], args[1]);
  if (name == "outer")
    return multiply(args[0], args[1]);
  if (name == "clamp")
    return hull(hull(args[0], args[1]), args[2]);
  if (name == "leaky_relu" && args.size() == 2)
    return hull(args[0], multiply(args[0], args[1]));
  if (name == "elu" && args.size() == 2)
    return hull(args[0], multiply(args[1], {-1, 0, args[0].slope, false}));
  if (name == "where") {
    Bound result = hull(args[1], args[2]);
    result.jumps = true;
    return result;
  }
  return unary(name, args[0]);
}

std::optional<Bound> Bounds::of(const ExprPtr& expr) const {
  std::optional<Bound> bound = asIfReal(expr);
  if (bound && expr->complex)
    return around(bound->size(), bound->slope, bound->jumps);
  return bound;
}

/// Sums, products and powers of absolute values are bounds of those of complex numbers.
std::optional<Bound> Bounds::asIfReal(const ExprPtr& expr) const {
  std::vector<Bound> args;
  for (const ExprPtr& arg : expr->args) {
    std::optional<Bound> bound = of(arg);
    if (!bound || bound->size() > 1e6 || bound->slope > 1e6)
      return std::nullopt;
    args.push_back(*bound);
  }
  switch (expr->op) {
  case Op::Number:
  case Op::Const:
    return Bound{expr->number, expr->number, 0, false};
  case Op::Name:
  case Op::At: {
    auto value = values.find(expr->text);
    if (value != values.end() && expr->back == 0)
      return value->second;
    double size = expr->complex ? 1.4143 : 1; // both parts are at most 1
    return program.isState(expr->text) ? state(1) : around(size, 0, false);
  }
  case Op::Compare:
  case Op::Logic:
    return Bound{0, 1, 0, true};
  case Op::Call:
    return call(*expr, args);
  case Op::Slice:
  case Op::Turn:
    return args[0];
  case Op::Sign:
    break;
  }
  if (args.size() == 1)
    return negate(args[0]);
  switch (expr->text[0]) {
  case '+':
    return add(args[0], args[1]);
  case '-':
    return add(args[0], negate(args[1]));
  case '*':
    return multiply(args[0], args[1]);
  case '@':
    return scale(multiply(args[0], args[1]),
                 static_cast<double>(program.dim(expr->args[0]->shape.back()).size));
  case '^':
    if (args[1].low > 0 && args[1].low == args[1].high && args[1].low == std::floor(args[1].low))
      return wholePower(args[0], static_cast<int64_t>(args[1].low));
    if (expr->complex)
      return std::nullopt;
    return power(args[0], args[1]);
  default:
    if (std::optional<Bound> below = reciprocal(expr->args[1], args[1]))
      return multiply(args[0], *below);
    return std::nullopt;
  }
}

Stability rnnc::generated::stabilityOf(const Program& program) {
  Bounds bounds(program);
  Stability result;
  for (const Equation& equation : program.equations) {
    bool implicit = isImplicit(equation);
    if (implicit)
      bounds.define(equation.name, Bounds::state(1));
    std::optional<Bound> bound = bounds.of(equation.value);
    if (!bound)
      return {};
    // With |new| <= slope * max(|new|, |old|) and a slope below 1 there is one solution, and it
    // moves by the slope. A jump may go past it.
    if (implicit && (bound->slope > kImplicitSlope || bound->jumps))
      return {};
    result.jumps |= bound->jumps;
    if (program.isState(equation.name)) {
      constexpr double kRounding = 1e-9;
      if (program.setting.contracts &&
          (bound->slope > 1 + kRounding || bound->size() > kState + kRounding))
        return {};
      bounds.define(equation.name, {-kState, kState, std::min(bound->slope, 1.0), bound->jumps});
    } else {
      bounds.define(equation.name, *bound);
    }
  }
  result.holds = true;
  return result;
}
