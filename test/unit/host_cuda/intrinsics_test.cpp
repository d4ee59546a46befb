// Intrinsics against what CUDA's documents say of them.
#include "support.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace {

TEST(Intrinsics, Bits) {
  EXPECT_EQ(__float_as_int(-1.f), static_cast<int>(0xbf800000));
  EXPECT_EQ(__float_as_uint(1.f), 0x3f800000u);
  EXPECT_EQ(__int_as_float(0x40000000), 2.f);
  EXPECT_EQ(__uint_as_float(0x7f800000u), std::numeric_limits<float>::infinity());
  EXPECT_EQ(__double_as_longlong(-2.), static_cast<long long>(0xc000000000000000));
  EXPECT_EQ(__longlong_as_double(0x3ff0000000000000), 1.);
  EXPECT_EQ(__double2hiint(-0.), static_cast<int>(0x80000000));
  EXPECT_EQ(__double2loint(__longlong_as_double(0x123456789abcdef0)), static_cast<int>(0x9abcdef0));
  EXPECT_EQ(__hiloint2double(0x3ff00000, 1), 1. + 0x1p-52);
  EXPECT_EQ(__hiloint2double(0x3ff00000, -1), __longlong_as_double(0x3ff00000ffffffff));
  EXPECT_EQ(__popc(0xf0f0u) + __popcll(1ull << 63), 9);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brevll(2ull), 1ull << 62);
  EXPECT_EQ(__funnelshift_l(0x80000001u, 0x2u, 4), 0x28u);
  EXPECT_EQ(__funnelshift_r(0x80000010u, 0x3u, 4), 0x38000001u);
  EXPECT_EQ(__funnelshift_l(7u, 9u, 32), 9u);
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7250), 0x77225500u);
  EXPECT_EQ(__byte_perm(0x00008000u, 0u, 0x0009), 0x000000ffu);
  EXPECT_EQ(__mulhi(-1, 1), -1);
  EXPECT_EQ(__umulhi(0xffffffffu, 2u), 1u);
  EXPECT_EQ(__umul64hi(~0ull, ~0ull), ~0ull - 1);
}

TEST(Intrinsics, FusedAndPlain) {
  const float x = 1 + 0x1p-12f, square = x * x;
  EXPECT_EQ(__fmaf_rn(x, x, -square), 0x1p-24f);
  EXPECT_EQ(fmaf(x, x, -square), 0x1p-24f);
  volatile float a = x, b = x, c = -square; // nothing is contracted
  EXPECT_EQ(a * b + c, 0.f);
  EXPECT_EQ(__fma_rn(1 + 0x1p-30, 1 + 0x1p-30, -1 - 0x1p-29), 0x1p-60);
  EXPECT_EQ(__frcp_rn(3.f), 1.f / 3.f);
  EXPECT_EQ(__fdividef(1.f, 4.f), 0.25f);
  EXPECT_EQ(__saturatef(2.f), 1.f);
  EXPECT_EQ(__saturatef(-2.f), 0.f);
  EXPECT_EQ(__saturatef(NAN), 0.f);
  EXPECT_EQ(__expf(0.f), 1.f);
  EXPECT_EQ(__exp10f(2.f), 100.f);
}

// Rounded correctly: r is nearer to 1/sqrt(x) than both neighbours, decided in exact arithmetic.
// (r + ulp/2)^2 x > 1 > (r - ulp/2)^2 x; the squares of 25-bit numbers times 24 bits fit 80 bits.
TEST(Intrinsics, ReciprocalSquareRootIsRoundedCorrectly) {
  std::mt19937 random(1);
  for (int i = 0; i < 200000; ++i) {
    const float x = __uint_as_float(0x3f800000u + random() % 0x01000000u); // [1, 4)
    const float r = __frsqrt_rn(x);
    ASSERT_LE(r, 1.f);
    if (x == 1.f) {
      continue;
    }
    using wide = unsigned __int128;
    const auto mantissa = static_cast<wide>(std::ldexp(x, 23)); // x 2^23
    const auto twice = static_cast<wide>(std::ldexp(r, 25));    // r 2^25: half an ulp is 1
    const wide one = static_cast<wide>(1) << 73;                // 2^23 2^50
    ASSERT_GE((twice + 1) * (twice + 1) * mantissa, one) << x;
    ASSERT_LE((twice - 1) * (twice - 1) * mantissa, one) << x;
  }
  EXPECT_EQ(rsqrtf(0.25f), 2.f);
  EXPECT_EQ(rsqrt(0.0625), 4.);
  EXPECT_EQ(rsqrtf(0.f), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(rsqrtf(-1.f)));
}

TEST(Intrinsics, Conversions) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rz(-2.7f), -2);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__float2int_ru(2.1f), 3);
  EXPECT_EQ(__float2int_rn(1e20f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rn(-1e20f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rn(NAN), 0);
  EXPECT_EQ(__float2uint_rn(-1.f), 0u);
  EXPECT_EQ(__float2uint_rz(1e20f), ~0u);
  EXPECT_EQ(__double2ll_rn(1e300), std::numeric_limits<long long>::max());
  EXPECT_EQ(__double2int_rn(3.5), 4);
  EXPECT_EQ(__int2float_rn((1 << 24) + 1), 0x1p24f);
}

TEST(Intrinsics, MinimumAndMaximum) {
  EXPECT_EQ(::min(2, -3), -3);
  EXPECT_EQ(::max(2u, 3u), 3u);
  EXPECT_EQ(::max(-1ll, 3ll), 3ll);
  EXPECT_EQ(::min(NAN, 1.f), 1.f); // CUDA's give the number
  EXPECT_EQ(::max(1., static_cast<double>(NAN)), 1.);
}

__global__ void cached(const float* x, float* y) {
  __stcs(y + threadIdx.x,
         __ldg(x + threadIdx.x) + __ldcs(x + threadIdx.x) + __ldcg(x + threadIdx.x));
}

TEST(Intrinsics, CachedAccessesAreCounted) {
  std::vector<float> x(32, 2), y(32);
  const auto r =
      host_cuda::launch({.buffers = {host_cuda::input("x", x), host_cuda::output("y", y)}}, 1, 32,
                        0, cached, x.data(), y.data());
  ASSERT_EQ(r.error, "");
  EXPECT_TRUE(r["x"].each_read(3));
  EXPECT_EQ(y[31], 6.f);
}

} // namespace
