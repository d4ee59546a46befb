//===- exact_test.cpp - limits, widths, neighbours and targets -------------------------------===//

#include "Kernel.h"
#include "Samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace vectormath;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Kernels& kernels() {
  static Kernels shared;
  return shared;
}

template <typename T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <typename T>
T evaluate(Map<T> map, T x, T y) {
  T a[8], b[8], out[8];
  std::fill_n(a, 8, x);
  std::fill_n(b, 8, y);
  map(a, b, out, 8);
  return out[3];
}

struct Limit {
  const char* function;
  double a, b, want;
};

/// Values that must be exact in both precisions.
const Limit kLimits[] = {{"exp", 0., 0, 1},           {"exp", -0., 0, 1},
                         {"exp", kInf, 0, kInf},      {"exp", -kInf, 0, 0},
                         {"exp", kNan, 0, kNan},      {"exp", 1e30, 0, kInf},
                         {"exp", -1e30, 0, 0},        {"expm1", -0., 0, -0.},
                         {"expm1", kInf, 0, kInf},    {"expm1", -kInf, 0, -1},
                         {"expm1", kNan, 0, kNan},    {"log", 0., 0, -kInf},
                         {"log", -0., 0, -kInf},      {"log", 1, 0, 0},
                         {"log", kInf, 0, kInf},      {"log", -1, 0, kNan},
                         {"log", -kInf, 0, kNan},     {"log", kNan, 0, kNan},
                         {"log1p", -0., 0, -0.},      {"log1p", -1, 0, -kInf},
                         {"log1p", -2, 0, kNan},      {"log1p", kInf, 0, kInf},
                         {"log1p", kNan, 0, kNan},    {"tanh", 0., 0, 0.},
                         {"tanh", -0., 0, -0.},       {"tanh", kInf, 0, 1},
                         {"tanh", -kInf, 0, -1},      {"tanh", 1e30, 0, 1},
                         {"tanh", -1e30, 0, -1},      {"tanh", kNan, 0, kNan},
                         {"sigmoid", 0., 0, .5},      {"sigmoid", -0., 0, .5},
                         {"sigmoid", kInf, 0, 1},     {"sigmoid", -kInf, 0, 0},
                         {"sigmoid", 1e30, 0, 1},     {"sigmoid", -1e30, 0, 0},
                         {"sigmoid", kNan, 0, kNan},  {"softplus", kInf, 0, kInf},
                         {"softplus", -kInf, 0, 0},   {"softplus", 1e30, 0, 1e30},
                         {"softplus", kNan, 0, kNan}, {"sin", 0., 0, 0.},
                         {"sin", -0., 0, -0.},        {"sin", kInf, 0, kNan},
                         {"sin", -kInf, 0, kNan},     {"sin", kNan, 0, kNan},
                         {"cos", 0., 0, 1},           {"cos", -0., 0, 1},
                         {"cos", kInf, 0, kNan},      {"cos", -kInf, 0, kNan},
                         {"cos", kNan, 0, kNan},      {"tan", -0., 0, -0.},
                         {"tan", kInf, 0, kNan},      {"tan", kNan, 0, kNan},
                         {"asin", -0., 0, -0.},       {"asin", 2, 0, kNan},
                         {"asin", kInf, 0, kNan},     {"acos", 1, 0, 0},
                         {"acos", -2, 0, kNan},       {"acos", kNan, 0, kNan},
                         {"atan", -0., 0, -0.},       {"atan", kNan, 0, kNan},
                         {"sinh", -0., 0, -0.},       {"sinh", kInf, 0, kInf},
                         {"sinh", -kInf, 0, -kInf},   {"sinh", kNan, 0, kNan},
                         {"cosh", 0., 0, 1},          {"cosh", -kInf, 0, kInf},
                         {"cosh", kNan, 0, kNan},     {"erf", -0., 0, -0.},
                         {"erf", kInf, 0, 1},         {"erf", -kInf, 0, -1},
                         {"erf", kNan, 0, kNan},      {"rsqrt", 0., 0, kInf},
                         {"rsqrt", -0., 0, -kInf},    {"rsqrt", kInf, 0, 0},
                         {"rsqrt", 4, 0, .5},         {"rsqrt", -1, 0, kNan},
                         {"sign", -0., 0, -0.},       {"sign", -3, 0, -1},
                         {"sign", kNan, 0, kNan},     {"atan2", 0., 1, 0.},
                         {"atan2", -0., 1, -0.},      {"atan2", -0., 0., -0.},
                         {"atan2", 1, kInf, 0},       {"atan2", -1, kInf, -0.},
                         {"atan2", kNan, 1, kNan},    {"atan2", 1, kNan, kNan},
                         {"pow", kNan, 0., 1},        {"pow", 1, kNan, 1},
                         {"pow", -1, kInf, 1},        {"pow", -1, -kInf, 1},
                         {"pow", -8, 3, -512},        {"pow", -8, .5, kNan},
                         {"pow", 0., -3, kInf},       {"pow", -0., -3, -kInf},
                         {"pow", -0., -2, kInf},      {"pow", -0., 3, -0.},
                         {"pow", -0., .5, 0},         {"pow", -kInf, 3, -kInf},
                         {"pow", -kInf, -3, -0.},     {"pow", -kInf, .5, kInf},
                         {"pow", .5, kInf, 0},        {"pow", .5, -kInf, kInf},
                         {"pow", 2, kInf, kInf},      {"pow", 2, -kInf, 0},
                         {"pow", 2, 10, 1024},        {"pow", kNan, 2, kNan},
                         {"pow", 2, kNan, kNan},      {"pow", kInf, -2, 0},
                         {"pow", 1e30, 1e30, kInf}};

template <typename T>
void checkLimits() {
  for (bool fma : {true, false}) {
    std::string last;
    Map<T> map = nullptr;
    for (const Limit& limit : kLimits) {
      if (last != limit.function)
        map = kernels().map<T>(function(limit.function), {8, fma}), last = limit.function;
      T got = evaluate(map, static_cast<T>(limit.a), static_cast<T>(limit.b));
      EXPECT_TRUE(same(got, static_cast<T>(limit.want)))
          << limit.function << "(" << limit.a << ", " << limit.b << ") = " << got << ", not "
          << limit.want << (fma ? ", fused" : ", separate");
    }
  }
}

TEST(Limits, SinglePrecision) { checkLimits<float>(); }
TEST(Limits, DoublePrecision) { checkLimits<double>(); }

/// Arguments of every kind, the special ones among them.
template <typename T>
std::vector<T> arguments(unsigned seed) {
  constexpr size_t kCount = 4096;
  std::mt19937_64 random(seed);
  std::vector<T> list = specials<T>();
  while (list.size() < kCount)
    list.push_back(sample<T>(static_cast<Region>(random() % size_t(Region::kCount)), random));
  std::shuffle(list.begin(), list.end(), random);
  return list;
}

template <typename T>
std::vector<T> results(const Function& f, Shape shape) {
  std::vector<T> a = arguments<T>(1), b = arguments<T>(2), out(a.size());
  kernels().map<T>(f, shape)(a.data(), b.data(), out.data(), a.size());
  return out;
}

template <typename T>
void expectSame(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_TRUE(same(got[i], want[i])) << what << ", element " << i << " of " << arguments<T>(1)[i]
                                       << ": " << got[i] << ", not " << want[i];
}

template <typename T>
void checkWidths(const Function& f) {
  for (bool fma : {true, false}) {
    std::vector<T> want = results<T>(f, {0, fma});
    for (int64_t width : {1, 4, 8, 16, 64})
      expectSame(results<T>(f, {width, fma}), want,
                 std::string(f.name) + " width " + std::to_string(width));
  }
}

/// The same elements in another order, so with other neighbours.
template <typename T>
void checkNeighbours(const Function& f) {
  Map<T> map = kernels().map<T>(f, {16});
  std::vector<T> a = arguments<T>(1), b = arguments<T>(2), want(a.size()), got(a.size());
  map(a.data(), b.data(), want.data(), a.size());
  std::vector<size_t> order(a.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  std::vector<T> c(a.size()), d(a.size());
  for (size_t i = 0; i < order.size(); ++i)
    c[i] = a[order[i]], d[i] = b[order[i]];
  map(c.data(), d.data(), got.data(), a.size());
  for (size_t i = 0; i < order.size(); ++i)
    ASSERT_TRUE(same(got[i], want[order[i]])) << f.name << " of " << c[i];
}

/// Instruction sets differ in speed, not in bits.
template <typename T>
void checkTargets(const Function& f) {
  std::vector<T> fused = results<T>(f, {16, true}), separate = results<T>(f, {16, false});
  expectSame(results<T>(f, {16, false, "x86-64-v2"}), separate, std::string(f.name) + " x86-64-v2");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    expectSame(results<T>(f, {16, true, "x86-64-v3"}), fused, std::string(f.name) + " x86-64-v3");
}

class Bits : public testing::TestWithParam<const Function*> {};

TEST_P(Bits, AreTheSameAtAnyWidth) {
  checkWidths<float>(*GetParam());
  checkWidths<double>(*GetParam());
}

TEST_P(Bits, DoNotDependOnNeighbours) {
  checkNeighbours<float>(*GetParam());
  checkNeighbours<double>(*GetParam());
}

TEST_P(Bits, AreTheSameOnEveryTarget) {
  checkTargets<float>(*GetParam());
  checkTargets<double>(*GetParam());
}

std::vector<const Function*> allFunctions() {
  std::vector<const Function*> list;
  for (const Function& f : functions())
    list.push_back(&f);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, Bits, testing::ValuesIn(allFunctions()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
