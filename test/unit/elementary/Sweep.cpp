//===- Sweep.cpp - implementations of a function tried on very many arguments ----------------===//

#include "Sweep.h"

#include "Ulp.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <thread>

using namespace elementary;

static constexpr unsigned kThreads = 2;
static constexpr int64_t kBlock = 1 << 12;

/// Asked for every pattern: the environment is searched once.
bool elementary::soak() {
  static const bool set = std::getenv("RNN_SOAK") != nullptr;
  return set;
}

void Tally::merge(const Tally& other) {
  int64_t counted = count + other.count, wrong = misrounded + other.misrounded;
  if (other.worst > worst)
    *this = other;
  count = counted;
  misrounded = wrong;
}

/// Runs `work(index)` for every index below `count`, on two threads.
static void spread(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int64_t index; (index = next++) < count;)
        work(index);
      mpfr_free_cache();
    });
  for (std::thread& thread : threads)
    thread.join();
}

static uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185;
  x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44d;
  return x ^ (x >> 33);
}

/// The i-th of the patterns that are tried; the first half of them are positive.
static float pattern(int64_t i, int64_t every) {
  uint64_t bits = i * every + (scramble(i) & (every - 1));
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

static int64_t blocks(int bits, int64_t every) { return (int64_t(1) << bits) / every / kBlock; }

void elementary::forPatterns(int64_t usually,
                             const std::function<void(const float*, int64_t)>& work) {
  const int64_t every = soak() ? 1 : usually;
  spread(blocks(32, every), [&](int64_t block) {
    float x[kBlock];
    for (int64_t i = 0; i < kBlock; ++i)
      x[i] = pattern(block * kBlock + i, every);
    work(x, kBlock);
  });
}

/// The C library's results are off by a few units of double precision, 2^-29 of f32's: MPFR judges
/// what is that close to a tie, or worse than anything before.
static void judgeBlock(Tally& tally, Judge& exact, const Function& f, const float* x,
                       const float* got, const double* want) {
  double errors[kBlock];
  ulpErrors(got, want, errors, kBlock);
  for (int64_t i = 0; i < kBlock; ++i) {
    double error = errors[i];
    if (error > .49999 && (error < .50001 || error > tally.worst))
      error = exact.ulpError(f, x[i], x[i], got[i]);
    tally.misrounded += error > .5;
    if (error > tally.worst)
      tally.worst = error, tally.a = x[i], tally.b = x[i], tally.got = got[i];
  }
  tally.count += kBlock;
}

static void patternBlock(const Function& f, const std::vector<Map<float>>& maps, int64_t block,
                         int64_t every, std::vector<Tally>& tallies, Judge& exact) {
  float in[kBlock], mirrored[kBlock], out[kBlock];
  double want[kBlock], mirroredWant[kBlock];
  double sign = f.symmetry == Function::kOdd ? -1 : 1;
  for (int64_t i = 0; i < kBlock; ++i) {
    in[i] = pattern(block * kBlock + i, every);
    mirrored[i] = -in[i];
    want[i] = f.reference(in[i], 0);
    mirroredWant[i] = sign * want[i];
  }
  for (size_t m = 0; m < maps.size(); ++m) {
    maps[m](in, in, out, kBlock);
    judgeBlock(tallies[m], exact, f, in, out, want);
    if (f.symmetry == Function::kNone)
      continue;
    maps[m](mirrored, mirrored, out, kBlock);
    judgeBlock(tallies[m], exact, f, mirrored, out, mirroredWant);
  }
}

std::vector<Tally> elementary::sweepPatterns(const Function& f, const std::vector<Map<float>>& maps,
                                             int64_t usually) {
  std::vector<Tally> all(maps.size());
  std::mutex mutex;
  const int64_t every = soak() ? 1 : usually;
  int64_t count = blocks(f.symmetry == Function::kNone ? 32 : 31, every);
  constexpr int64_t kShare = 16; // blocks that are tallied together
  spread((count + kShare - 1) / kShare, [&](int64_t share) {
    std::vector<Tally> mine(maps.size());
    {
      std::lock_guard lock(mutex);
      for (size_t m = 0; m < mine.size(); ++m)
        mine[m].worst = all[m].worst; // nothing better is worth MPFR's while
    }
    Judge exact;
    for (int64_t block = share * kShare; block < std::min(count, (share + 1) * kShare); ++block)
      patternBlock(f, maps, block, every, mine, exact);
    std::lock_guard lock(mutex);
    for (size_t m = 0; m < mine.size(); ++m)
      all[m].merge(mine[m]);
  });
  return all;
}

namespace {
template <typename T>
struct Arguments {
  std::vector<T> a, b;

  void add(T x, T y) { a.push_back(x), b.push_back(y); }
};
} // namespace

template <typename T>
static Arguments<T> draw(const Function& f, Region region, int64_t count) {
  Arguments<T> result;
  std::mt19937_64 random(static_cast<int>(region) + 1);
  for (int64_t i = 0; i < count; ++i) {
    T x = sample<T>(region, random), y = x;
    if (f.binary) { // the other of the same kind, of any, or one that makes a power interesting
      uint64_t choice = random() % 3;
      y = choice == 0   ? sample<T>(region, random)
          : choice == 1 ? sample<T>(static_cast<Region>(random() % size_t(Region::kCount)), random)
                        : sampleExponent(x, random);
      if ((random() & 1) && choice != 2)
        std::swap(x, y);
    }
    result.add(x, y);
  }
  return result;
}

template <typename T>
static Arguments<T> special(const Function& f) {
  Arguments<T> result;
  for (T x : specials<T>())
    if (f.binary)
      for (T y : specials<T>())
        result.add(x, y);
    else
      result.add(x, x);
  return result;
}

template <typename T>
std::vector<Tally> elementary::sweepRegion(const Function& f, Region region,
                                           const std::vector<Map<T>>& maps) {
  int64_t count = (f.binary ? 3000 : 1000) * (soak() ? 200 : 1);
  Arguments<T> x = region == Region::kCount ? special<T>(f) : draw<T>(f, region, count);
  while (x.a.size() % 64)
    x.add(x.a.back(), x.b.back());
  size_t n = x.a.size();
  std::vector<std::vector<T>> got(maps.size(), std::vector<T>(n));
  for (size_t m = 0; m < maps.size(); ++m)
    maps[m](x.a.data(), x.b.data(), got[m].data(), n);

  std::vector<Tally> all(maps.size());
  std::mutex mutex;
  spread(n / 64, [&](int64_t part) {
    std::vector<Tally> mine(maps.size());
    Judge exact;
    for (size_t i = part * 64; i < size_t(part + 1) * 64; ++i) {
      exact.set(f, x.a[i], x.b[i]);
      for (size_t m = 0; m < maps.size(); ++m) {
        double error = exact.ulpError(got[m][i]);
        mine[m].merge({error, x.a[i], x.b[i], got[m][i], nameOf(region), 1, error > .5});
      }
    }
    std::lock_guard lock(mutex);
    for (size_t m = 0; m < maps.size(); ++m)
      all[m].merge(mine[m]);
  });
  return all;
}

template <typename T>
std::vector<Tally> elementary::sweepSamples(const Function& f, const std::vector<Map<T>>& maps) {
  std::vector<Tally> all(maps.size());
  for (size_t r = 0; r <= static_cast<size_t>(Region::kCount); ++r) {
    std::vector<Tally> some = sweepRegion(f, static_cast<Region>(r), maps);
    for (size_t m = 0; m < maps.size(); ++m)
      all[m].merge(some[m]);
  }
  return all;
}

template std::vector<Tally> elementary::sweepRegion(const Function&, Region,
                                                    const std::vector<Map<float>>&);
template std::vector<Tally> elementary::sweepRegion(const Function&, Region,
                                                    const std::vector<Map<double>>&);
template std::vector<Tally> elementary::sweepSamples(const Function&,
                                                     const std::vector<Map<float>>&);
template std::vector<Tally> elementary::sweepSamples(const Function&,
                                                     const std::vector<Map<double>>&);
