// Shuffles, votes, matches and reductions against what the CUDA C++ guide says of each.
#include "support.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace {

enum class variant { index, up, down, exclusive };

template <class T>
__global__ void shuffle(variant which, const T* from, T* to, int lane, int width) {
  const T value = host_cuda::load(from + threadIdx.x);
  T out{};
  switch (which) {
  case variant::index:
    out = __shfl_sync(full_warp, value, lane, width);
    break;
  case variant::up:
    out = __shfl_up_sync(full_warp, value, static_cast<unsigned>(lane), width);
    break;
  case variant::down:
    out = __shfl_down_sync(full_warp, value, static_cast<unsigned>(lane), width);
    break;
  case variant::exclusive:
    out = __shfl_xor_sync(full_warp, value, lane, width);
  }
  host_cuda::store(to + threadIdx.x, out);
}

// The lane read, in words of the guide.
int expected_source(variant which, int self, int lane, int width) {
  const int segment = self / width * width;
  switch (which) {
  case variant::index:
    return segment + (lane % width + width) % width;
  case variant::up:
    return self - lane < segment ? self : self - lane;
  case variant::down:
    return self + lane >= segment + width ? self : self + lane;
  default:
    // "allowed to access elements from earlier groups of threads", its own value for later ones
    return (self ^ lane) >= segment + width ? self : self ^ lane;
  }
}

template <class T>
class Shuffle : public testing::Test {};
using Numbers = testing::Types<int, unsigned, long long, unsigned long long, float, double>;
TYPED_TEST_SUITE(Shuffle, Numbers);

TYPED_TEST(Shuffle, EveryVariantWidthAndLane) {
  std::vector<TypeParam> from(64), to(64);
  for (int i = 0; i < 64; ++i) {
    from[i] = static_cast<TypeParam>(i * 1.25 + 3);
  }
  for (variant which : {variant::index, variant::up, variant::down, variant::exclusive}) {
    for (int width = 1; width <= 32; width *= 2) {
      for (int lane : {0, 1, 2, 5, 16, 31}) {
        const auto r = host_cuda::launch(1, 64, 0, shuffle<TypeParam>, which, from.data(),
                                         to.data(), lane, width);
        ASSERT_EQ(r.error, "");
        for (int i = 0; i < 64; ++i) {
          ASSERT_EQ(to[i], from[i / 32 * 32 + expected_source(which, i % 32, lane, width)])
              << "lane " << i << " reads " << lane << " of width " << width << ", variant "
              << static_cast<int>(which);
        }
      }
    }
  }
}

TEST(Warp, NegativeIndexWraps) {
  std::vector<int> from(32), to(32);
  std::iota(from.begin(), from.end(), 0);
  const auto r =
      host_cuda::launch(1, 32, 0, shuffle<int>, variant::index, from.data(), to.data(), -1, 8);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(to[0], 7);
  EXPECT_EQ(to[31], 31);
}

TEST(Warp, NansPassBitForBit) {
  std::vector<float> from(32), to(32);
  for (unsigned i = 0; i < 32; ++i) {
    from[i] = std::bit_cast<float>(0x7f800001u + i);
  }
  const auto r =
      host_cuda::launch(1, 32, 0, shuffle<float>, variant::index, from.data(), to.data(), 5, 32);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(std::memcmp(&to[9], &from[5], sizeof(float)), 0);
}

// An inclusive sum over the warp, 16 lanes, or however many the mask names from lane 0 on.
__global__ void scan(int* data, unsigned mask, unsigned lanes) {
  if (threadIdx.x % 32 >= lanes) {
    return;
  }
  int sum = host_cuda::load(data + threadIdx.x);
  for (unsigned d = 1; d < lanes; d *= 2) {
    const int other = __shfl_up_sync(mask, sum, d);
    sum += threadIdx.x % 32 >= d ? other : 0;
  }
  host_cuda::store(data + threadIdx.x, sum);
}

TEST(Warp, ScanInAnyOrderOfFibersAndWithMasks) {
  for (unsigned lanes : {1u, 7u, 16u, 32u}) {
    for (std::uint64_t seed : {0, 3, 4}) {
      std::vector<int> x(96, 1);
      const unsigned mask = lanes == 32 ? full_warp : (1u << lanes) - 1;
      const auto r = host_cuda::launch({.seed = seed}, 1, 96, 0, scan, x.data(), mask, lanes);
      ASSERT_EQ(r.error, "");
      for (unsigned i = 0; i < 96; ++i) {
        ASSERT_EQ(x[i], i % 32 < lanes ? static_cast<int>(i % 32 + 1) : 1);
      }
    }
  }
}

// Two halves of a warp go their own ways at the same place and at different ones.
__global__ void halves(int* out) {
  const unsigned lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0x0000ffffu : 0xffff0000u;
  int value = __shfl_xor_sync(mask, static_cast<int>(lane), 1);
  if (lane < 16) {
    value += 100 * __shfl_sync(mask, value, 3);
  } else {
    for (int i = 0; i < 3; ++i) {
      value += __shfl_xor_sync(mask, value, 2);
    }
  }
  __syncwarp();
  host_cuda::store(out + lane, value);
}

TEST(Warp, DisjointMasks) {
  for (std::uint64_t seed : {0, 1}) {
    std::vector<int> out(32);
    const auto r = host_cuda::launch({.seed = seed}, 1, 32, 0, halves, out.data());
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(out[0], 1 + 100 * 2);
    EXPECT_EQ(out[16], (17 + 19) * 4);
  }
}

__global__ void votes(unsigned* out, unsigned mask) {
  const unsigned lane = threadIdx.x;
  if (!(mask >> lane & 1)) {
    return;
  }
  int all = -1;
  host_cuda::store(out + lane * 8 + 0, __ballot_sync(mask, lane % 3 == 0));
  host_cuda::store(out + lane * 8 + 1, static_cast<unsigned>(__any_sync(mask, lane == 2)));
  host_cuda::store(out + lane * 8 + 2, static_cast<unsigned>(__any_sync(mask, lane == 40)));
  host_cuda::store(out + lane * 8 + 3, static_cast<unsigned>(__all_sync(mask, lane < 32)));
  host_cuda::store(out + lane * 8 + 4, static_cast<unsigned>(__all_sync(mask, lane != 2)));
  host_cuda::store(out + lane * 8 + 5, __match_any_sync(mask, lane % 4));
  host_cuda::store(out + lane * 8 + 6,
                   __match_all_sync(mask, lane / 32, &all) + (all == 1 ? 0 : 1));
  host_cuda::store(out + lane * 8 + 7,
                   __match_all_sync(mask, lane == 2 ? 1 : 0, &all) + (all == 0 ? 0 : 1));
}

TEST(Warp, Votes) {
  for (unsigned mask : {full_warp, 0x0000ffffu, 0x00ff00ffu}) {
    std::vector<unsigned> out(256);
    const auto r = host_cuda::launch(1, 32, 0, votes, out.data(), mask);
    ASSERT_EQ(r.error, "");
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (mask >> lane & 1) {
        const std::vector<unsigned> expected = {
            0x49249249u & mask, 1, 0, 1, 0, 0x11111111u << lane % 4 & mask, mask, 0};
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), &out[lane * 8])) << lane;
      }
    }
  }
}

__global__ void reductions(int* out, unsigned* uout) {
  const int value = 5 - static_cast<int>(threadIdx.x);
  const unsigned bits = 0xf0u | threadIdx.x;
  const int add = __reduce_add_sync(full_warp, value), low = __reduce_min_sync(full_warp, value),
            high = __reduce_max_sync(full_warp, value);
  const unsigned least = __reduce_min_sync(full_warp, static_cast<unsigned>(value)),
                 most = __reduce_max_sync(full_warp, static_cast<unsigned>(value)),
                 both = __reduce_and_sync(full_warp, bits), any = __reduce_or_sync(full_warp, bits),
                 odd = __reduce_xor_sync(full_warp, bits);
  if (threadIdx.x == 0) {
    const int signed_results[] = {add, low, high};
    const unsigned unsigned_results[] = {least, most, both, any, odd};
    for (int i = 0; i < 3; ++i) {
      host_cuda::store(out + i, signed_results[i]);
    }
    for (int i = 0; i < 5; ++i) {
      host_cuda::store(uout + i, unsigned_results[i]);
    }
  }
}

TEST(Warp, Reductions) {
  std::vector<int> out(3);
  std::vector<unsigned> uout(5);
  const auto r = host_cuda::launch(1, 32, 0, reductions, out.data(), uout.data());
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(out, (std::vector{5 * 32 - 496, -26, 5}));
  EXPECT_EQ(uout, (std::vector{0u, ~0u, 0xf0u, 0xffu, 0u}));
}

__global__ void active(unsigned* out) {
  if (threadIdx.x % 2 == 0) {
    return;
  }
  __syncwarp(0xaaaaaaaau);
  host_cuda::store(out + threadIdx.x, __activemask());
  __syncwarp(0xaaaaaaaau);
}

TEST(Warp, ActiveMaskLacksLanesThatReturned) {
  std::vector<unsigned> out(32);
  const auto r = host_cuda::launch(1, 32, 0, active, out.data());
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(out[31], 0xaaaaaaaau);
}

__global__ void partial(int* out) {
  const unsigned mask = threadIdx.x < 32 ? full_warp : 0xffu;
  host_cuda::store(out + threadIdx.x, __shfl_xor_sync(mask, static_cast<int>(threadIdx.x), 7));
}

TEST(Warp, ABlockWhoseLastWarpIsPartial) {
  std::vector<int> out(40);
  const auto r = host_cuda::launch({.buffers = {host_cuda::output("out", out)}}, 1, 40, 0, partial,
                                   out.data());
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(out[32], 39);
  EXPECT_EQ(r.warp_operations, 2u);
}

} // namespace
