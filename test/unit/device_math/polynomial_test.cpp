//===- polynomial_test.cpp - rnn::polynomial: errors and limits ------------------------------===//

#include "Maps.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

using namespace device_math;
using namespace elementary;

namespace {

/// Largest error in units of the last place that is accepted: the figures of docs/math.md.
struct Bound {
  const char* name;
  double f32, f64;
};
const Bound kBounds[] = {
#define RNN_ULP(name, arguments, f32, f64) {#name, f32, f64},
#include "math_bounds.inc"
#undef RNN_ULP
};

void report(const Bound& bound, const Tally& t, const char* type, double limit) {
  std::printf(
      "  %-10s %s max %.4f ulp (bound %.2f) at (%a, %a) -> %a %s; %.3f %% not the nearest\n",
      bound.name, type, t.worst, limit, t.a, t.b, t.got, t.region, 100. * t.misrounded / t.count);
  EXPECT_LE(t.worst, limit) << bound.name << "(" << t.a << ", " << t.b << ") = " << t.got;
}

class Polynomial : public testing::TestWithParam<Bound> {};

TEST_P(Polynomial, PatternsOfSinglePrecisionAreWithinTheBound) {
  const Bound& bound = GetParam();
  const Function& f = function(bound.name);
  if (f.binary)
    return; // sampled below
  report(bound, sweepPatterns(f, {mapsOf(polynomial(), bound.name).f32}, kUsually)[0], "f32",
         bound.f32);
}

TEST_P(Polynomial, SamplesAreWithinTheBound) {
  const Bound& bound = GetParam();
  const Function& f = function(bound.name);
  const Maps& maps = mapsOf(polynomial(), bound.name);
  report(bound, sweepSamples<float>(f, {maps.f32})[0], "f32", bound.f32);
  report(bound, sweepSamples<double>(f, {maps.f64})[0], "f64", bound.f64);
}

INSTANTIATE_TEST_SUITE_P(All, Polynomial, testing::ValuesIn(kBounds),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(PolynomialTable, HasEveryFunction) {
  for (const Function& f : functions()) {
    bool bounded = false;
    for (const Bound& bound : kBounds)
      bounded |= f.name == std::string(bound.name);
    EXPECT_TRUE(bounded) << f.name << " is not tested on the device";
  }
}

template <typename T>
T evaluate(const Maps& maps, double a, double b) {
  T x = static_cast<T>(a), y = static_cast<T>(b), out;
  mapOf<T>(maps)(&x, &y, &out, 1);
  return out;
}

template <typename T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <typename T>
void checkLimits(std::span<const Maps> table) {
  for (const Limit& limit : limits()) {
    T got = evaluate<T>(mapsOf(table, limit.function), limit.a, limit.b);
    EXPECT_TRUE(same(got, static_cast<T>(limit.want)))
        << limit.function << "(" << limit.a << ", " << limit.b << ") = " << got << ", not "
        << limit.want;
  }
}

TEST(Limits, PolynomialSinglePrecision) { checkLimits<float>(polynomial()); }
TEST(Limits, PolynomialDoublePrecision) { checkLimits<double>(polynomial()); }
TEST(Limits, SpecialSinglePrecision) { checkLimits<float>(disturbedSpecial()); }
TEST(Limits, SpecialDoublePrecision) { checkLimits<double>(disturbedSpecial()); }

/// Those that one instruction is, whatever a NaN's sign is.
template <typename T>
void checkExact() {
  for (T x : specials<T>()) {
    EXPECT_TRUE(same(evaluate<T>(mapsOf(polynomial(), "sqrt"), x, x), std::sqrt(x))) << x;
    EXPECT_TRUE(same(evaluate<T>(mapsOf(polynomial(), "abs"), x, x), std::fabs(x))) << x;
    EXPECT_TRUE(same(evaluate<T>(mapsOf(polynomial(), "floor"), x, x), std::floor(x))) << x;
    for (T y : specials<T>())
      EXPECT_TRUE(same(evaluate<T>(mapsOf(polynomial(), "copysign"), x, y), std::copysign(x, y)))
          << x << ", " << y;
  }
}

TEST(Exact, SinglePrecision) { checkExact<float>(); }
TEST(Exact, DoublePrecision) { checkExact<double>(); }

} // namespace
