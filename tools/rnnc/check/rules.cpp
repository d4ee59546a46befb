// The rule of every op of a step, each by itself: its tangent against differences of its value.
#include "check.h"
#include "differences.h"
#include "place.h"
#include "probe.h"
#include "scalars.h"

#include "Newton/Derivatives.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int kPoints = 32;

/// One op alone in a block, with its tangent along one operand beside it.
class Rule {
public:
  Rule(Operation& original, unsigned operand);
  ~Rule() {
    block.dropAllReferences();
    block.clear();
  }

  /// The derived derivative; nothing where an op of the rule cannot be evaluated.
  std::optional<double> derived(ArrayRef<double> at);
  Measured measured(ArrayRef<double> at) const;
  /// The op's value with the operand moved.
  double value(ArrayRef<double> at, double by) const;
  Operation* unknown = nullptr; ///< the op that cannot be evaluated

private:
  Block block;
  Operation* op;
  unsigned operand;
  Value tangent; ///< null: zero
};

Rule::Rule(Operation& original, unsigned operand) : operand(operand) {
  OpBuilder builder(original.getContext());
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> arguments;
  for (Value value : original.getOperands())
    arguments.push_back(block.addArgument(value.getType(), original.getLoc()));
  Type type = original.getResult(0).getType();
  Value one = arith::ConstantOp::create(builder, original.getLoc(), builder.getFloatAttr(type, 1));
  op = builder.clone(original);
  op->setOperands(arguments);
  SmallVector<Value> tangents(arguments.size());
  tangents[operand] = one;
  tangent = cast<newton::DerivativeOpInterface>(op).tangent(builder, tangents);
}

std::optional<double> Rule::derived(ArrayRef<double> at) {
  Values values;
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), at))
    values[argument] = value;
  unknown = evaluateBlock(block, values);
  if (unknown)
    return std::nullopt;
  return tangent ? values.lookup(tangent) : 0.0;
}

double Rule::value(ArrayRef<double> at, double by) const {
  SmallVector<double> moved(at);
  moved[operand] += by;
  return evaluate(*op, moved).value_or(NAN);
}

Measured Rule::measured(ArrayRef<double> at) const {
  auto along = [&](double h) {
    return fourthOrder(value(at, h), value(at, -h), value(at, 2 * h), value(at, -2 * h), h);
  };
  return {along(kWide), along(kNarrow)};
}

/// Of a value and its differences, of every step's size.
constexpr double kRoundings = 8 * std::numeric_limits<double>::epsilon();

/// All rules of one system.
struct SystemRules {
  int64_t rules = 0, measured = 0, skipped = 0;
  double worst = 0;
  std::string problem;

  void check(Operation& op, unsigned operand, ArrayRef<Values> points);
  void check(Block& block, ArrayRef<Values> points);
};

/// All ops, those of implicit equations too.
void SystemRules::check(Block& block, ArrayRef<Values> points) {
  for (Operation& op : block.without_terminator()) {
    if (auto implicit = dyn_cast<newton::ImplicitOp>(op))
      check(implicit.residualBlock(), points);
    if (!isa<newton::DerivativeOpInterface>(op) || !isa<FloatType>(op.getResult(0).getType()))
      continue;
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      if (isa<FloatType>(op.getOperand(i).getType()))
        check(op, i, points);
  }
}

void SystemRules::check(Operation& op, unsigned operand, ArrayRef<Values> points) {
  Rule rule(op, operand);
  ++rules;
  for (const Values& point : points) {
    SmallVector<double> at;
    for (Value value : op.getOperands())
      at.push_back(point.lookup(value));
    std::optional<double> derived = rule.derived(at);
    std::optional<double> expected = rule.measured(at).value();
    // Where an op has no value, 0 / 0 in front of a choice of the other branch, it has no slope.
    bool hasValue = !std::isnan(rule.value(at, 0));
    if (!derived || !expected || !hasValue) {
      ++skipped;
      continue;
    }
    ++measured;
    double far = distance(*derived, *expected);
    // What cancels in a difference of large values says nothing of the rule.
    double rounding = kRoundings * std::fabs(rule.value(at, 0)) / kNarrow;
    if (std::fabs(*derived - *expected) <= rounding)
      continue;
    worst = std::max(worst, far);
    if (!(far <= kDerivativeTolerance) && problem.empty())
      problem = fmt::format("the rule of {} by operand {}, used at {}: derived {:.9g}, differences "
                            "give {:.9g}",
                            op.getName().getStringRef().str(), operand, placeText(op.getLoc()),
                            *derived, *expected);
  }
}

/// Values of a whole step at drawn points.
std::vector<Values> drawPoints(newton::SystemOp system, const Subject& subject,
                               Operation*& unknown) {
  Block& block = system.stepBlock();
  std::vector<Values> points(kPoints);
  for (BlockArgument argument : block.getArguments()) {
    std::vector<double> drawn =
        draw(subject.seed, fmt::format("{} {}", system.getSymName().str(), argument.getArgNumber()),
             kPoints, 0.5);
    for (int i = 0; i < kPoints; ++i)
      points[i][argument] = drawn[i];
  }
  for (Values& point : points)
    if (Operation* op = evaluateBlock(block, point))
      unknown = op;
  return points;
}

Row checkSystem(newton::SystemOp system, const Subject& subject) {
  Row row{"derivative rules", system.getSymName().str(), "", true};
  Operation* unknown = nullptr;
  std::vector<Values> points = drawPoints(system, subject, unknown);
  if (unknown) {
    row.result = fmt::format("{} at {} cannot be evaluated",
                             unknown->getName().getStringRef().str(), placeText(unknown->getLoc()));
    row.passed = false;
    return row;
  }
  SystemRules all;
  all.check(system.stepBlock(), points);
  row.unmeasured = all.problem.empty() && all.measured < all.skipped;
  row.passed = all.problem.empty() && !row.unmeasured;
  row.result = !all.problem.empty() ? all.problem
               : !row.passed
                   ? fmt::format("could be measured at {} of {} points only", all.measured,
                                 all.measured + all.skipped)
                   : fmt::format("{} rules, {:.1e} at most from differences", all.rules, all.worst);
  return row;
}

} // namespace

Rows check::checkRules(const Subject& subject) {
  Rows rows;
  for (auto system : subject.newton64.ops<newton::SystemOp>())
    rows.push_back(checkSystem(system, subject));
  return rows;
}
