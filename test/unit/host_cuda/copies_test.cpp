// Asynchronous copies: data come at the wait and not before; groups complete in order.
#include "support.hpp"

#include <cmath>
#include <numeric>

namespace {

using host_cuda::input;
using host_cuda::output;

// What a pipeline forgets.
enum class forgotten { nothing, wait, commit, wait_for_the_last, barrier };

// Tiles of 64 numbers pass through two halves of shared memory, the next one loading while the
// current one is summed up. Threads read what others copied.
__global__ void pipeline(const float* x, float* sums, int tiles, forgotten what) {
  float (*buffer)[64] = reinterpret_cast<float (*)[64]>(host_cuda::dynamic_shared());
  const int i = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      host_cuda::copy_async(&buffer[tile % 2][i], x + tile * 64 + i, 4);
    }
    if (what != forgotten::commit) {
      host_cuda::commit();
    }
  };
  fetch(0);
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    if (what != forgotten::wait) {
      host_cuda::wait(what == forgotten::wait_for_the_last && tile + 1 == tiles ? 2 : 1);
    }
    if (what != forgotten::barrier) {
      __syncthreads();
    }
    sum += buffer[tile % 2][63 - i];
    __syncthreads();
  }
  host_cuda::store(sums + i, sum);
  host_cuda::wait(0);
}

host_cuda::result run(forgotten what, std::vector<float>& sums, std::uint64_t seed = 0) {
  std::vector<float> x(64 * 5);
  std::iota(x.begin(), x.end(), 0.f);
  return host_cuda::launch({.buffers = {input("x", x), output("sums", sums)}, .seed = seed}, 1, 64,
                           sizeof(float) * 128, pipeline, x.data(), sums.data(), 5, what);
}

TEST(Copies, PipelineIsRightAndReadsOnce) {
  for (std::uint64_t seed : {0, 1, 2, 3}) {
    std::vector<float> sums(64);
    const auto r = run(forgotten::nothing, sums, seed);
    ASSERT_EQ(r.error, "");
    EXPECT_TRUE(r["x"].each_read(1));
    EXPECT_EQ(r["x"].loads, 320u);
    EXPECT_EQ(r["x"].load_bytes, 1280u);
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(sums[i], 5 * (63 - i) + 64 * 10);
    }
  }
}

TEST(Copies, MissingWaitShowsPoison) {
  std::vector<float> sums(64);
  const auto r = run(forgotten::wait, sums);
  EXPECT_EQ(r.error, ""); // the last wait takes them all
  EXPECT_TRUE(std::isnan(sums[0]));
}

TEST(Copies, WaitForOneGroupTooFewShowsPoison) {
  std::vector<float> sums(64);
  run(forgotten::wait_for_the_last, sums);
  EXPECT_TRUE(std::isnan(sums[0]));
}

TEST(Copies, MissingCommit) {
  std::vector<float> sums(64);
  const auto r = run(forgotten::commit, sums);
  expect_error(r, {"returned with 5 asynchronous copies that it never waited for"});
  EXPECT_TRUE(std::isnan(sums[0]));
}

TEST(Copies, MissingBarrierAfterTheWait) {
  std::vector<float> sums(64);
  if (has_tsan) {
    EXPECT_DEATH(run(forgotten::barrier, sums), "data race.*\n.*");
  } else {
    run(forgotten::barrier, sums);
    EXPECT_TRUE(std::isnan(sums[0])); // thread 0 reads what thread 63 has not received
  }
}

__global__ void early_refill(const float* x, float* y) {
  auto* tile = reinterpret_cast<float*>(host_cuda::dynamic_shared());
  host_cuda::copy_async(tile + threadIdx.x, x + threadIdx.x, 4);
  host_cuda::commit();
  host_cuda::wait(0);
  __syncthreads();
  const float value = tile[(threadIdx.x + 1) % 32];
  // A barrier is missing: the next copy may overwrite what a neighbour still reads.
  host_cuda::copy_async(tile + threadIdx.x, x + threadIdx.x, 4);
  host_cuda::commit();
  host_cuda::store(y + threadIdx.x, value);
  host_cuda::wait(0);
}

TEST(Copies, RefillBeforeOthersHaveReadIsSeenAtOnce) {
  std::vector<float> x(32, 1), y(32);
  const auto go = [&] {
    return host_cuda::launch({.buffers = {input("x", x), output("y", y)}}, 1, 32, 128, early_refill,
                             x.data(), y.data());
  };
  if (has_tsan) {
    EXPECT_DEATH(go(), "data race");
  } else {
    EXPECT_EQ(go().error, "");
    EXPECT_TRUE(std::isnan(y[31])); // it reads the place that thread 0 refills
  }
}

__global__ void groups(const int* x, int* y) {
  auto* s = reinterpret_cast<int*>(host_cuda::dynamic_shared());
  for (int i = 0; i < 4; ++i) {
    host_cuda::copy_async(s + i, x + i, 4);
    host_cuda::commit();
  }
  host_cuda::copy_async(s + 4, x + 4, 4); // not committed
  for (int pending = 4; pending >= 0; --pending) {
    host_cuda::wait(pending);
    int arrived = 0;
    for (int i = 0; i < 5; ++i) {
      arrived += s[i] == x[i] ? 1 << i : 0;
    }
    host_cuda::store(y + pending, arrived);
  }
  host_cuda::commit();
  host_cuda::wait(0);
  host_cuda::store(y + 5, s[4]);
}

TEST(Copies, GroupsCompleteInOrder) {
  int x[5] = {10, 11, 12, 13, 14}, y[6];
  const auto r = host_cuda::launch(1, 1, 20, groups, x, y);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(std::vector(y, y + 6), (std::vector{15, 7, 3, 1, 0, 14}));
}

__global__ void same_place(const int* x, int* y) {
  auto* s = reinterpret_cast<int*>(host_cuda::dynamic_shared());
  for (int i = 0; i < 2; ++i) {
    host_cuda::copy_async(s, x + i, 4);
    host_cuda::commit();
  }
  host_cuda::wait(1);
  host_cuda::store(y, *s);
  host_cuda::wait(0);
  host_cuda::store(y + 1, *s);
}

// The second copy may have been the quicker one.
TEST(Copies, WhatIsUnderWayDestroysWhatArrivedThere) {
  int x[2] = {10, 11}, y[2];
  const auto r = host_cuda::launch(1, 1, 4, same_place, x, y);
  ASSERT_EQ(r.error, "");
  EXPECT_NE(y[0], 10);
  EXPECT_NE(y[0], 11);
  EXPECT_EQ(y[1], 11);
}

__global__ void copy_bytes(const unsigned char* x, int to, int bytes, int source_bytes,
                           unsigned char* y) {
  unsigned char* s = host_cuda::dynamic_shared();
  host_cuda::copy_async(s + to, x, static_cast<std::size_t>(bytes),
                        static_cast<std::size_t>(source_bytes));
  host_cuda::commit();
  host_cuda::wait(0);
  for (int i = 0; i < bytes; ++i) {
    y[i] = s[to + i];
  }
}

TEST(Copies, SizesAndAlignment) {
  alignas(16) unsigned char x[17], y[16];
  std::iota(x, x + 17, 1);
  const auto copy = [&](int from, int to, int bytes, int source_bytes) {
    return host_cuda::launch(1, 1, 32, copy_bytes, x + from, to, bytes, source_bytes, y);
  };
  for (int bytes : {4, 8, 16}) {
    ASSERT_EQ(copy(0, 16, bytes, bytes).error, "");
    EXPECT_EQ(y[bytes - 1], bytes);
  }
  ASSERT_EQ(copy(0, 0, 16, 4).error, "");
  EXPECT_EQ(y[3], 4);
  EXPECT_EQ(y[4], 0);
  EXPECT_EQ(copy(0, 0, 8, 0).error, "");
  EXPECT_EQ(y[0], 0);
  expect_error(copy(0, 0, 2, 2), {"an asynchronous copy of 2 bytes: 4, 8 and 16 are possible"});
  expect_error(copy(1, 0, 4, 4), {"both must be aligned"});
  expect_error(copy(0, 8, 16, 16), {"both must be aligned"});
  expect_error(copy(0, 32, 16, 16), {"which is not in shared memory"});
  expect_error(copy(0, 0, 4, 8), {"an asynchronous copy of 4 bytes from 8"});
}

TEST(Copies, AnInputIsGuardedAndBounded) {
  alignas(16) unsigned char x[16] = {1, 2, 3, 4}, y[16];
  const auto copy = [&](int offset) {
    const host_cuda::options how{.buffers = {input("x", x)}, .guard = true};
    return host_cuda::launch(how, 1, 1, 32, copy_bytes, x + offset, 0, 8, 8, y);
  };
  const auto r = copy(0);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(y[3], 4);
  EXPECT_EQ(r["x"].loads, 1u);
  expect_error(copy(16), {"a load of 8 bytes", "0 bytes past the end of 'x'"});
}

} // namespace
