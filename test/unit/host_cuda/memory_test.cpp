// Accesses that are wrong, and what happens to registered buffers.
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

namespace {

using host_cuda::inout;
using host_cuda::input;
using host_cuda::output;

// A sum over time, with the bug that a loop has when its end is one off.
__global__ void running_sum(const float* x, float* y, int steps, int last) {
  float sum = 0;
  for (int t = 0; t < last; ++t) {
    sum += host_cuda::load(x + t * 32 + threadIdx.x);
    host_cuda::store(y + t * 32 + threadIdx.x, sum);
  }
}

TEST(Memory, OffByOneLoadsPastTheEnd) {
  std::vector<float> x(10 * 32, 1), y(11 * 32);
  const auto r = host_cuda::launch({.buffers = {input("x", x), output("y", y)}}, 1, 32, 0,
                                   running_sum, x.data(), y.data(), 10, 11);
  expect_error(r,
               {"block (0,0,0), thread (0,0,0)", "a load of 4 bytes at ",
                "0 bytes past the end of 'x', which has 1280", "running_sum(", "memory_test.cpp:"});
}

TEST(Memory, OffByOneStoresPastTheEnd) {
  std::vector<float> x(11 * 32, 1), y(10 * 32);
  expect_error(host_cuda::launch({.buffers = {input("x", x), output("y", y)}}, 1, 32, 0,
                                 running_sum, x.data(), y.data(), 10, 11),
               {"a store of 4 bytes at ", "of 'y'"});
}

TEST(Memory, OffByOneLeavesTheLastStepUnwritten) {
  std::vector<float> x(10 * 32, 1), y(10 * 32);
  const auto r = host_cuda::launch({.buffers = {input("x", x), output("y", y)}}, 1, 32, 0,
                                   running_sum, x.data(), y.data(), 10, 9);
  ASSERT_EQ(r.error, "");
  EXPECT_FALSE(r["x"].each_read(1));
  EXPECT_FALSE(r["y"].each_written(1));
  EXPECT_EQ(y[8 * 32], 9.f);
  EXPECT_TRUE(std::isnan(y[9 * 32]));
}

TEST(Memory, BeforeTheStart) {
  std::vector<float> x(64, 1), y(32);
  expect_error(
      host_cuda::launch({.buffers = {input("x", std::span(x).subspan(32)), output("y", y)}}, 1, 32,
                        0, running_sum, x.data() + 31, y.data(), 1, 1),
      {"4 bytes before the start of 'x'"});
}

__global__ void load_one(const void* p, int bytes) {
  if (bytes == 4) {
    host_cuda::load(static_cast<const int*>(p));
  } else {
    host_cuda::load(static_cast<const double2*>(p));
  }
}

TEST(Memory, WrongAddresses) {
  alignas(16) int x[9] = {};
  const host_cuda::options how{.buffers = {input("x", x)}};
  const auto at = [&](const void* p, int bytes) {
    return host_cuda::launch(how, 1, 1, 0, load_one, p, bytes);
  };
  EXPECT_EQ(at(x + 8, 4).error, "");
  EXPECT_EQ(at(x + 4, 16).error, "");
  expect_error(at(nullptr, 4), {"a load of 4 bytes", "the null pointer"});
  expect_error(at(x + 8, 16), {"byte 32 of the 36 of 'x', across its end"});
  expect_error(at(x + 1, 16), {"a load of 16 bytes at ", "not aligned to them"});
  expect_error(at(reinterpret_cast<const char*>(x) + 2, 4), {"not aligned to them"});
}

__global__ void count_by_hand(float* p) {
  host_cuda::count_load(p, 12);
  host_cuda::count_store(p + 1, 4);
  host_cuda::count_load(p + 3, 0);
}

TEST(Memory, CountsByHand) {
  float x[3] = {};
  const auto r = host_cuda::launch({.buffers = {inout("x", x)}}, 1, 1, 0, count_by_hand, x);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r["x"].load_bytes, 12u);
  EXPECT_TRUE(r["x"].each_read(1));
  EXPECT_EQ(r["x"].writes[4] + r["x"].writes[0] * 10 + r["x"].writes[8] * 100, 1);
}

__global__ void load_shared_as_global(float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 1;
  host_cuda::store(y + threadIdx.x, host_cuda::load(tile + threadIdx.x));
}

TEST(Memory, SharedMemoryIsNotGlobal) {
  std::vector<float> y(32);
  expect_error(
      host_cuda::launch({.buffers = {output("y", y)}}, 1, 32, 0, load_shared_as_global, y.data()),
      {"a load of 4 bytes", "shared memory"});
}

__global__ void store_into(float* x) { host_cuda::store(x + threadIdx.x, 1.f); }
__global__ void store_raw(float* x) { x[threadIdx.x] = 1.f; }
__global__ void add_into(float* x) { atomicAdd(x, 1.f); }

TEST(Memory, InputsStayAsTheyAre) {
  const std::vector<float> before = {3, 4, 5, 6};
  std::vector<float> x = before;
  const host_cuda::options how{.buffers = {input("x", x)}};
  expect_error(host_cuda::launch(how, 1, 4, 0, store_into, x.data()),
               {"a store of 4 bytes into the input 'x', at byte 0", "store_into(float*)"});
  expect_error(host_cuda::launch(how, 1, 4, 0, add_into, x.data()),
               {"an atomic operation of 4 bytes into the input 'x'"});
  EXPECT_EQ(x, before);
  // A store that goes past the counting is seen at the end.
  expect_error(
      host_cuda::launch(how, 1, 2, 0, store_raw, x.data()),
      {"the kernel changed the input 'x', first at byte 2, by a store that was not counted"});
  EXPECT_EQ(x, before);
}

__global__ void read_modify_write(float* x) {
  host_cuda::store(x + threadIdx.x, host_cuda::load(x + threadIdx.x) + 1);
}

TEST(Memory, OutputsAreWrittenBeforeTheyAreRead) {
  std::vector<float> x(32, 1);
  expect_error(
      host_cuda::launch({.buffers = {output("x", x)}}, 1, 32, 0, read_modify_write, x.data()),
      {"a load of byte 0 of the output 'x', which nobody has written yet"});
  x.assign(32, 1);
  const auto r =
      host_cuda::launch({.buffers = {inout("x", x)}}, 1, 32, 0, read_modify_write, x.data());
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(x[31], 2.f);
  EXPECT_TRUE(r["x"].each_read(1));
}

TEST(Memory, BuffersMayNotOverlap) {
  std::vector<float> x(32);
  expect_error(host_cuda::launch({.buffers = {inout("x", x), input("y", std::span(x).subspan(31))}},
                                 1, 1, 0, store_into, x.data()),
               {"the buffers 'x' and 'y' overlap"});
  std::vector<float> empty;
  EXPECT_EQ(host_cuda::launch({.buffers = {inout("x", x), input("none", empty)}}, 1, 32, 0,
                              store_into, x.data())
                .error,
            "");
}

TEST(Memory, AccessesOutsideOfAnyAllocation) {
  const auto x = std::make_unique<int[]>(8);
  EXPECT_EQ(host_cuda::launch(1, 1, 0, load_one, x.get() + 7, 4).error, "");
  if (has_asan) {
    expect_error(host_cuda::launch(1, 1, 0, load_one, x.get() + 8, 4),
                 {"a load of 4 bytes at ", "AddressSanitizer knows as not to be touched"});
  }
}

// ---- Dynamic shared memory

__global__ void write_dynamic(int at) { host_cuda::dynamic_shared()[at] = 7; }

TEST(Memory, DynamicSharedMemoryOverrun) {
  if (has_asan) {
    EXPECT_DEATH(host_cuda::launch(1, 1, 13, write_dynamic, 13), "heap-buffer-overflow");
    EXPECT_DEATH(host_cuda::launch(1, 1, 13, write_dynamic, -1), "heap-buffer-overflow");
  } else {
    expect_error(
        host_cuda::launch(1, 1, 13, write_dynamic, 13),
        {"block (0,0,0): a store 0 bytes past the end of the 13 bytes of dynamic shared memory"});
    expect_error(host_cuda::launch(1, 1, 13, write_dynamic, -1),
                 {"a store 1 bytes before the start of the 13 bytes"});
  }
  EXPECT_EQ(host_cuda::launch(1, 1, 13, write_dynamic, 12).error, "");
}

// ---- What the processor refuses

__global__ void stray(volatile int* p, int divisor) {
  if (threadIdx.x == 3) {
    *p = 7 / divisor;
  }
  __syncthreads();
}

__device__ __attribute__((noinline)) int deep(volatile int* p, int depth) {
  volatile int here[1024];
  here[depth % 1024] = depth;
  return depth == 0 ? *p : deep(p, depth - 1) + here[depth % 1024];
}

__global__ void recursion(int* p, int depth) { *p = deep(p, depth); }

TEST(Memory, SignalsAreErrorsOfTheLaunch) {
  int x = 0;
  if (has_asan || has_tsan) {
    EXPECT_DEATH(host_cuda::launch(1, 32, 0, stray, reinterpret_cast<volatile int*>(64), 1),
                 "(Address|Thread|UndefinedBehavior)Sanitizer.*");
    return;
  }
  expect_error(host_cuda::launch(1, 32, 0, stray, reinterpret_cast<volatile int*>(64), 1),
               {"block (0,0,0), thread (3,0,0)", "an access to 0x40, where no memory is",
                "stray(int volatile*, int) at "});
  expect_error(host_cuda::launch(1, 32, 0, stray, &x, 0), {"thread (3,0,0)", "a division by zero"});
  expect_error(host_cuda::launch(1, 1, 0, recursion, &x, 1000),
               {"the stack is full", "deep(int volatile*, int)"});
  EXPECT_EQ(host_cuda::launch(1, 1, 0, recursion, &x, 10).error, "");
  EXPECT_EQ(host_cuda::launch(1, 32, 0, stray, &x, 7).error, "");
  EXPECT_EQ(x, 1);
  // Outside of a kernel a signal is what it was.
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(64) = 1, "");
}

// ---- Guarded buffers

__global__ void load_raw(const float* x, float* y) { host_cuda::store(y, x[1]); }
__global__ void load_counted(const float* x, float* y) {
  host_cuda::store(y, host_cuda::load(x + 1));
}

TEST(Memory, GuardedBuffersAreReachedByTheHooksAlone) {
  std::vector<float> x = {1, 2, 3}, y(1);
  const host_cuda::options how{.buffers = {input("x", x), output("y", y)}, .guard = true};
  EXPECT_EQ(host_cuda::launch(how, 1, 1, 0, load_counted, x.data(), y.data()).error, "");
  EXPECT_EQ(y[0], 2.f);
  if (has_asan) {
    EXPECT_DEATH(host_cuda::launch(how, 1, 1, 0, load_raw, x.data(), y.data()), "use-after-poison");
  }
}

} // namespace
