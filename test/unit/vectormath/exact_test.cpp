//===- exact_test.cpp - limits, widths, neighbours and targets -------------------------------===//

#include "Kernel.h"
#include "Samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace elementary;
using namespace vectormath;

namespace {

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

template <typename T>
void checkLimits() {
  for (bool fma : {true, false}) {
    std::string last;
    Map<T> map = nullptr;
    for (const Limit& limit : limits()) {
      if (last != limit.function)
        map = kernels().map<T>(operation(limit.function), {8, fma}), last = limit.function;
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
std::vector<T> results(const Operation& f, Shape shape) {
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
void checkWidths(const Operation& f) {
  for (bool fma : {true, false}) {
    std::vector<T> want = results<T>(f, {0, fma});
    for (int64_t width : {1, 4, 8, 16, 64})
      expectSame(results<T>(f, {width, fma}), want,
                 std::string(f.function.name) + " width " + std::to_string(width));
  }
}

/// The same elements in another order, so with other neighbours.
template <typename T>
void checkNeighbours(const Operation& f) {
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
    ASSERT_TRUE(same(got[i], want[order[i]])) << f.function.name << " of " << c[i];
}

/// Instruction sets differ in speed, not in bits.
template <typename T>
void checkTargets(const Operation& f) {
  std::vector<T> fused = results<T>(f, {16, true}), separate = results<T>(f, {16, false});
  expectSame(results<T>(f, {16, false, "x86-64-v2"}), separate,
             std::string(f.function.name) + " x86-64-v2");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    expectSame(results<T>(f, {16, true, "x86-64-v3"}), fused,
               std::string(f.function.name) + " x86-64-v3");
}

class Bits : public testing::TestWithParam<const Operation*> {};

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

std::vector<const Operation*> allFunctions() {
  std::vector<const Operation*> list;
  for (const Operation& f : operations())
    list.push_back(&f);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, Bits, testing::ValuesIn(allFunctions()),
                         [](const auto& info) { return std::string(info.param->function.name); });

} // namespace
