// Offsets past 2^31 elements: an array is mostly a hole in the address space.
#include "harness.hpp"

#include <sys/mman.h>

using namespace device_test;

namespace {

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
