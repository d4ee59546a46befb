// Kernels that are wrong: each is noticed, by a text that names the block, the thread and the
// place.
#include "support.hpp"

#include <cmath>
#include <numeric>

namespace {

// ---- Barriers

std::string line(int number) { return "errors_test.cpp:" + std::to_string(number) + ":"; }

constexpr int some_wait_at = __LINE__;
__global__ void some_wait(int n) {
  if (static_cast<int>(threadIdx.x) < n) {
    __syncthreads();
  }
}

TEST(Errors, ThreadsReturnWhileOthersWait) {
  const auto r = host_cuda::launch(3, 64, 0, some_wait, 40);
  expect_error(r, {"block (0,0,0): deadlock: nobody can go on",
                   "40 threads (0-39) waiting at __syncthreads() at ", line(some_wait_at + 3),
                   "some_wait(int) at ", "24 threads (40-63) returned from the kernel"});
  EXPECT_EQ(r.blocks, 0u);
  // The fibers that were given up are replaced.
  EXPECT_EQ(host_cuda::launch(3, 64, 0, some_wait, 64).error, "");
}

constexpr int two_barriers_at = __LINE__;
__global__ void two_barriers(int n) {
  if (static_cast<int>(threadIdx.x) < n) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(Errors, DivergentBarrier) {
  expect_error(host_cuda::launch(1, 64, 0, two_barriers, 3),
               {"block (0,0,0): divergent barrier", "3 threads (0-2) waiting at __syncthreads()",
                line(two_barriers_at + 3), "61 threads (3-63) waiting at __syncthreads()",
                line(two_barriers_at + 5), "two_barriers(int)"});
  EXPECT_EQ(host_cuda::launch(1, 64, 0, two_barriers, 64).error, "");
}

__global__ void barrier_of_other_kind() {
  if (threadIdx.x == 5) {
    __syncthreads_or(1);
  } else {
    __syncthreads();
  }
}

TEST(Errors, BarriersOfDifferentKinds) {
  expect_error(host_cuda::launch(1, 32, 0, barrier_of_other_kind),
               {"divergent barrier", "1 thread (5) waiting at __syncthreads_or()",
                "31 threads (0-4, 6-31) waiting at __syncthreads()"});
}

__global__ void barrier_against_warp() {
  if (threadIdx.x < 32) {
    __syncthreads();
  } else if (threadIdx.x < 48) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

TEST(Errors, SomeWaitForTheBlockOthersForTheWarp) {
  expect_error(host_cuda::launch(1, 64, 0, barrier_against_warp),
               {"deadlock", "waiting at __syncthreads()",
                "16 threads (32-47) waiting at __syncwarp() with mask 0xffffffff"});
}

__global__ void endless() {
  for (;;) {
    __syncthreads();
  }
}

TEST(Errors, EndlessLoop) {
  expect_error(host_cuda::launch({.meeting_limit = 1000}, 1, 32, 0, endless),
               {"has met 1001 times", "endless()"});
}

__global__ void error_in_a_later_block() {
  if (blockIdx.x == 1 && blockIdx.y == 2 && threadIdx.x == 1 && threadIdx.y == 3) {
    __trap();
  }
  __syncthreads();
}

TEST(Errors, TrapNamesBlockAndThread) {
  const auto r = host_cuda::launch(dim3(2, 3), dim3(2, 32), 0, error_in_a_later_block);
  expect_error(r, {"block (1,2,0), thread (1,3,0) [warp 0, lane 7]: __trap()",
                   "error_in_a_later_block() at ", "errors_test.cpp:"});
  EXPECT_EQ(r.blocks, 5u);
}

// ---- Warps

__device__ __attribute__((noinline)) float reduce(float value, unsigned mask) {
  for (int d = 16; d; d /= 2) {
    value += __shfl_xor_sync(mask, value, d);
  }
  return value;
}

__global__ void wrong_mask(float* out, unsigned mask, int lanes) {
  if (static_cast<int>(threadIdx.x) < lanes) {
    host_cuda::store(out + threadIdx.x, reduce(1.f, mask));
  }
}

TEST(Errors, MaskOfHalfTheWarpInAShuffleOverAll) {
  std::vector<float> out(32);
  expect_error(host_cuda::launch(1, 32, 0, wrong_mask, out.data(), 0x0000ffffu, 32),
               {"[warp 0, lane 0]: __shfl_xor_sync() with mask 0x0000ffff at ",
                "reads lane 16, which the mask does not name", "reduce(float, unsigned int) at ",
                "wrong_mask(float*, unsigned int, int) at "});
}

__global__ void vote_without_caller(unsigned* out) {
  host_cuda::store(out + threadIdx.x, __ballot_sync(0x0000ffffu, 1));
}

TEST(Errors, MaskLacksTheCaller) {
  std::vector<unsigned> out(32);
  expect_error(host_cuda::launch(1, 32, 0, vote_without_caller, out.data()),
               {"[warp 0, lane 16]: __ballot_sync() with mask 0x0000ffff at ",
                "the mask does not name the calling lane 16",
                "vote_without_caller(unsigned int*)"});
}

TEST(Errors, MaskNamesALaneThatReturned) {
  std::vector<float> out(32);
  // In order, lanes 0 to 29 wait before lanes 30 and 31 return: nobody can go on.
  expect_error(host_cuda::launch(1, 32, 0, wrong_mask, out.data(), full_warp, 30),
               {"deadlock", "30 threads (0-29) waiting at __shfl_xor_sync() with mask 0xffffffff",
                "2 threads (30-31) returned", "reduce(float, unsigned int)"});
}

__global__ void returned_before(float* out) {
  if (threadIdx.x >= 4) {
    __syncwarp(0xfffffff0u);
    host_cuda::store(out, reduce(1.f, full_warp));
  }
}

TEST(Errors, MaskNamesALaneThatIsGoneAlready) {
  std::vector<float> out(32);
  expect_error(host_cuda::launch(1, 32, 0, returned_before, out.data()),
               {"lane 4]", "the mask names lane 0, which has returned"});
}

TEST(Errors, MaskNamesALaneThatTheBlockLacks) {
  std::vector<float> out(64);
  expect_error(host_cuda::launch(1, 40, 0, wrong_mask, out.data(), full_warp, 40),
               {"thread (32,0,0) [warp 1, lane 0]",
                "the mask names lane 8, but the block's last warp has 8 lanes"});
}

__global__ void different_shuffles(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) {
    value = __shfl_up_sync(full_warp, value, 1);
  } else {
    value = __shfl_down_sync(full_warp, value, 1);
  }
  host_cuda::store(out + threadIdx.x, value);
}

TEST(Errors, LanesAtDifferentShuffles) {
  std::vector<int> out(32);
  expect_error(host_cuda::launch(1, 32, 0, different_shuffles, out.data()),
               {"[warp 0, lane 16]: __shfl_down_sync() with mask 0xffffffff at ",
                "lane 0 of the mask is at __shfl_up_sync() with mask 0xffffffff at ",
                "block (0,0,0), thread (0,0,0) [warp 0, lane 0]\n", "different_shuffles(int*)"});
}

__global__ void different_masks(int* out) {
  const unsigned mask = threadIdx.x < 8 ? 0x0000ffffu : 0x00ffffffu;
  if (threadIdx.x < 24) {
    host_cuda::store(out + threadIdx.x, __shfl_sync(mask, static_cast<int>(threadIdx.x), 0));
  }
}

TEST(Errors, LanesWithDifferentMasks) {
  std::vector<int> out(32);
  expect_error(host_cuda::launch(1, 32, 0, different_masks, out.data()),
               {"lane 8]: __shfl_sync() with mask 0x00ffffff",
                "lane 0 of the mask is at __shfl_sync() with mask 0x0000ffff"});
}

__global__ void reads_outside(int* out, int lane) {
  if (threadIdx.x < 8) {
    host_cuda::store(out + threadIdx.x, __shfl_sync(0xffu, static_cast<int>(threadIdx.x), lane));
  }
}

TEST(Errors, ShuffleReadsALaneOutsideItsMask) {
  std::vector<int> out(32);
  expect_error(host_cuda::launch(1, 32, 0, reads_outside, out.data(), 8),
               {"lane 0]: __shfl_sync() with mask 0x000000ff at ",
                "reads lane 8, which the mask does not name", "reads_outside(int*, int) at "});
  EXPECT_EQ(host_cuda::launch(1, 32, 0, reads_outside, out.data(), 7).error, "");
}

__global__ void wrong_width(int* out, int width) {
  host_cuda::store(out + threadIdx.x, __shfl_sync(full_warp, 1, 0, width));
}

TEST(Errors, ShuffleWidth) {
  std::vector<int> out(32);
  for (int width : {0, 3, 64, -8}) {
    expect_error(host_cuda::launch(1, 32, 0, wrong_width, out.data(), width),
                 {"width " + std::to_string(width) + " is none of 1, 2, 4, 8, 16, 32"});
  }
}

// ---- Configurations, and the world outside of a kernel

__global__ void nothing() {}

TEST(Errors, Configurations) {
  expect_error(host_cuda::launch(1, 1025, 0, nothing), {"a block of (1025, 1, 1) threads"});
  expect_error(host_cuda::launch(1, 0, 0, nothing), {"a block of (0, 1, 1) threads"});
  expect_error(host_cuda::launch(1, dim3(32, 33), 0, nothing), {"a block of (32, 33, 1) threads"});
  expect_error(host_cuda::launch(dim3(1, 65536), 1, 0, nothing),
               {"a grid of (1, 65536, 1) blocks"});
  expect_error(host_cuda::launch(0, 1, 0, nothing), {"a grid of (0, 1, 1) blocks"});
  expect_error(host_cuda::launch(1, 1, 232449, nothing),
               {"232449 bytes of dynamic shared memory: at most 232448 are allowed"});
  expect_error(host_cuda::launch({.shared_limit = 100}, 1, 1, 101, nothing), {"at most 100"});
}

TEST(Errors, OutsideOfAKernel) {
  float x = 1;
  EXPECT_THROW(__syncthreads(), std::logic_error);
  EXPECT_THROW(__syncwarp(), std::logic_error);
  EXPECT_THROW(host_cuda::load(&x), std::logic_error);
  EXPECT_THROW(host_cuda::dynamic_shared(), std::logic_error);
  EXPECT_THROW(host_cuda::wait(0), std::logic_error);
}

// A failed launch leaves nothing behind, in whatever state its threads were.
TEST(Errors, ManyFailuresThenASuccess) {
  std::vector<int> out(32);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    EXPECT_FALSE(host_cuda::launch({.seed = seed}, 1, 64, 0, some_wait, 33).ok());
    EXPECT_FALSE(host_cuda::launch({.seed = seed}, 1, 32, 0, different_shuffles, out.data()).ok());
    EXPECT_FALSE(host_cuda::launch({.seed = seed}, 1, 64, 0, two_barriers, 9).ok());
    EXPECT_FALSE(
        host_cuda::launch({.seed = seed}, dim3(2, 3), dim3(2, 32), 0, error_in_a_later_block).ok());
    EXPECT_EQ(host_cuda::launch({.seed = seed}, 1, 64, 0, some_wait, 64).error, "");
  }
}

} // namespace
