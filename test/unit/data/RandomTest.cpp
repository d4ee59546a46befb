#include "Files.h"

#include "data/Random.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace rnnc::data;
using namespace rnnc::data::test;

namespace {

RandomSpec specOf(std::string_view text) {
  Result<RandomSpec> spec = parseRandom(text);
  EXPECT_TRUE(spec) << spec.error().text;
  return spec ? *spec : RandomSpec{};
}

std::vector<double> draw(std::string_view text, uint64_t seed, int64_t n) {
  Result<HostArray> array = randomArray(specOf(text), seed, DType::F64, {n});
  EXPECT_TRUE(array);
  return valuesOf<double>(*array);
}

TEST(Random, ParsesSpecifications) {
  RandomSpec normal = specOf("x_z:normal(0,0.3)");
  EXPECT_EQ(normal.name, "x_z");
  EXPECT_EQ(normal.distribution, Distribution::Normal);
  EXPECT_EQ(normal.first, 0);
  EXPECT_EQ(normal.second, 0.3);
  EXPECT_EQ(normal.cut, INFINITY);
  RandomSpec cut = specOf(" a : normal( 1e-1 , +2 , .9 ) ");
  EXPECT_EQ(cut.name, "a");
  EXPECT_EQ(cut.first, 0.1);
  EXPECT_EQ(cut.second, 2);
  EXPECT_EQ(cut.cut, 0.9);
  EXPECT_EQ(specOf("u:uniform(-1,1)").distribution, Distribution::Uniform);
  EXPECT_EQ(specOf("c:constant(-7)").first, -7);
}

struct BadSpec {
  std::string_view text, message;
};

TEST(Random, BadSpecificationsSayWhatIsWrong) {
  for (const BadSpec& bad : {BadSpec{"", "no distribution"},
                             {"x", "no distribution"},
                             {"x:normal", "no distribution"},
                             {"x(0):normal", "no distribution"},
                             {":normal(0,1)", "the name of the array is missing"},
                             {"x:normal(0,1", "the closing parenthesis is missing"},
                             {"x:normal(0,1)y", "the closing parenthesis is missing"},
                             {"x:gauss(0,1)", "there is no distribution 'gauss'"},
                             {"x:(0,1)", "there is no distribution ''"},
                             {"x:normal()", "finite numbers (mean, standard deviation[, cut])"},
                             {"x:normal(0)", "normal takes (mean, standard deviation[, cut])"},
                             {"x:normal(0,1,2,3)", "normal takes"},
                             {"x:normal(0,1,2,3,nonsense)", "normal takes"},
                             {"x:normal(0,)", "finite numbers"},
                             {"x:normal(0,1x)", "finite numbers"},
                             {"x:normal(0,inf)", "finite numbers"},
                             {"x:normal(nan,1)", "finite numbers"},
                             {"x:normal(0,1e999)", "finite numbers"},
                             {"x:normal(0,-1)", "the standard deviation is negative"},
                             {"x:normal(0,1,-1)", "the cut is negative"},
                             {"x:uniform(1)", "uniform takes (lower end, upper end)"},
                             {"x:uniform(2,1)", "the lower end is above the upper end"},
                             {"x:constant(1,2)", "constant takes (value)"}}) {
    std::string text = textOfError(parseRandom(bad.text));
    EXPECT_TRUE(contains(text, bad.message)) << bad.text;
    EXPECT_TRUE(contains(text, "expected something like name:normal(0,0.3)"));
  }
}

// These numbers are a contract: runs are repeated by their seed on other machines and years later.
TEST(Random, KnownValues) {
  auto bits = [](const std::vector<double>& values) {
    std::vector<uint64_t> all;
    for (double value : values)
      all.push_back(std::bit_cast<uint64_t>(value));
    return all;
  };
  std::vector<double> normal = draw("x:normal(0,1)", 0, 17986);
  EXPECT_EQ(
      bits({normal[0], normal[1], normal[2], normal[21], normal[17985]}),
      (std::vector<uint64_t>{13826637727831774590u, 4600530477936064860, 13819586566312662761u,
                             4609361345268032741, 13840592264381763719u}));
  EXPECT_EQ(
      bits(draw("x:uniform(-1,3)", 12345, 3)),
      (std::vector<uint64_t>{4612903970949248487, 4609684122943646062, 13826601194020234492u}));
  EXPECT_EQ(draw("x:constant(0.5)", 1, 3), (std::vector<double>{0.5, 0.5, 0.5}));
}

TEST(Random, DependsOnSeedNameAndPlaceAlone) {
  std::vector<double> some = draw("x:normal(0,1)", 7, 1000);
  EXPECT_EQ(draw("x:normal(0,1)", 7, 1000), some);
  EXPECT_NE(draw("x:normal(0,1)", 8, 1000), some);
  EXPECT_NE(draw("y:normal(0,1)", 7, 1000), some);
  // A long array is drawn by several threads and begins with the same elements.
  std::vector<double> more = draw("x:normal(0,1)", 7, 1000003);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), more.begin()));
  // The last element too is that of its place.
  EXPECT_EQ(draw("x:normal(0,1)", 7, 1000004)[1000002], more.back());

  Result<HostArray> shaped = randomArray(specOf("x:normal(0,1)"), 7, DType::F32, {10, 100});
  ASSERT_TRUE(shaped);
  EXPECT_EQ(shaped->shape, (std::vector<int64_t>{10, 100}));
  std::vector<float> floats = valuesOf<float>(*shaped);
  for (size_t i = 0; i < some.size(); ++i)
    ASSERT_EQ(floats[i], static_cast<float>(some[i]));
}

TEST(Random, MeanAndDeviationScaleTheStandardNumbers) {
  std::vector<double> standard = draw("x:normal(0,1)", 3, 100);
  std::vector<double> scaled = draw("x:normal(10,0.5)", 3, 100);
  std::vector<double> cut = draw("x:normal(0,1,0.9)", 3, 100);
  for (size_t i = 0; i < standard.size(); ++i) {
    EXPECT_EQ(scaled[i], 10 + 0.5 * standard[i]);
    EXPECT_EQ(cut[i], std::clamp(standard[i], -0.9, 0.9));
  }
}

/// Largest distance of the empirical distribution function from `distribution`, times sqrt(n):
/// above 1.95 once in a thousand (Kolmogorov).
template <class F>
double kolmogorov(std::vector<double> values, F distribution) {
  std::ranges::sort(values);
  double n = static_cast<double>(values.size()), largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double p = distribution(values[i]);
    largest =
        std::max({largest, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return largest * std::sqrt(n);
}

double normalDistribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.)); }

TEST(Random, FollowsTheDistributions) {
  for (uint64_t seed : {0, 1, 2, 3}) {
    EXPECT_LT(kolmogorov(draw("x:normal(0,1)", seed, 100000), normalDistribution), 1.95);
    EXPECT_LT(
        kolmogorov(draw("x:uniform(2,4)", seed, 100000), [](double x) { return (x - 2) / 2; }),
        1.95);
  }
}

TEST(Random, StreamsAreNotCorrelated) {
  constexpr int64_t n = 100000;
  std::vector<double> x = draw("x:normal(0,1)", 1, n), y = draw("y:normal(0,1)", 1, n),
                      z = draw("x:normal(0,1)", 2, n);
  double xy = 0, xz = 0, lag = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    xy += x[i] * y[i];
    xz += x[i] * z[i];
    lag += x[i] * x[i + 1];
  }
  for (double sum : {xy, xz, lag})
    EXPECT_LT(std::abs(sum), 4 * std::sqrt(double(n)));
}

TEST(Random, NormalQuantileInvertsTheDistribution) {
  for (double u = 0x1p-53; u < 0.5; u *= 1.01) {
    double x = normalQuantile(u);
    // d ln(u) = -x dx for large negative x: relative error of u is about x^2 times that of x.
    ASSERT_NEAR(normalDistribution(x) / u, 1, 4e-16 * (4 + 3 * x * x)) << u;
    if (u > 0x1p-20) // 1 - u is rounded
      ASSERT_NEAR(normalQuantile(1 - u), -x, 1e-9 * std::abs(x));
  }
  EXPECT_EQ(normalQuantile(0.5), 0);
  EXPECT_NEAR(normalQuantile(0.975), 1.959963984540054, 1e-15);
}

TEST(Random, TooLargeAnArrayIsAnError) {
  std::string text = textOfError(
      randomArray(specOf("x:normal(0,1)"), 0, DType::F32, {int64_t{1} << 40, int64_t{1} << 40}));
  EXPECT_TRUE(contains(text, "random array 'x': "));
}

} // namespace
