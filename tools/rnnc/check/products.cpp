// The structured carry against whole matrices.
#include "check.h"
#include "probe.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int64_t kSteps = 5;
constexpr double kRoundings = 64; // of a product's terms

/// Matrices of k x k, one a column of the vector, and the sums of the sizes of their terms.
struct Product {
  uint32_t k, width;
  std::vector<double> value, size;

  Product(uint32_t k, uint32_t width) : k(k), width(width), value(k * k * width) {
    for (uint32_t i = 0; i < k; ++i)
      std::fill_n(value.begin() + (i * k + i) * width, width, 1.0);
    size = value;
  }
  void multiply(const std::vector<double>& jacobian);
};

void Product::multiply(const std::vector<double>& jacobian) {
  std::vector<double> newValue(value.size()), newSize(value.size());
  for (uint32_t row = 0; row < k; ++row)
    for (uint32_t column = 0; column < k; ++column)
      for (uint32_t inner = 0; inner < k; ++inner)
        for (uint32_t i = 0; i < width; ++i) {
          double j = jacobian[(row * k + inner) * width + i];
          newValue[(row * k + column) * width + i] += j * value[(inner * k + column) * width + i];
          newSize[(row * k + column) * width + i] +=
              std::fabs(j) * size[(inner * k + column) * width + i];
        }
  value = std::move(newValue);
  size = std::move(newSize);
}

/// The first entry that is further off than rounding explains.
std::string compare(Shooter& shooter) {
  uint32_t k = shooter.system().states, width = shooter.width();
  Product whole(k, width);
  std::vector<double> state = shooter.start;
  for (int64_t step = 0; step < kSteps; ++step)
    whole.multiply(shooter.dense(shooter.carryAlong(step, 1, state)));
  std::vector<double> carry = shooter.dense(shooter.carry());
  for (size_t at = 0; at < carry.size(); ++at) {
    double allowed = kRoundings * std::numeric_limits<double>::epsilon() * whole.size[at];
    if (std::isfinite(allowed) && !(std::fabs(carry[at] - whole.value[at]) <= allowed))
      return fmt::format("entry ({}, {}) after {} steps: the carry has {:.17g}, whole matrices "
                         "give {:.17g}",
                         at / width / k, at / width % k, kSteps, carry[at], whole.value[at]);
  }
  return "";
}

} // namespace

Rows rnnc::check::checkProducts(const Subject& subject) {
  Rows rows;
  const rnn_module_table& table = *subject.f64->table();
  for (uint32_t system = 0; system < table.systems; ++system) {
    const rnn_system_desc& desc = table.system[system];
    if (desc.carry == 0 || desc.diagonal) // a diagonal is an approximation that no answer needs
      continue;
    Row row{"carry against whole matrices", desc.name, "", true};
    for (uint32_t kernel = 0; kernel < std::min(subject.kernels, desc.kernels); ++kernel)
      for (int n = 0; n < subject.draws && row.passed; ++n) {
        Shooter shooter(*subject.f64, system, kernel, kSteps, subject.seed + n, subject.params);
        row.result = shooter.ok() ? compare(shooter) : subject.f64->lastError();
        row.passed = row.result.empty();
      }
    if (row.passed)
      row.result =
          fmt::format("{} numbers for {} states, {} steps", desc.carry, desc.states, kSteps);
    rows.push_back(row);
  }
  return rows;
}
