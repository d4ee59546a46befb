//===- f32_test.cpp - single precision over all bit patterns ===//
//
// By default one pattern out of every 64; RNN_SOAK=1 takes all 2^32. The reference is the C library
// in double precision; MPFR decides where that could be mistaken, and every worst case.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Ulp.h"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

using namespace vectormath;

namespace {

constexpr unsigned kThreads = 2;
constexpr int64_t kBlock = 1 << 12;
constexpr int64_t kWidth = 16;

bool soak() { return std::getenv("RNN_SOAK") != nullptr; }

struct Tally {
  double worst = -1;
  float a = 0, b = 0, got = 0;
  int64_t count = 0, misrounded = 0;

  void merge(const Tally& other) {
    count += other.count;
    misrounded += other.misrounded;
    if (other.worst > worst)
      worst = other.worst, a = other.a, b = other.b, got = other.got;
  }
};

/// The C library's results are off by a few units of double precision, 2^-29 of ours: MPFR judges
/// what is that close to a tie, or worse than anything before.
void judge(Tally& tally, Judge& exact, const Function& f, const float* a, const float* b,
           const float* got, const double* want) {
  double errors[kBlock];
  ulpErrors(got, want, errors, kBlock);
  for (int64_t i = 0; i < kBlock; ++i) {
    double error = errors[i];
    if (error > .49999 && (error < .50001 || error > tally.worst))
      error = exact.ulpError(f, a[i], b[i], got[i]);
    tally.misrounded += error > .5;
    if (error > tally.worst)
      tally.worst = error, tally.a = a[i], tally.b = b[i], tally.got = got[i];
  }
  tally.count += kBlock;
}

uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44d;
  return x ^ (x >> 33);
}

/// The i-th argument, of both signs where the reference must be computed for each.
float unaryArgument(int64_t i) {
  uint64_t pattern = soak() ? i : i * 64 + (scramble(i) & 63);
  return std::bit_cast<float>(static_cast<uint32_t>(pattern));
}

struct Sweep {
  const Function& f;
  std::vector<Map<float>> maps;
  std::vector<Tally> tallies = {};
  std::atomic<int64_t> next = {0};
  std::mutex mutex = {};

  void unaryBlock(int64_t block, std::vector<Tally>& mine, Judge& exact) {
    float in[kBlock], mirrored[kBlock], out[kBlock];
    double want[kBlock], mirroredWant[kBlock];
    double sign = f.symmetry == Function::kOdd ? -1 : 1;
    for (int64_t i = 0; i < kBlock; ++i) {
      in[i] = unaryArgument(block * kBlock + i);
      mirrored[i] = -in[i];
      want[i] = f.reference(in[i], 0);
      mirroredWant[i] = sign * want[i];
    }
    for (size_t m = 0; m < maps.size(); ++m) {
      maps[m](in, in, out, kBlock);
      judge(mine[m], exact, f, in, in, out, want);
      if (f.symmetry == Function::kNone)
        continue;
      maps[m](mirrored, mirrored, out, kBlock);
      judge(mine[m], exact, f, mirrored, mirrored, out, mirroredWant);
    }
  }

  void work(int64_t blocks) {
    std::vector<Tally> mine(maps.size());
    Judge exact;
    for (int64_t block; (block = next++) < blocks;)
      unaryBlock(block, mine, exact);
    std::lock_guard lock(mutex);
    for (size_t m = 0; m < mine.size(); ++m)
      tallies[m].merge(mine[m]);
  }

  void run() {
    tallies.resize(maps.size());
    int64_t patterns = int64_t(1) << (f.symmetry == Function::kNone ? 32 : 31);
    int64_t blocks = patterns / (soak() ? 1 : 64) / kBlock;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&] { work(blocks); });
    for (std::thread& thread : threads)
      thread.join();
  }
};

class SinglePrecision : public testing::TestWithParam<const Function*> {};

TEST_P(SinglePrecision, ErrorIsWithinTheBound) {
  const Function& f = *GetParam();
  static Kernels kernels;
  Sweep sweep{f, {kernels.map<float>(f, {kWidth, true}), kernels.map<float>(f, {kWidth, false})}};
  sweep.run();
  for (int m = 0; m < 2; ++m) {
    const Tally& t = sweep.tallies[m];
    double bound = m ? f.bounds.f32Separate : f.bounds.f32;
    std::printf("  %-10s f32 %-8s max %.4f ulp (bound %.2f) at %a -> %a; %.3f %% not the nearest\n",
                f.name, m ? "separate" : "fused", t.worst, bound, t.a, t.got,
                100. * t.misrounded / t.count);
    EXPECT_LE(t.worst, bound) << f.name << (m ? " separate" : " fused") << " at " << t.a;
  }
}

std::vector<const Function*> unaryFunctions() {
  std::vector<const Function*> list;
  for (const Function& f : functions())
    if (!f.binary)
      list.push_back(&f);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, SinglePrecision, testing::ValuesIn(unaryFunctions()),
                         [](const auto& info) { return std::string(info.param->name); });

} // namespace
