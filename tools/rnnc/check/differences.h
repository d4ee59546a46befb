// Derivatives by differences, and whether they can be trusted.
#pragma once

#include <cmath>
#include <optional>

namespace rnnc::check {

/// How far apart, as SOLVER says: |a - b| / (1 + |b|); 0 for equal infinities and two NaN.
double distance(double a, double b);

/// Derived against measured, the worst of many; what could not be measured is counted.
constexpr double kDerivativeTolerance = 1e-6;

/// Two differences of different width, each with an error of fourth order. Where they disagree a
/// kink or a jump lies between the points, or the function bends too sharply: then there is nothing
/// to compare with. Nor where the function is so large that a difference drowns in its last bits.
struct Measured {
  double wide = 0, narrow = 0;
  double noise = 0; ///< what the rounding of the function's values makes of the narrow one
  std::optional<double> value() const {
    constexpr double kMost = 0.1 * kDerivativeTolerance;
    if (!std::isfinite(narrow) || distance(wide, narrow) > kMost ||
        !(noise <= kMost * (1 + std::fabs(narrow))))
      return std::nullopt;
    return narrow;
  }
};

/// (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h, from the four values.
inline double fourthOrder(double up, double down, double up2, double down2, double h) {
  return (8 * (up - down) - (up2 - down2)) / (12 * h);
}

/// Widths of the two differences.
constexpr double kWide = 2e-4, kNarrow = 1e-4;

} // namespace rnnc::check
