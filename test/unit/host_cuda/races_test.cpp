// A barrier removed: poison and the order of fibers show it, and ThreadSanitizer reports the race.
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace {

// What must hold of a kernel that lacks a barrier: a race under ThreadSanitizer; elsewhere results
// that are not always the right ones.
template <class Run>
void expect_noticed(Run run, const std::vector<float>& right) {
  if (has_tsan) {
    EXPECT_DEATH(run(0), "WARNING: ThreadSanitizer: data race");
    return;
  }
  bool differs = false;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    differs |= run(seed) != right;
  }
  EXPECT_TRUE(differs);
}

// A sum over the block by halves, without one of its three barriers, or with all (-1).
__global__ void tree(const float* x, float* out, int without) {
  __shared__ float part[128];
  const unsigned i = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    part[i] = host_cuda::load(x + i);
    if (without != 0) {
      __syncthreads();
    }
    for (unsigned half = 64; half; half /= 2) {
      if (i < half) {
        part[i] += part[i + half];
      }
      if (without != 1) {
        __syncthreads();
      }
    }
    host_cuda::store(out + round * 128 + i, part[0]);
    if (without != 2) {
      __syncthreads();
    }
  }
}

std::vector<float> run_tree(int without, std::uint64_t seed) {
  std::vector<float> x(128, 1), out(256);
  const auto r = host_cuda::launch(
      {.buffers = {host_cuda::input("x", x), host_cuda::output("out", out)}, .seed = seed}, 2, 128,
      0, tree, x.data(), out.data(), without);
  EXPECT_EQ(r.error, "");
  return out;
}

TEST(Races, AllBarriersAreThere) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(run_tree(-1, seed), std::vector<float>(256, 128.f));
  }
}

TEST(Races, EachRemovedBarrierIsNoticed) {
  for (int without = 0; without < 3; ++without) {
    expect_noticed([=](std::uint64_t seed) { return run_tree(without, seed); },
                   std::vector<float>(256, 128.f));
  }
}

// Each warp turns its own 32 numbers; `across` reads the next warp's, which __syncwarp does not
// wait for.
__global__ void turn(float* out, bool wait, bool across) {
  __shared__ float tile[64];
  const unsigned i = threadIdx.x;
  tile[i] = static_cast<float>(i);
  if (wait) {
    __syncwarp();
  }
  host_cuda::store(out + i, tile[(i ^ 31) ^ (across ? 32 : 0)]);
}

std::vector<float> run_turn(bool wait, bool across, std::uint64_t seed) {
  std::vector<float> out(64);
  EXPECT_EQ(host_cuda::launch({.seed = seed}, 1, 64, 0, turn, out.data(), wait, across).error, "");
  return out;
}

TEST(Races, SyncwarpJoinsItsOwnWarpAlone) {
  std::vector<float> right(64), crossed(64);
  for (int i = 0; i < 64; ++i) {
    right[i] = static_cast<float>(i ^ 31);
    crossed[i] = static_cast<float>(i ^ 63);
  }
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(run_turn(true, false, seed), right);
  }
  expect_noticed([](std::uint64_t seed) { return run_turn(false, false, seed); }, right);
  expect_noticed([](std::uint64_t seed) { return run_turn(true, true, seed); }, crossed);
}

// Lanes 0 and 1 meet, and lanes 16 and 17; what lane 0 wrote is ready for lane 1 alone.
__global__ void partial_mask(float* out, unsigned reader) {
  __shared__ float value;
  const unsigned lane = threadIdx.x;
  if (lane == 0) {
    value = 5;
  }
  if (lane < 2) {
    __shfl_sync(0x3u, lane, 0);
  } else if (lane == 16 || lane == 17) {
    __shfl_sync(0x30000u, lane, 16);
  }
  if (lane == reader) {
    host_cuda::store(out, value);
  }
}

std::vector<float> run_partial(unsigned reader, std::uint64_t seed) {
  std::vector<float> out(1);
  const host_cuda::options how{.seed = seed};
  EXPECT_EQ(host_cuda::launch(how, 1, 32, 0, partial_mask, out.data(), reader).error, "");
  return out;
}

TEST(Races, ShuffleJoinsTheLanesOfItsMaskAlone) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(run_partial(1, seed), std::vector<float>{5});
  }
  expect_noticed([](std::uint64_t seed) { return run_partial(16, seed); }, {5});
}

// Two threads write one place of global memory with nothing between.
__global__ void both_write(float* out) {
  host_cuda::store(out + threadIdx.x / 2, 1.f * threadIdx.x);
}

TEST(Races, StoresToOnePlace) {
  const auto run = [](std::uint64_t seed) {
    std::vector<float> out(32);
    EXPECT_EQ(host_cuda::launch({.seed = seed}, 1, 64, 0, both_write, out.data()).error, "");
    return out;
  };
  std::vector<float> last(32);
  for (int i = 0; i < 32; ++i) {
    last[i] = 2.f * i + 1;
  }
  expect_noticed(run, last);
}

// Accesses of different blocks are not ordered on a GPU, but blocks of one launch run one by one
// here: no race is reported between them, nor between launches.
__global__ void add_to_all(float* x) {
  host_cuda::store(x + threadIdx.x, host_cuda::load(x + threadIdx.x) + 1);
}

TEST(Races, LaunchesFollowEachOther) {
  std::vector<float> x(64);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(
        host_cuda::launch({.seed = static_cast<std::uint64_t>(i)}, 1, 64, 0, add_to_all, x.data())
            .error,
        "");
    x[0] += 1;
  }
  EXPECT_EQ(x[0], 6.f);
  EXPECT_EQ(x[1], 3.f);
}

} // namespace
