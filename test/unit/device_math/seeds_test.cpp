//===- seeds_test.cpp - results do not depend on approximate instructions --------------------===//
//
// The special-function unit's reciprocal may be off by one in the last place, in another way on
// every GPU, and the host has none at all. What is made of it is to have the same bits everywhere.
//
//===-----------------------------------------------------------------------------------------===//

#include "Maps.h"

#include "rnn/math.cuh"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

using namespace device_math;
using namespace elementary;

namespace {

float moved(float x, int by) { return std::bit_cast<float>(std::bit_cast<uint32_t>(x) + by); }

/// Calls `check(seed)` for the floats within `reach` of a value in [1/2, 1].
template <typename Check>
void forSeeds(double value, double reach, Check check) {
  for (int by = -4; by <= 4; ++by) {
    float seed = moved(static_cast<float>(value), by);
    if (std::fabs(seed - value) <= reach)
      check(seed);
  }
}

TEST(Seeds, ReciprocalIsRoundedCorrectlyFromAnySeedWithinAnUlp) {
  for (uint32_t mantissa = 0; mantissa < 0x7fffff; ++mantissa) { // all but all ones
    float d = std::bit_cast<float>(0x3f800000 | mantissa);
    forSeeds(1.0 / d, 0x1p-24, [&](float seed) {
      ASSERT_EQ(rnn::elementary::reciprocal_from(seed, d), 1 / d) << d << " from " << seed;
    });
  }
  // With all ones it is from the nearest seed, the host's.
  float d = 0x1.fffffep+0f;
  EXPECT_EQ(rnn::elementary::reciprocal_from(1 / d, d), 1 / d);
}

TEST(Seeds, ReciprocalRootIsRoundedCorrectlyButForFiveArguments) {
  int exceptions = 0;
  for (uint32_t i = 0; i < 1 << 24; ++i) { // [1, 4)
    float a = std::bit_cast<float>(0x3f800000 + i);
    double exact = 1 / std::sqrt(static_cast<double>(a));
    bool wrong = false;
    forSeeds(exact, 0x1.125p-23 * exact, [&](float seed) {
      float got = rnn::elementary::reciprocal_root_from(seed, a), want = static_cast<float>(exact);
      wrong |= got != want;
      ASSERT_LE(std::fabs(got - want), 0x1p-24) << a << " from " << seed;
    });
    exceptions += wrong;
  }
  EXPECT_EQ(exceptions, 5);
}

/// Functions that are made of approximate reciprocals: the same bits with disturbed ones, but for a
/// few arguments, counted over all patterns, that divide by a number whose mantissa is all ones.
TEST(Seeds, FunctionsOfSinglePrecisionHaveTheSameBits) {
  struct Row {
    const char* name;
    int exceptions;
  };
  for (auto [name, exceptions] :
       {Row{"tanh", 2}, Row{"sigmoid", 3}, Row{"tan", 0}, Row{"atan", 2}}) {
    Map<float> exact = mapsOf(polynomial(), name).f32;
    Map<float> disturbed = mapsOf(disturbedPolynomial(), name).f32;
    std::atomic<int> different = 0, far = 0;
    std::atomic<uint32_t> last = 0;
    forPatterns(kUsually, [&](const float* x, int64_t n) {
      std::vector<float> a(n), b(n);
      exact(x, x, a.data(), n);
      disturbed(x, x, b.data(), n);
      for (int64_t i = 0; i < n; ++i)
        if (std::memcmp(&a[i], &b[i], 4) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) {
          ++different;
          far += std::nextafter(a[i], b[i]) != b[i];
          last = std::bit_cast<uint32_t>(x[i]);
        }
    });
    SCOPED_TRACE(std::string(name) + " of " + std::to_string(std::bit_cast<float>(last.load())));
    EXPECT_EQ(far, 0);
    if (soak())
      EXPECT_EQ(different, exceptions);
    else
      EXPECT_LE(different, exceptions);
  }
}

/// In double precision a reciprocal next to a tie may go either way: arguments near 1 meet such.
TEST(Seeds, FunctionsOfDoublePrecisionAreAnUlpApartAtMostAndRarely) {
  for (const char* name : {"tanh", "sigmoid", "tan", "atan", "pow", "rsqrt"}) {
    Map<double> exact = mapsOf(polynomial(), name).f64;
    Map<double> disturbed = mapsOf(disturbedPolynomial(), name).f64;
    std::mt19937_64 random(3);
    int different = 0;
    for (int i = 0; i < 400000; ++i) {
      auto region = static_cast<Region>(i % static_cast<int>(Region::kCount));
      double x = sample<double>(region, random), y = sampleExponent(x, random), a, b;
      exact(&x, &y, &a, 1);
      disturbed(&x, &y, &b, 1);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      ++different;
      ASSERT_LE(std::fabs(a - b), 0x1p-52 * std::fabs(a)) << name << " of " << x << ", " << y;
    }
    EXPECT_LE(different, 400) << name;
  }
}

} // namespace
