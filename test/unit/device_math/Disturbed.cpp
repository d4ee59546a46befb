//===- Disturbed.cpp - the same functions where instructions are as bad as they may be -------===//

#include <bit>
#include <cmath>
#include <cstdint>

/// A number within `bound` of the value, relatively, and a float unless it is out of the floats'
/// range. Powers of two stay: the hardware's are exact, and limits such as sigmoid(infinity) = 1
/// ask for it.
static double disturbed(double value, double bound) {
  uint64_t bits = std::bit_cast<uint64_t>(value), hash = bits * 0x9e3779b97f4a7c15u;
  if (!std::isnormal(value) || (bits & 0xfffffffffffff) == 0)
    return value;
  hash ^= hash >> 29;
  double by = hash & 1 ? 1 : -1;
  if (hash & 2)
    by *= static_cast<double>((hash >> 8) & 0xffff) / 0xffff;
  double moved = value * (1 + by * bound);
  float single = static_cast<float>(moved);
  if (!std::isnormal(single))
    return moved;
  return std::fabs(single - value) <= bound * std::fabs(value) ? single : static_cast<float>(value);
}

#define RNN_HOST_APPROXIMATION(value, bound) disturbed(value, bound)
#define rnn rnn_disturbed // other functions than those of Polynomial.cpp
#include "rnn/math.cuh"
#undef rnn

#include "Table.h"

using namespace device_math;

std::span<const Maps> device_math::disturbedPolynomial() {
  return tableOf<rnn_disturbed::polynomial>();
}

std::span<const Maps> device_math::disturbedSpecial() { return tableOf<rnn_disturbed::special>(); }
