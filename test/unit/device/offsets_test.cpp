// Where a lane's numbers are; offsets past 2^31 elements, in an array that is mostly a hole.
#include "harness.hpp"

#include <sys/mman.h>

using namespace device_test;

namespace {

// Neighbouring threads are neighbours along the last axis, which is contiguous by default.
TEST(Offsets, TheLastAxisIsFastest) {
  rnn::forward_args<1, 1, 1, 0, 2> args{};
  args.batch = 2;
  args.lanes[0] = 3;
  args.lanes[1] = 7;
  EXPECT_EQ(rnn::lane_count(args), 42);
  for (long long lane = 0; lane < 42; ++lane) {
    const rnn::lane_place<2> place(args, lane);
    EXPECT_EQ(place.batch, lane / 21);
    EXPECT_EQ(place.axis[0], lane / 7 % 3);
    EXPECT_EQ(place.axis[1], lane % 7);
  }
}

TEST(Offsets, SixtyFourBits) {
  using cell = cells::average<float, rnn::polynomial<float>>;
  using two = policy<32, 2, 2, rnn::staging::shared>;
  constexpr long long far = (1LL << 31) + 5, time = 3, bytes = 2 * (time + 1) * far * 4;
  void* hole = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (hole == MAP_FAILED) {
    GTEST_SKIP() << "address space: none of " << bytes << " bytes";
  }
  float* x = static_cast<float*>(hole);
  float* y = x + (time + 1) * far;
  float a = 0.5;
  rnn::forward_args<1, 1, 1, 0, 1> args{};
  args.batch = 1;
  args.time = time;
  args.lanes[0] = 2;
  args.param[0] = {&a, {0}};
  args.input[0] = {x, {0, far, far}}; // the second lane is a step ahead
  args.state[0].sequence = {y, {0, far, 1}};
  for (int i = 0; i < 4; ++i) {
    x[i * far] = i + 1;
  }
  const auto run = host_cuda::launch(1, dim3(32, 2), rnn::forward_shape<cell, two>().bytes(4),
                                     kernel<cell, two, 1>, args);
  ASSERT_EQ(run.error, "");
  for (int lane = 0; lane < 2; ++lane) {
    float h = 0;
    for (int t = 0; t < time; ++t) {
      h = std::fma(a, h, 0.5f * x[(lane + t) * far]);
      EXPECT_EQ(y[t * far + lane], h);
    }
  }
  munmap(hole, bytes);
}

} // namespace
