//===- sampled_test.cpp - double precision, and functions of two arguments -------------------===//
//
// Arguments from every region of Samples.h and all special values, judged by MPFR. RNN_SOAK=1 takes
// fifty times as many.
//
//===-----------------------------------------------------------------------------------------===//

#include "Kernel.h"
#include "Samples.h"
#include "Ulp.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <thread>

using namespace vectormath;

namespace {

constexpr int64_t kWidth = 8;

/// Every argument with its results in both modes.
template <typename T>
struct Batch {
  std::vector<T> a, b;
  std::vector<T> results[2]; // with fused operations, and without

  void add(T x, T y) { a.push_back(x), b.push_back(y); }
  void evaluate(Map<T> fused, Map<T> separate) {
    while (a.size() % kWidth)
      add(a.back(), b.back());
    for (std::vector<T>& result : results)
      result.resize(a.size());
    fused(a.data(), b.data(), results[0].data(), a.size());
    separate(a.data(), b.data(), results[1].data(), a.size());
  }
};

struct Worst {
  double error = -1;
  double a = 0, b = 0, got = 0;
};

template <typename T>
void judge(const Function& f, const Batch<T>& batch, size_t from, size_t to, Worst (&worst)[2]) {
  Judge exact;
  for (size_t i = from; i < to; ++i) {
    exact.set(f, batch.a[i], batch.b[i]);
    for (int m = 0; m < 2; ++m) {
      double error = exact.ulpError(batch.results[m][i]);
      if (error > worst[m].error)
        worst[m] = {error, batch.a[i], batch.b[i], batch.results[m][i]};
    }
  }
}

template <typename T>
void judgeAll(const Function& f, const Batch<T>& batch, Worst (&worst)[2]) {
  Worst other[2];
  size_t half = batch.a.size() / 2;
  std::thread second([&] {
    judge(f, batch, half, batch.a.size(), other);
    mpfr_free_cache();
  });
  judge(f, batch, 0, half, worst);
  second.join();
  for (int m = 0; m < 2; ++m)
    if (other[m].error > worst[m].error)
      worst[m] = other[m];
}

template <typename T>
Batch<T> draw(const Function& f, Region region, int64_t count) {
  Batch<T> batch;
  std::mt19937_64 random(static_cast<int>(region) + 1);
  for (int64_t i = 0; i < count; ++i) {
    T x = sample<T>(region, random), y = x;
    if (f.binary) { // the other argument of the same kind, of any, or one that makes a power
                    // interesting
      uint64_t choice = random() % 3;
      y = choice == 0   ? sample<T>(region, random)
          : choice == 1 ? sample<T>(static_cast<Region>(random() % size_t(Region::kCount)), random)
                        : sampleExponent(x, random);
      if (f.binary && (random() & 1) && choice != 2)
        std::swap(x, y);
    }
    batch.add(x, y);
  }
  return batch;
}

template <typename T>
Batch<T> special(const Function& f) {
  Batch<T> batch;
  for (T x : specials<T>())
    if (f.binary)
      for (T y : specials<T>())
        batch.add(x, y);
    else
      batch.add(x, x);
  return batch;
}

Kernels& kernels() {
  static Kernels shared;
  return shared;
}

template <typename T>
void check(const Function& f) {
  constexpr bool kTwice = sizeof(T) == 8;
  int64_t count = (f.binary ? 12000 : 4000) * (std::getenv("RNN_SOAK") ? 50 : 1);
  double bounds[2] = {kTwice ? f.bounds.f64 : f.bounds.f32,
                      kTwice ? f.bounds.f64Separate : f.bounds.f32Separate};
  Map<T> fused = kernels().map<T>(f, {kWidth, true}),
         separate = kernels().map<T>(f, {kWidth, false});
  Worst all[2];
  const char* where[2] = {"", ""};
  for (size_t r = 0; r <= static_cast<size_t>(Region::kCount); ++r) {
    bool drawn = r < static_cast<size_t>(Region::kCount);
    const char* name = drawn ? nameOf(static_cast<Region>(r)) : "specials";
    Batch<T> batch = drawn ? draw<T>(f, static_cast<Region>(r), count) : special<T>(f);
    batch.evaluate(fused, separate);
    Worst worst[2];
    judgeAll(f, batch, worst);
    for (int m = 0; m < 2; ++m) {
      EXPECT_LE(worst[m].error, bounds[m])
          << f.name << (m ? " separate, " : " fused, ") << name << ": f(" << worst[m].a << ", "
          << worst[m].b << ") = " << worst[m].got;
      if (worst[m].error > all[m].error)
        all[m] = worst[m], where[m] = name;
    }
  }
  for (int m = 0; m < 2; ++m)
    std::printf("  %-10s %s %-8s max %.4f ulp (bound %.2f) at (%a, %a), %s\n", f.name,
                kTwice ? "f64" : "f32", m ? "separate" : "fused", all[m].error, bounds[m], all[m].a,
                all[m].b, where[m]);
}

class Sampled : public testing::TestWithParam<const Function*> {};

TEST_P(Sampled, SinglePrecisionIsWithinTheBound) { check<float>(*GetParam()); }
TEST_P(Sampled, DoublePrecisionIsWithinTheBound) { check<double>(*GetParam()); }

std::vector<const Function*> allFunctions() {
  std::vector<const Function*> list;
  for (const Function& f : functions())
    list.push_back(&f);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, Sampled, testing::ValuesIn(allFunctions()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
