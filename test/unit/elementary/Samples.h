//===- Samples.h - arguments where functions are hard to get right ---------------------------===//
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace elementary {

/// A kind of argument; every function is tried on every kind.
enum class Region {
  kAnyPattern,      // random bits: all exponents alike
  kUnit,            // [-2, 2]
  kModerate,        // [-40, 40]
  kRange,           // [-800, 800] or [-110, 110]: where exponentials over- and underflow
  kNearOne,         // 1 + something down to an ulp, of either sign
  kNearQuarterTurn, // the numbers around multiples of pi/2, small and huge
  kEdges,           // around constants at which some formula changes
  kDenormal,
  kInteger, // small whole numbers and their halves
  kCount
};
/// kCount stands for the special values.
const char* nameOf(Region region);

template <typename T>
T sample(Region region, std::mt19937_64& random);

/// Exponents for powers of `base` that bring the result anywhere between its extremes and beyond.
template <typename T>
T sampleExponent(T base, std::mt19937_64& random);

/// Zeros, infinities, NaN, the extremes and some others, of both signs.
template <typename T>
std::vector<T> specials();

} // namespace elementary
