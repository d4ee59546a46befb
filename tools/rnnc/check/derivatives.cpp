// Jacobians and carries against differences.
#include "check.h"
#include "probe.h"

#include "Analysis/Explain.h"

#include <fmt/format.h>

#include <cmath>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr double kTolerance = 1e-6;
constexpr double kStep = 1e-4; // of the differences, whose error is of fourth order in it
constexpr int kDraws = 8;      // vectors of random points

/// The worst entry of a carry against differences; failing entries are named by their states.
struct Comparison {
  double worst = 0;
  std::string where;
  std::string outside; // an entry that should be zero and is not
};

Comparison compare(newton::SystemOp op, Shooter& shooter) {
  const rnn_system_desc& system = shooter.system();
  uint32_t k = system.states, width = shooter.width();
  std::vector<double> carry = shooter.carry();
  std::vector<std::vector<double>> dense(k * k); // null where outside the pattern
  for (uint32_t c = 0; c < system.carry; ++c)
    dense[system.carry_index[2 * c] * k + system.carry_index[2 * c + 1]].assign(
        carry.begin() + c * width, carry.begin() + (c + 1) * width);
  Comparison result;
  for (uint32_t column = 0; column < k; ++column) {
    std::vector<double> numeric = differences(shooter, column, kStep);
    for (uint32_t row = 0; row < k; ++row)
      for (uint32_t i = 0; i < width; ++i) {
        double expected = numeric[row * width + i];
        const auto& derived = dense[row * k + column];
        std::string entry =
            fmt::format("{}[t] by {}[t-1]", stateName(op, row), stateName(op, column));
        if (derived.empty()) {
          if (expected != 0)
            result.outside =
                fmt::format("{}: derived to be 0, differences give {}", entry, expected);
          continue;
        }
        double far = std::isfinite(expected) ? distance(derived[i], expected) : 0;
        if (far > result.worst || std::isnan(far)) {
          result.worst = far;
          result.where =
              fmt::format("{}: derived {}, differences give {}", entry, derived[i], expected);
        }
      }
  }
  return result;
}

Rows checkAgainstDifferences(const Subject& subject, const char* name, int64_t steps) {
  Rows rows;
  uint32_t index = 0;
  newton::CellOp newton64 = subject.newton64;
  for (auto op : newton64.ops<newton::SystemOp>()) {
    uint32_t system = index++;
    std::string title = op.getSymName().str();
    if (!op.hasJacobian()) {
      rows.push_back({name, title, "none derived: the block is dense and runs sequentially", true});
      continue;
    }
    Comparison worst;
    for (int n = 0; n < kDraws; ++n) {
      Shooter shooter(*subject.f64, system, steps, subject.seed + n, subject.params);
      if (!shooter.ok())
        return {{name, title, subject.f64->lastError(), false}};
      Comparison one = compare(op, shooter);
      if (one.worst > worst.worst || std::isnan(one.worst))
        worst.worst = one.worst, worst.where = one.where;
      if (!one.outside.empty())
        worst.outside = one.outside;
    }
    bool passed = worst.worst <= kTolerance && worst.outside.empty();
    std::string text = fmt::format("{:.1e} at most from differences", worst.worst);
    if (!worst.outside.empty())
      text = worst.outside;
    else if (!passed)
      text = worst.where;
    rows.push_back({name, title, text, passed});
  }
  return rows;
}

} // namespace

Rows rnnc::check::checkDerivatives(const Subject& subject) {
  return checkAgainstDifferences(subject, "Jacobian of a step", 1);
}

Rows rnnc::check::checkCarries(const Subject& subject) {
  return checkAgainstDifferences(subject, "product over 3 steps", 3);
}

double rnnc::check::contractionRate(const Subject& subject, uint32_t system) {
  constexpr int64_t kLength = 64; // longer products of a chaotic cell overflow
  Shooter shooter(*subject.f64, system, kLength, subject.seed, subject.params);
  if (!shooter.ok() || shooter.system().carry == 0)
    return NAN;
  const rnn_module_table& table = *subject.f64->table();
  for (uint32_t i = 0; i < shooter.system().states; ++i) {
    const rnn_tensor_desc& state = table.tensor[shooter.system().state_slots[i].tensor];
    std::vector<double> near = drawAround(state.fill, subject.seed, state.name, shooter.width());
    std::copy(near.begin(), near.end(), shooter.start.begin() + i * shooter.width());
  }
  std::vector<double> carry = shooter.carry();
  double worst = -INFINITY;
  for (uint32_t i = 0; i < shooter.width(); ++i) {
    double norm = 0;
    for (uint32_t c = 0; c < shooter.system().carry; ++c)
      norm = std::hypot(norm, carry[c * shooter.width() + i]);
    worst = std::max(worst, std::isnan(norm) ? INFINITY : std::log(norm) / kLength);
  }
  return worst;
}
