// Jacobians and carries against differences.
#include "check.h"
#include "differences.h"
#include "place.h"
#include "probe.h"

#include "Analysis/Explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int64_t kOneStep[] = {1};

/// A carry against differences, over many points.
struct Comparison {
  int64_t measured = 0, skipped = 0;
  double worst = 0;
  std::string problem; // names the equation

  void compare(newton::SystemOp op, Shooter& shooter);
  void compareEntry(newton::SystemOp op, uint32_t row, uint32_t column, const double* derived,
                    const Measured* numeric, uint32_t width);
};

/// One entry at every column of the vector; `derived` is null where the entry is outside the
/// pattern.
void Comparison::compareEntry(newton::SystemOp op, uint32_t row, uint32_t column,
                              const double* derived, const Measured* numeric, uint32_t width) {
  auto fail = [&](double is, double expected) {
    if (problem.empty())
      problem = fmt::format("d {} / d {}[t-1]: derived {:.9g}, differences give {:.9g}, in {}",
                            stateName(op, row), stateName(op, column), is, expected,
                            equationText(op, row));
  };
  for (uint32_t i = 0; i < width; ++i) {
    std::optional<double> expected = numeric[i].value(); // none at a jump
    if (!derived) {
      // In the last bits a state shows that the equation is free of: as in (a + s) - s, or where a
      // search begins.
      constexpr double kSlack = 1e-9;
      if (expected && std::fabs(*expected) > kSlack)
        fail(0, *expected);
      continue;
    }
    // A matrix on the way may be infinite where what a param makes is drawn outside its domain.
    if (!expected || !std::isfinite(derived[i])) {
      ++skipped;
      continue;
    }
    ++measured;
    double far = distance(derived[i], *expected);
    worst = std::max(worst, far);
    if (!(far <= kDerivativeTolerance))
      fail(derived[i], *expected);
  }
}

void Comparison::compare(newton::SystemOp op, Shooter& shooter) {
  const rnn_system_desc& system = shooter.system();
  uint32_t k = system.states, width = shooter.width();
  std::vector<double> carry = shooter.carry();
  std::vector<double> signedNumbers(system.carry_places * width);
  std::vector<const double*> dense(k * k); // null where outside the pattern
  for (uint32_t p = 0; p < system.carry_places; ++p) {
    const rnn_carry_place& place = system.carry_place[p];
    for (uint32_t i = 0; i < width; ++i)
      signedNumbers[p * width + i] = place.sign * carry[place.number * width + i];
    dense[place.row * k + place.column] = &signedNumbers[p * width];
  }
  for (uint32_t column = 0; column < k; ++column) {
    std::vector<Measured> numeric = differences(shooter, column);
    for (uint32_t row = 0; row < k; ++row)
      if (row == column || !op.getDiagonal())
        compareEntry(op, row, column, dense[row * k + column], &numeric[row * width], width);
  }
}

/// Every kernel of a system, every length of chunk, at many points.
Row checkSystem(const Subject& subject, mlir::Operation* any, uint32_t system, const char* name,
                llvm::ArrayRef<int64_t> lengths) {
  Row row{name, mlir::SymbolTable::getSymbolName(any).str(), "", true};
  auto op = llvm::dyn_cast<newton::SystemOp>(any);
  if (!op) {
    row.result = "dense: an approximate diagonal, which no answer depends on";
    return row;
  }
  if (op.getDiagonal() && !llvm::equal(lengths, kOneStep)) {
    row.result = "of the diagonals alone, which no answer depends on";
    return row;
  }
  Comparison all;
  uint32_t kernels = std::min(subject.kernels, subject.f64->table()->system[system].kernels);
  for (uint32_t kernel = 0; kernel < kernels; ++kernel)
    for (int64_t steps : lengths)
      for (int n = 0; n < subject.draws; ++n) {
        Shooter shooter(*subject.f64, system, kernel, steps, subject.seed + n, subject.params);
        if (!shooter.ok()) {
          row.result = subject.f64->lastError();
          row.passed = false;
          return row;
        }
        all.compare(op, shooter);
      }
  row.unmeasured = all.problem.empty() && all.measured < all.skipped;
  row.passed = all.problem.empty() && !row.unmeasured;
  row.result = !all.problem.empty() ? all.problem
               : !row.passed        ? fmt::format("could be measured at {} of {} points only",
                                                  all.measured, all.measured + all.skipped)
                                    : fmt::format("{} entries, {:.1e} at most from differences",
                                                  all.measured, all.worst);
  return row;
}

Rows checkAgainstDifferences(const Subject& subject, const char* name,
                             llvm::ArrayRef<int64_t> lengths) {
  Rows rows;
  uint32_t system = 0;
  for (mlir::Operation* op : subject.newton64.systems())
    rows.push_back(checkSystem(subject, op, system++, name, lengths));
  return rows;
}

} // namespace

Rows rnnc::check::checkDerivatives(const Subject& subject) {
  return checkAgainstDifferences(subject, "Jacobian of a step", kOneStep);
}

Rows rnnc::check::checkCarries(const Subject& subject) {
  return checkAgainstDifferences(subject, "product over a chunk", {2, 3, 5});
}
