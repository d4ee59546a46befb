//===- Samples.cpp - arguments where functions are hard to get right -------------------------===//

#include "Samples.h"

#include <bit>
#include <cmath>
#include <limits>
#include <mpfr.h>
#include <type_traits>

using namespace elementary;

const char* elementary::nameOf(Region region) {
  static constexpr const char* names[] = {"any pattern", "unit",        "moderate", "range",
                                          "near one",    "near pi/2 k", "edges",    "denormal",
                                          "integer",     "specials"};
  static_assert(std::size(names) == static_cast<size_t>(Region::kCount) + 1);
  return names[static_cast<size_t>(region)];
}

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T>
static T uniform(T low, T high, std::mt19937_64& random) {
  return std::uniform_real_distribution<T>(low, high)(random);
}

/// x, moved by up to `ulps` numbers.
template <typename T>
static T around(T x, int ulps, std::mt19937_64& random) {
  int by = std::uniform_int_distribution<int>(-ulps, ulps)(random);
  return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(x) + by));
}

template <typename T>
static T nearQuarterTurn(std::mt19937_64& random) {
  constexpr int kReach = std::numeric_limits<T>::max_exponent - 2;
  int bits = std::uniform_int_distribution<int>(0, kReach)(random);
  if (random() & 1) // half of them where count * pi/2 is taken in parts
    bits %= 30;
  mpfr_t turns, count;
  mpfr_inits2(1200, turns, count, mpfr_ptr(nullptr));
  mpfr_set_ui(count, random() | uint64_t(1) << 63, MPFR_RNDN);
  mpfr_mul_2si(count, count, bits - 63, MPFR_RNDN);
  mpfr_rint(count, count, MPFR_RNDN);
  mpfr_const_pi(turns, MPFR_RNDN);
  mpfr_mul(turns, turns, count, MPFR_RNDN);
  mpfr_div_2ui(turns, turns, 1, MPFR_RNDN);
  T x = static_cast<T>(mpfr_get_d(turns, MPFR_RNDN));
  mpfr_clears(turns, count, mpfr_ptr(nullptr));
  return around(std::isfinite(x) ? x : T(1), 2, random);
}

template <typename T>
static T edge(std::mt19937_64& random) {
  static constexpr double kEdges[] = {709.782712893384,
                                      708.3964185322641,
                                      745.1332191019411,
                                      710.4758600739439,
                                      88.72283905206835,
                                      87.33654475055310,
                                      103.9720770839918,
                                      89.41598629223294,
                                      0.34657359027997,
                                      1.03972077083992,
                                      0.5,
                                      1.0,
                                      2.0,
                                      10.0,
                                      20.0,
                                      40.0,
                                      80.0,
                                      100.0,
                                      110.0,
                                      720.0,
                                      760.0,
                                      1.5,
                                      4.0,
                                      6.0,
                                      0.4142135623730950,
                                      2.4142135623730950,
                                      0.7071067811865476,
                                      1.4142135623730951,
                                      0.2928932188134524,
                                      0.7853981633974483,
                                      1500.0,
                                      50000.0,
                                      1.5e6,
                                      1e8,
                                      16777216.0,
                                      9007199254740992.0,
                                      33.0,
                                      17.0,
                                      36.7,
                                      18.0};
  size_t i = std::uniform_int_distribution<size_t>(0, std::size(kEdges) - 1)(random);
  T x = around(static_cast<T>(kEdges[i]), 40, random);
  return random() & 1 ? x : -x;
}

template <typename T>
T elementary::sample(Region region, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  constexpr T kRange = sizeof(T) == 8 ? 800 : 110;
  switch (region) {
  case Region::kAnyPattern:
    return std::bit_cast<T>(static_cast<Bits<T>>(random()));
  case Region::kUnit:
    return uniform<T>(-2, 2, random);
  case Region::kModerate:
    return uniform<T>(-40, 40, random);
  case Region::kRange:
    return uniform<T>(-kRange, kRange, random);
  case Region::kNearOne: {
    T x = 1 + std::ldexp(uniform<T>(-1, 1, random),
                         -std::uniform_int_distribution<int>(1, Limits::digits + 1)(random));
    return random() & 1 ? x : -x;
  }
  case Region::kNearQuarterTurn:
    return nearQuarterTurn<T>(random);
  case Region::kEdges:
    return edge<T>(random);
  case Region::kDenormal:
    return std::ldexp(uniform<T>(-1, 1, random),
                      Limits::min_exponent -
                          std::uniform_int_distribution<int>(0, Limits::digits)(random));
  case Region::kInteger:
    return T(.5) * std::uniform_int_distribution<int>(-200, 200)(random);
  case Region::kCount:
    break;
  }
  return 0;
}

template <typename T>
T elementary::sampleExponent(T base, std::mt19937_64& random) {
  T octaves = uniform<T>(-1.2, 1.2, random) * std::numeric_limits<T>::max_exponent;
  return octaves / std::log2(std::fabs(base));
}

template <typename T>
std::vector<T> elementary::specials() {
  using Limits = std::numeric_limits<T>;
  T big = std::ldexp(T(1), Limits::digits); // an even number; one less is odd
  std::vector<T> list = {0,
                         Limits::denorm_min(),
                         Limits::min() - Limits::denorm_min(),
                         Limits::min(),
                         Limits::epsilon(),
                         T(.25),
                         T(.5),
                         T(1) - Limits::epsilon() / 2,
                         1,
                         T(1) + Limits::epsilon(),
                         T(1.5),
                         2,
                         3,
                         T(3.5),
                         16,
                         1000,
                         big - 1,
                         big,
                         big * 3,
                         Limits::max() / 4,
                         Limits::max(),
                         Limits::infinity(),
                         Limits::quiet_NaN()};
  for (size_t i = 0, n = list.size(); i < n; ++i)
    list.push_back(-list[i]);
  return list;
}

template float elementary::sample(Region, std::mt19937_64&);
template double elementary::sample(Region, std::mt19937_64&);
template float elementary::sampleExponent(float, std::mt19937_64&);
template double elementary::sampleExponent(double, std::mt19937_64&);
template std::vector<float> elementary::specials();
template std::vector<double> elementary::specials();
