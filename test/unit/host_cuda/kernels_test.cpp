// Kernels that are right: what they compute, and what is counted.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

__global__ void add(const float* x, const float* y, float* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    host_cuda::store(z + i, host_cuda::load(x + i) + host_cuda::load(y + i));
  }
}

TEST(Kernels, AddCounts) {
  std::vector<float> x(1000), y(1000, 2), z(1000);
  std::iota(x.begin(), x.end(), 0.f);
  const host_cuda::options how{
      .buffers = {host_cuda::input("x", x), host_cuda::input("y", y), host_cuda::output("z", z)}};
  const auto r = host_cuda::launch(how, 8, 128, 0, add, x.data(), y.data(), z.data(), 1000);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(z[i], x[i] + 2);
  }
  EXPECT_EQ(r.blocks, 8u);
  EXPECT_EQ(r.global.loads, 2000u);
  EXPECT_EQ(r.global.load_bytes, 8000u);
  EXPECT_TRUE(r["x"].each_read(1));
  EXPECT_TRUE(r["z"].each_written(1));
}

__global__ void reverse(float* data) {
  __shared__ float tile[64];
  tile[threadIdx.x] = host_cuda::load(data + threadIdx.x);
  __syncthreads();
  host_cuda::store(data + threadIdx.x, tile[63 - threadIdx.x]);
}

__global__ void reverse_without_barrier(float* data) {
  __shared__ float tile[64];
  tile[threadIdx.x] = host_cuda::load(data + threadIdx.x);
  host_cuda::store(data + threadIdx.x, tile[63 - threadIdx.x]);
}

TEST(Kernels, Reverse) {
  std::vector<float> x(64);
  std::iota(x.begin(), x.end(), 0.f);
  auto r = host_cuda::launch(1, 64, 0, reverse, x.data());
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(x[i], 63 - i);
  }
  r = host_cuda::launch(1, 64, 0, reverse_without_barrier, x.data());
  EXPECT_TRUE(std::isnan(x[0]));
}

__global__ void half_wait(int n) {
  if (threadIdx.x < (unsigned)n) {
    __syncthreads();
  }
}

TEST(Kernels, Deadlock) {
  auto r = host_cuda::launch(1, 64, 0, half_wait, 40);
  EXPECT_NE(r.error.find("40 threads (0-39) wait at __syncthreads()"), std::string::npos)
      << r.error;
  r = host_cuda::launch(1, 64, 0, half_wait, 64);
  EXPECT_EQ(r.error, "");
}

__global__ void sum(float* out) {
  float v = threadIdx.x;
  for (int d = 16; d; d /= 2) {
    v += __shfl_xor_sync(0xffffffffu, v, d);
  }
  host_cuda::store(out + threadIdx.x, v);
}

TEST(Kernels, Shuffle) {
  std::vector<float> x(32);
  auto r = host_cuda::launch(1, 32, 0, sum, x.data());
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(x[7], 31 * 16);
}

} // namespace
