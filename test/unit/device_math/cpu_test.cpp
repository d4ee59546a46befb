//===- cpu_test.cpp - the functions that have the CPU's bits ---------------------------------===//

#include "Kernel.h"
#include "Maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

using namespace elementary;

namespace {

template <typename T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

vectormath::Kernels& kernels() {
  static vectormath::Kernels shared;
  return shared;
}

const char* const kUnary[] = {"expm1", "log",  "log1p", "tanh", "sin",  "cos", "tan",
                              "asin",  "acos", "atan",  "sinh", "cosh", "erf", "sign"};

class OfTheCpu : public testing::TestWithParam<const char*> {};

TEST_P(OfTheCpu, BitsOfSinglePrecision) {
  Map<float> device = mapsOf(device_math::polynomial(), GetParam()).f32;
  Map<float> cpu = kernels().map<float>(vectormath::operation(GetParam()), {16, true});
  std::mutex mutex;
  int64_t different = 0;
  float where = 0;
  forPatterns(device_math::kUsually, [&](const float* x, int64_t n) {
    std::vector<float> a(n), b(n);
    device(x, x, a.data(), n);
    cpu(x, x, b.data(), n);
    for (int64_t i = 0; i < n; ++i)
      if (!same(a[i], b[i])) {
        std::lock_guard lock(mutex);
        ++different, where = x[i];
      }
  });
  EXPECT_EQ(different, 0) << GetParam() << " of " << where;
}

template <typename T>
void checkSamples(const char* name, bool binary) {
  Map<T> device = device_math::mapOf<T>(mapsOf(device_math::polynomial(), name));
  Map<T> cpu = kernels().map<T>(vectormath::operation(name), {8, true});
  std::mt19937_64 random(5);
  for (int round = 0; round < 20000; ++round) {
    T a[8], b[8], got[8], want[8];
    for (int i = 0; i < 8; ++i) {
      a[i] = sample<T>(static_cast<Region>(random() % size_t(Region::kCount)), random);
      b[i] =
          binary ? sample<T>(static_cast<Region>(random() % size_t(Region::kCount)), random) : a[i];
    }
    device(a, b, got, 8);
    cpu(a, b, want, 8);
    for (int i = 0; i < 8; ++i)
      ASSERT_TRUE(same(got[i], want[i]))
          << name << " of " << a[i] << ", " << b[i] << ": " << got[i] << ", the CPU's " << want[i];
  }
}

TEST_P(OfTheCpu, BitsOfDoublePrecision) { checkSamples<double>(GetParam(), false); }

INSTANTIATE_TEST_SUITE_P(All, OfTheCpu, testing::ValuesIn(kUnary),
                         [](const auto& info) { return std::string(info.param); });

TEST(OfTheCpu, BitsOfAtan2) {
  checkSamples<float>("atan2", true);
  checkSamples<double>("atan2", true);
}

} // namespace
