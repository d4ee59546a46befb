// Kernels that are right: what they compute, and what is counted.
#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace {

__global__ void add(const float* x, const float* y, float* z, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    host_cuda::store(z + i, host_cuda::load(x + i) + host_cuda::load(y + i));
  }
}

TEST(Kernels, AddIsCounted) {
  std::vector<float> x(1000), y(1000, 2), z(1000);
  std::iota(x.begin(), x.end(), 0.f);
  const host_cuda::options how{
      .buffers = {host_cuda::input("x", x), host_cuda::input("y", y), host_cuda::output("z", z)}};
  const auto r = host_cuda::launch(how, 8, 128, 0, add, x.data(), y.data(), z.data(), 1000);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(z[i], x[i] + 2);
  }
  EXPECT_EQ(r.blocks, 8u);
  EXPECT_EQ(r.global.loads, 2000u);
  EXPECT_EQ(r.global.load_bytes, 8000u);
  EXPECT_EQ(r.global.stores, 1000u);
  EXPECT_EQ(r.global.store_bytes, 4000u);
  EXPECT_EQ(r["x"].loads, 1000u);
  EXPECT_EQ(r["y"].load_bytes, 4000u);
  EXPECT_TRUE(r["x"].each_read(1));
  EXPECT_TRUE(r["x"].each_written(0));
  EXPECT_TRUE(r["z"].each_written(1));
  EXPECT_TRUE(r["z"].each_read(0));
  EXPECT_THROW(r["w"], std::out_of_range);
}

TEST(Kernels, CountsWithoutBuffers) {
  std::vector<float> x(10), y(10), z(10);
  const auto r = host_cuda::launch(1, 32, 0, add, x.data(), y.data(), z.data(), 10);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.global.loads, 20u);
  EXPECT_EQ(r.global.stores, 10u);
  EXPECT_TRUE(r.buffers.empty());
}

__global__ void record_places(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  host_cuda::store(out + block * threads + thread, block * 1000 + thread);
}

TEST(Kernels, ThreeDimensions) {
  std::vector<unsigned> out(2 * 3 * 2 * 4 * 3 * 5);
  const auto r = host_cuda::launch({.buffers = {host_cuda::output("out", out)}}, dim3(2, 3, 2),
                                   dim3(4, 3, 5), 0, record_places, out.data());
  ASSERT_EQ(r.error, "");
  EXPECT_TRUE(r["out"].each_written(1));
  for (unsigned i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], i / 60 * 1000 + i % 60);
  }
}

template <class T>
__device__ T neighbour(T value) {
  __shared__ T tile[64];
  tile[threadIdx.x] = value;
  __syncthreads();
  value = tile[(threadIdx.x + 1) % 64];
  __syncthreads();
  return value;
}

template <class T>
__global__ void rotate(T* data, int times) {
  T value = host_cuda::load(data + threadIdx.x);
  for (int i = 0; i < times; ++i) {
    value = neighbour(value);
  }
  host_cuda::store(data + threadIdx.x, value);
}

TEST(Kernels, StaticSharedMemoryInTemplates) {
  for (std::uint64_t seed : {0, 1, 2}) {
    std::vector<double> x(64);
    std::iota(x.begin(), x.end(), 0.);
    const auto r = host_cuda::launch({.seed = seed}, 1, 64, 0, rotate<double>, x.data(), 5);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.barriers, 10u);
    for (int i = 0; i < 64; ++i) {
      ASSERT_EQ(x[i], (i + 5) % 64);
    }
  }
}

__global__ void read_shared(float* out) {
  __shared__ float tile[32];
  const auto* dynamic = reinterpret_cast<const float*>(host_cuda::dynamic_shared());
  host_cuda::store(out + 2 * threadIdx.x, tile[threadIdx.x]);
  host_cuda::store(out + 2 * threadIdx.x + 1, dynamic[threadIdx.x]);
  if (blockIdx.x == 0) {
    tile[threadIdx.x] = 1; // the next block must not see it
  }
}

TEST(Kernels, SharedMemoryStartsPoisonedInEveryBlock) {
  std::vector<float> x(64);
  const auto r = host_cuda::launch(2, 32, 32 * sizeof(float), read_shared, x.data());
  ASSERT_EQ(r.error, "");
  EXPECT_TRUE(std::ranges::all_of(x, [](float v) { return std::isnan(v); }));
}

__global__ void nothing() {}

TEST(Kernels, OutputsStartPoisoned) {
  std::vector<float> f(7);
  std::vector<double> d(7);
  const auto r = host_cuda::launch(
      {.buffers = {host_cuda::output("f", f), host_cuda::output("d", d)}}, 1, 1, 0, nothing);
  ASSERT_EQ(r.error, "");
  EXPECT_TRUE(std::ranges::all_of(f, [](float v) { return std::isnan(v); }));
  EXPECT_TRUE(std::ranges::all_of(d, [](double v) { return std::isnan(v); }));
  EXPECT_TRUE(r["f"].each_written(0));
}

__global__ void fill_dynamic(unsigned char* out, int bytes) {
  unsigned char* shared = host_cuda::dynamic_shared();
  for (int i = static_cast<int>(threadIdx.x); i < bytes; i += static_cast<int>(blockDim.x)) {
    shared[i] = static_cast<unsigned char>(i);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < bytes; i += static_cast<int>(blockDim.x)) {
    host_cuda::store(out + i, shared[bytes - 1 - i]);
  }
}

TEST(Kernels, DynamicSharedMemoryIsUsableToItsLastByte) {
  for (int bytes : {1, 15, 16, 17, 1000, 232448}) {
    std::vector<unsigned char> out(static_cast<std::size_t>(bytes));
    const auto r =
        host_cuda::launch({.buffers = {host_cuda::output("out", out)}}, 2, 32,
                          static_cast<std::size_t>(bytes), fill_dynamic, out.data(), bytes);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(out[0], static_cast<unsigned char>(bytes - 1));
    EXPECT_EQ(out[static_cast<std::size_t>(bytes) - 1], 0);
  }
}

__global__ void counted_barriers(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  const int count = __syncthreads_count(i % 3 == 0);
  const int all = __syncthreads_and(i < 100);
  const int most = __syncthreads_and(i < 99);
  const int any = __syncthreads_or(i == 57);
  const int none = __syncthreads_or(i == 100);
  host_cuda::store(out + i, count * 10000 + all * 1000 + most * 100 + any * 10 + none);
}

TEST(Kernels, BarriersThatCount) {
  std::vector<int> out(100);
  const auto r = host_cuda::launch(1, 100, 0, counted_barriers, out.data());
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.barriers, 5u);
  EXPECT_TRUE(std::ranges::all_of(out, [](int v) { return v == 341010; }));
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  __shared__ int shared;
  if (threadIdx.x == 0) {
    shared = 0;
  }
  __syncthreads();
  atomicAdd(&shared, 1);
  atomicAdd(i, 2);
  atomicMax(i + 1, static_cast<int>(threadIdx.x));
  atomicMin(i + 2, -static_cast<int>(threadIdx.x));
  atomicSub(i + 3, 1);
  atomicOr(u, 1u << threadIdx.x % 32);
  atomicAnd(u + 1, ~(1u << threadIdx.x % 16));
  atomicXor(u + 2, threadIdx.x);
  atomicInc(u + 3, 9);
  atomicDec(u + 4, 9);
  atomicAdd(l, 1ull << 33);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicCAS(i + 4, static_cast<int>(threadIdx.x), static_cast<int>(threadIdx.x) + 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(i + 5, shared);
  }
}

TEST(Kernels, Atomics) {
  std::vector<int> i(6);
  std::vector<unsigned> u = {0, ~0u, 0, 0, 0};
  std::vector<unsigned long long> l(1);
  std::vector<float> f(1);
  std::vector<double> d(1);
  const auto r = host_cuda::launch(
      {.buffers = {host_cuda::inout("i", i), host_cuda::inout("u", u), host_cuda::inout("l", l),
                   host_cuda::inout("f", f), host_cuda::inout("d", d)}},
      1, 64, 0, atomics, i.data(), u.data(), l.data(), f.data(), d.data());
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(i, (std::vector{128, 63, -63, -64, 64, 64}));
  EXPECT_EQ(u, (std::vector{~0u, 0xffff0000u, 0u, 4u, 6u}));
  EXPECT_EQ(l[0], 64ull << 33);
  EXPECT_EQ(f[0], 32.f);
  EXPECT_EQ(d[0], 16.);
  EXPECT_EQ(r.global.atomics, 64u * 13 + 1); // not the one on shared memory
  EXPECT_EQ(r["f"].atomics, 64u);
}

struct arguments {
  const float* from;
  float* to;
  long long stride;
};

extern "C" __global__ void __launch_bounds__(64) reversed(const __grid_constant__ arguments args) {
  const float value = host_cuda::load(args.from + threadIdx.x);
  host_cuda::store(args.to + args.stride * threadIdx.x, value);
}

TEST(Kernels, StructsAsArgumentsAndNegativeStrides) {
  std::vector<float> x(64), y(64);
  std::iota(x.begin(), x.end(), 0.f);
  const auto r =
      host_cuda::launch({.buffers = {host_cuda::input("x", x), host_cuda::output("y", y)}}, 1, 64,
                        0, reversed, arguments{x.data(), y.data() + 63, -1});
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(y[0], 63.f);
  EXPECT_TRUE(r["y"].each_written(1));
}

__global__ void vectors(const float4* from, double2* to) {
  const float4 v = host_cuda::load(from + threadIdx.x);
  host_cuda::store(to + threadIdx.x, make_double2(v.x + v.y, v.z + v.w));
}

TEST(Kernels, VectorAccessesCountOnce) {
  alignas(16) float x[64];
  alignas(16) double y[32];
  std::iota(x, x + 64, 0.f);
  const auto r = host_cuda::launch(
      {.buffers = {host_cuda::input("x", x), host_cuda::output("y", y)}}, 1, 16, 0, vectors,
      reinterpret_cast<const float4*>(x), reinterpret_cast<double2*>(y));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r["x"].loads, 16u);
  EXPECT_EQ(r["x"].load_bytes, 256u);
  EXPECT_EQ(r["y"].stores, 16u);
  EXPECT_EQ(y[31], 62 + 63);
}

__global__ void visit(int* order) {
  const int place = atomicAdd(order, 1);
  host_cuda::store(order + 1 + place, static_cast<int>(threadIdx.x));
}

TEST(Kernels, OrderOfFibers) {
  const auto visited = [](std::uint64_t seed) {
    std::vector<int> order(101);
    EXPECT_EQ(host_cuda::launch({.seed = seed}, 1, 100, 0, visit, order.data()).error, "");
    order.erase(order.begin());
    return order;
  };
  const auto given = visited(0);
  EXPECT_TRUE(std::ranges::is_sorted(given));
  auto shuffled = visited(7);
  EXPECT_EQ(shuffled, visited(7));
  EXPECT_NE(shuffled, visited(8));
  EXPECT_FALSE(std::ranges::is_sorted(shuffled));
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, given);
}

TEST(Kernels, LaunchesFromSeveralThreadsTakeTurns) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 20; ++i) {
        std::vector<double> x(64);
        std::iota(x.begin(), x.end(), 0.);
        const auto r = host_cuda::launch(1, 64, 0, rotate<double>, x.data(), 3);
        EXPECT_EQ(r.error, "");
        EXPECT_EQ(x[0], 3);
      }
    });
  }
  for (std::thread& each : threads) {
    each.join();
  }
}

TEST(Kernels, ALargeBlock) {
  std::vector<unsigned> out(1024 * 3);
  for (int i = 0; i < 2; ++i) {
    const auto r = host_cuda::launch({.buffers = {host_cuda::output("out", out)}}, 3, 1024, 0,
                                     record_places, out.data());
    ASSERT_EQ(r.error, "");
    EXPECT_TRUE(r["out"].each_written(1));
  }
}

} // namespace
