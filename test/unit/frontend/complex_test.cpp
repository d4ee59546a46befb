//===- complex_test.cpp - complex numbers, as they stand and as pairs of real ones ------------===//
//
// The interpreter computes them by the C++ library's complex numbers; once lower-complex has made
// pairs of them, by real arithmetic. Both are held against long double.
//
//===----------------------------------------------------------------------------------------------===//

#include "rnnc/Interpreter.h"

#include "support.h"

#include "Rnn/Rnn.h"
#include "Transforms/LowerComplex.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>

using namespace rnnc;
using namespace rnnc::test;

namespace {

using Exact = std::complex<long double>;
constexpr int kCount = 2000;
constexpr double kUlp = std::numeric_limits<double>::epsilon();

/// Sizes from 10^-exponent to 10^exponent, any angle, now and then a part that is 0.
std::vector<double> drawPairs(unsigned seed, double exponent) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> size(-exponent, exponent), unit(-1, 1);
  std::vector<double> pairs;
  for (int i = 0; i < kCount; ++i) {
    double scale = std::pow(10, size(random));
    for (int part = 0; part < 2; ++part)
      pairs.push_back(random() % 16 == 0 ? 0 : scale * unit(random));
    if (pairs[2 * i] == 0 && pairs[2 * i + 1] == 0)
      pairs[2 * i] = scale;
  }
  return pairs;
}

/// y = `expression` of z and w, kCount complex numbers each; `asPairs`: behind lower-complex.
std::vector<double> evaluated(const std::string& expression, bool asPairs,
                              const std::vector<double>& z, const std::vector<double>& w) {
  std::string kind = expression == "abs(z[t])" ? "" : "complex ";
  Compiled result =
      compile("cell C {\n  dim k = " + std::to_string(kCount) +
              "\n  input z, w : complex [k]\n  state s : []\n  output y : " + kind +
              "[k]\n  s[t] = s[t-1] / 2 + re(z[t][0] + w[t][0])\n  y[t] = " + expression + "\n}\n");
  EXPECT_EQ(result.messages(), "");
  if (!result.module)
    return {};
  rnn::CellOp cell = *result.module->getOps<rnn::CellOp>().begin();
  if (asPairs)
    lowerComplex(cell);
  auto made = Interpreter::create(cell, {});
  if (!made) {
    ADD_FAILURE() << llvm::toString(made.takeError());
    return {};
  }
  auto step = made->step({}, {{"z", {{kCount, 2}, z}}, {"w", {{kCount, 2}, w}}}, {});
  if (!step) {
    ADD_FAILURE() << llvm::toString(step.takeError());
    return {};
  }
  return (*step)["y"].data;
}

Exact number(const std::vector<double>& pairs, int i) { return {pairs[2 * i], pairs[2 * i + 1]}; }

/// The largest error relative to the size of the exact result, in units of 2^-52.
template <typename Function>
double worst(const std::string& expression, bool asPairs, double exponent, Function exact) {
  auto z = drawPairs(1, exponent), w = drawPairs(2, exponent);
  auto found = evaluated(expression, asPairs, z, w);
  bool isReal = found.size() == kCount;
  double far = 0;
  for (int i = 0; i < kCount && !found.empty(); ++i) {
    Exact want = exact(number(z, i), number(w, i));
    Exact got = isReal ? Exact(found[i]) : number(found, i);
    double error = static_cast<double>(std::abs(got - want) / std::abs(want)) / kUlp;
    far = std::isnan(error) ? INFINITY : std::max(far, error);
  }
  return found.empty() ? INFINITY : far;
}

TEST(Complex, ArithmeticIsRight) {
  for (bool asPairs : {false, true}) {
    EXPECT_LE(worst("z[t] + w[t]", asPairs, 1, [](Exact z, Exact w) { return z + w; }), 1);
    EXPECT_LE(worst("z[t] - 2 * conj(w[t])", asPairs, 1,
                    [](Exact z, Exact w) { return z - 2.0L * std::conj(w); }),
              1);
    EXPECT_LE(worst("z[t] * w[t]", asPairs, 150, [](Exact z, Exact w) { return z * w; }), 2);
    EXPECT_LE(worst("exp(z[t])", asPairs, 1, [](Exact z, Exact) { return std::exp(z); }), 2);
    EXPECT_LE(worst("where(re(z[t]) > 0, -z[t], complex(im(w[t]), 1))", asPairs, 1,
                    [](Exact z, Exact w) { return z.real() > 0 ? -z : Exact(w.imag(), 1); }),
              0);
  }
}

/// No square of a part overflows or vanishes on the way.
TEST(Complex, QuotientsAndSizesOfAnyMagnitude) {
  for (bool asPairs : {false, true}) {
    EXPECT_LE(worst("z[t] / w[t]", asPairs, 150, [](Exact z, Exact w) { return z / w; }), 2);
    EXPECT_LE(worst("1 / w[t]", asPairs, 300, [](Exact, Exact w) { return 1.0L / w; }), 2);
    EXPECT_LE(worst("abs(z[t])", asPairs, 300, [](Exact z, Exact) { return std::abs(z); }), 2);
  }
}

} // namespace
