// The 16-bit types against arithmetic that knows nothing of their bits but what they mean.
#include "core/halves.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rnnc::runtime {
namespace {

struct Format {
  int exponentBits = 0, fractionBits = 0;
};
template <class T>
constexpr Format formatOf{};
template <>
constexpr Format formatOf<BFloat16> = {8, 7};
template <>
constexpr Format formatOf<Float16> = {5, 10};

/// What the pattern means: IEEE 754, section 3.4.
template <class T>
double meaning(uint16_t bits) {
  constexpr Format format = formatOf<T>;
  const int bias = (1 << (format.exponentBits - 1)) - 1;
  const int exponent = bits >> format.fractionBits & ((1 << format.exponentBits) - 1);
  const int fraction = bits & ((1 << format.fractionBits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << format.exponentBits) - 1) {
    return fraction ? NAN : sign * INFINITY;
  }
  const int unit = std::max(exponent, 1) - bias - format.fractionBits;
  return sign * std::ldexp(fraction + (exponent ? 1 << format.fractionBits : 0), unit);
}

template <class T>
uint16_t infinityOf() {
  return ((1 << formatOf<T>.exponentBits) - 1) << formatOf<T>.fractionBits;
}

/// The nearest pattern, ties to the even one, by looking at both neighbours.
template <class T>
uint16_t nearest(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  uint16_t low = 0, high = infinityOf<T>(); // low <= size, high > size
  if (size == INFINITY) {
    return sign | high;
  }
  while (high - low > 1) {
    const uint16_t middle = (low + high) / 2;
    (meaning<T>(middle) <= size ? low : high) = middle;
  }
  // Infinity counts as the power of two that would come next.
  const double above =
      high == infinityOf<T>() ? 2 * meaning<T>(high - 1) - meaning<T>(high - 2) : meaning<T>(high);
  const double down = size - meaning<T>(low), up = above - size; // exact, or far from a tie
  const bool takesHigh = up < down || (up == down && low % 2 == 1);
  return sign | (takesHigh ? high : low);
}

template <class T>
class Halves : public testing::Test {};
using Types = testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(Halves, Types);

TYPED_TEST(Halves, EveryPatternMeansWhatItDoes) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    TypeParam half;
    half.bits = static_cast<uint16_t>(bits);
    const double expected = meaning<TypeParam>(half.bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(half)));
      EXPECT_TRUE(std::isnan(static_cast<double>(half)));
      EXPECT_TRUE(std::isnan(meaning<TypeParam>(TypeParam(static_cast<float>(half)).bits)));
      continue;
    }
    ASSERT_EQ(static_cast<float>(half), expected) << bits;
    ASSERT_EQ(std::signbit(static_cast<float>(half)), bits >> 15 == 1);
    ASSERT_EQ(static_cast<double>(half), expected);
    ASSERT_EQ(TypeParam(static_cast<float>(half)).bits, half.bits);
    ASSERT_EQ(TypeParam(static_cast<double>(half)).bits, half.bits);
  }
}

// Between any two neighbours: at the middle, one unit beside it, and just beside the neighbours, in
// float and, where that cannot say it, in double.
TYPED_TEST(Halves, RoundsToNearest) {
  for (uint32_t bits = 0; bits < infinityOf<TypeParam>(); ++bits) {
    const double here = meaning<TypeParam>(bits);
    const double next = bits + 1 == infinityOf<TypeParam>()
                            ? 2 * here - meaning<TypeParam>(bits - 1)
                            : meaning<TypeParam>(bits + 1);
    const double middle = here + (next - here) / 2;
    for (double around : {here, middle, next}) {
      for (double value : {around, std::nextafter(around, INFINITY), std::nextafter(around, 0.)}) {
        ASSERT_EQ(TypeParam(value).bits, nearest<TypeParam>(value)) << value;
        ASSERT_EQ(TypeParam(-value).bits, nearest<TypeParam>(-value)) << -value;
      }
      const auto narrow = static_cast<float>(around);
      for (float value : {narrow, std::nextafter(narrow, INFINITY), std::nextafter(narrow, 0.f)}) {
        ASSERT_EQ(TypeParam(value).bits, nearest<TypeParam>(value)) << value;
      }
    }
  }
}

TYPED_TEST(Halves, RandomAndSpecialNumbers) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const auto wide = std::ldexp(double(random()) * (i % 2 ? 1 : -1), int(random() % 340) - 230);
    if (!std::isnan(value)) {
      ASSERT_EQ(TypeParam(value).bits, nearest<TypeParam>(value)) << value;
    }
    ASSERT_EQ(TypeParam(wide).bits, nearest<TypeParam>(wide)) << wide;
  }
  for (double value : {0., -0., 1e308, -1e308, 5e-324, -5e-324, double(INFINITY)}) {
    EXPECT_EQ(TypeParam(value).bits, nearest<TypeParam>(value)) << value;
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(double(NAN)))));
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(-NAN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(std::bit_cast<float>(0x7f800001)))));
}

} // namespace
} // namespace rnnc::runtime
