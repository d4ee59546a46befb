// Faults made in right kernels: what a test of a kernel has to notice, is noticed.
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

constexpr int warps = 4, block = 32 * warps, tiles = 3;

// Running sums over tiles of 128 numbers that asynchronous copies bring two at a time: a scan in
// each warp by shuffles, one over the warps in shared memory, and a carry to the next tile.
__global__ void scan(const float* x, float* y) {
  __shared__ float ends[warps];
  auto* staged = reinterpret_cast<float (*)[block]>(host_cuda::dynamic_shared());
  const unsigned i = threadIdx.x, lane = i % 32, warp = i / 32;
  host_cuda::copy_async(&staged[0][i], x + i, 4);
  host_cuda::commit();
  float carry = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      host_cuda::copy_async(&staged[(tile + 1) % 2][i], x + (tile + 1) * block + i, 4);
    }
    host_cuda::commit();
    host_cuda::wait(1);
    __syncthreads(); // copies are there; the last tile's ends have been read
    // Reversed within the block, so that a thread reads what another one copied.
    float sum = staged[tile % 2][block - 1 - i];
    for (unsigned d = 1; d < 32; d *= 2) {
      const float left = __shfl_up_sync(full_warp, sum, d);
      sum += lane >= d ? left : 0;
    }
    if (lane == 31) {
      ends[warp] = sum;
    }
    __syncthreads();
    float before = carry;
    for (unsigned w = 0; w < warps; ++w) {
      before += w < warp ? ends[w] : 0;
      carry += ends[w];
    }
    host_cuda::store(y + tile * block + i, before + sum);
  }
}

struct outcome {
  host_cuda::result run;
  std::vector<float> y;
};

outcome run_scan(const host_cuda::faults& fault, std::uint64_t seed) {
  std::vector<float> x(block * tiles);
  std::iota(x.begin(), x.end(), 1.f);
  outcome out{{}, std::vector<float>(x.size())};
  out.run = host_cuda::launch({.buffers = {host_cuda::input("x", x), host_cuda::output("y", out.y)},
                               .seed = seed,
                               .fault = fault},
                              1, block, 2 * block * sizeof(float), scan, x.data(), out.y.data());
  return out;
}

std::vector<float> expected() {
  std::vector<float> y(block * tiles);
  float sum = 0;
  for (int t = 0; t < tiles; ++t) {
    for (int i = 0; i < block; ++i) {
      y[t * block + i] = sum += static_cast<float>(t * block + block - i);
    }
  }
  return y;
}

// In some order of fibers the run fails or the result is another one.
bool is_noticed(const host_cuda::faults& fault) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    const outcome out = run_scan(fault, seed);
    if (!out.run.ok() || out.y != expected()) {
      return true;
    }
  }
  return false;
}

TEST(Faults, NoneIsRight) {
  EXPECT_FALSE(is_noticed({}));
  const auto run = run_scan({}, 0).run;
  ASSERT_EQ(run.call_sites.size(), 3u);
  EXPECT_EQ(run.call_sites[0].operation, "__syncthreads()");
  EXPECT_EQ(run.call_sites[0].times, 3u);
  EXPECT_EQ(run.call_sites[1].operation, "__shfl_up_sync()");
  EXPECT_EQ(run.call_sites[1].times, static_cast<std::uint64_t>(tiles * warps * 5));
  EXPECT_NE(run.call_sites[2].place.find("faults_test.cpp:"), std::string::npos);
  EXPECT_TRUE(run["x"].each_read(1));
}

TEST(Faults, EachRemovedBarrier) {
  int barriers = 0;
  for (const host_cuda::call_site& site : run_scan({}, 0).run.call_sites) {
    if (site.operation != "__syncthreads()") {
      continue;
    }
    ++barriers;
    if (has_tsan) {
      EXPECT_DEATH(run_scan(host_cuda::removing(site), 0), "ThreadSanitizer: data race")
          << site.place;
    } else {
      EXPECT_TRUE(is_noticed(host_cuda::removing(site))) << site.place;
    }
  }
  EXPECT_EQ(barriers, 2);
}

// The data are missing, in order: no race, but poison.
TEST(Faults, LateCopies) { EXPECT_TRUE(is_noticed({.late_groups = 1})); }

TEST(Faults, EachWrongLaneOfAMask) {
  for (int lane = 0; lane < 32; ++lane) {
    const auto run = run_scan({.flipped_lanes = 1u << lane}, 0).run;
    EXPECT_FALSE(run.ok()) << lane;
  }
}

TEST(Faults, APlaceThatNobodyReaches) {
  expect_error(run_scan({.removed = "elsewhere.cpp:1:1"}, 0).run,
               {"the fault to make at elsewhere.cpp:1:1: nobody came there"});
}

__global__ void count_odd(int* out) {
  __shared__ int tile[64];
  for (int round = 0; round < 2; ++round) {
    tile[threadIdx.x] = round + static_cast<int>(blockIdx.x);
    const int odd = __syncthreads_count(threadIdx.x % 2);
    host_cuda::store(out + threadIdx.x, odd + tile[63 - threadIdx.x]);
    __syncthreads();
  }
}

std::vector<int> run_count(const host_cuda::faults& fault, host_cuda::result& run) {
  std::vector<int> out(64);
  run = host_cuda::launch({.fault = fault}, 2, 64, 0, count_odd, out.data());
  return out;
}

TEST(Faults, ABarrierThatCounts) {
  host_cuda::result run;
  const std::vector<int> right(64, 34);
  EXPECT_EQ(run_count({}, run), right);
  ASSERT_EQ(run.error, "");
  const host_cuda::call_site site = run.call_sites.at(0);
  EXPECT_EQ(site.answers, (std::vector<std::vector<int>>{{32, 32}, {32, 32}}));
  // It still counts, but its order is gone, which only ThreadSanitizer sees; or it is gone.
  if (has_tsan) {
    EXPECT_DEATH(run_count({.removed = site.place}, run), "ThreadSanitizer: data race");
    EXPECT_DEATH(run_count(host_cuda::removing(site), run), "ThreadSanitizer: data race");
  } else {
    EXPECT_EQ(run_count({.removed = site.place}, run), right);
    EXPECT_NE(run_count(host_cuda::removing(site), run), right);
    EXPECT_EQ(run.error, "");
  }
}

__global__ void until_none_is_left(int* left) {
  while (__syncthreads_or(host_cuda::load(left) > 0)) {
    if (threadIdx.x == 0) {
      host_cuda::store(left, host_cuda::load(left) - 1);
    }
    __syncthreads();
  }
}

TEST(Faults, ALoopThatEndsByABarrier) {
  const auto go = [](const host_cuda::faults& fault) {
    int left[1] = {3};
    return host_cuda::launch({.fault = fault}, 1, 32, 0, until_none_is_left, left);
  };
  const auto right = go({});
  ASSERT_EQ(right.error, "");
  EXPECT_EQ(right.call_sites.at(0).times, 4u);
  if (!has_tsan) {
    EXPECT_EQ(go(host_cuda::removing(right.call_sites.at(0))).error, "");
    host_cuda::faults shorter = host_cuda::removing(right.call_sites.at(0));
    shorter.answers[0].pop_back();
    expect_error(go(shorter), {"which is removed, more often than in the right run"});
  }
}

} // namespace
