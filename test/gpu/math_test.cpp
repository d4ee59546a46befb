// Every f32 argument of the device's elementary functions on the device, against CUDA's own
// functions in float64; functions of two arguments on as many pairs.
#include "gpu.hpp"
#include "math_source.hpp"
#include "math_text.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

using namespace gpu;

namespace {

/// As sweep::args of math_sweep.cuh.
struct Arguments {
  unsigned long long first, count, step;
  void* worst;
};

class Math : public testing::TestWithParam<MathKernel> {};

TEST_P(Math, IsWithinTheBound) {
  Device& device = Device::get();
  const MathKernel& function = GetParam();
  static const driver::ModuleRef kernels =
      device.load("math_sweep.cu", mathSource(rnnc::mathText().front().text));
  const driver::FunctionRef kernel = device.kernel(kernels, function.name);
  const unsigned blocks = isQuick() ? 2 : 2048, threads = isQuick() ? 32 : 256;
  std::vector<double> worst(3 * blocks * threads);
  Memory memory(worst.size() * sizeof(double));
  const unsigned long long all = 1ull << 32, step = isQuick() ? (1 << 20) + 1 : 1;
  Arguments arguments{0, all / step, step, memory.data()};
  void* parameters[] = {&arguments};
  device.check(device.driver()->cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0,
                                               device.stream(), parameters, nullptr),
               "launching");
  device.synchronise();
  device.copyOut(worst.data(), memory.data(), worst.size() * sizeof(double));
  size_t at = 0;
  for (size_t i = 0; i < worst.size(); i += 3) {
    if (worst[i] > worst[at]) {
      at = i;
    }
  }
  std::printf("  %-20s %.4f at most (%.3f allowed), at (%a, %a)\n", function.name.c_str(),
              worst[at], function.bound, worst[at + 1], worst[at + 2]);
  EXPECT_LE(worst[at], function.bound);
}

INSTANTIATE_TEST_SUITE_P(All, Math, testing::ValuesIn(mathKernels()),
                         [](const auto& info) { return info.param.name; });

} // namespace
