//===- f32_test.cpp - single precision over all bit patterns ---------------------------------===//

#include "Kernel.h"

#include <gtest/gtest.h>

using namespace elementary;
using namespace vectormath;

namespace {

class SinglePrecision : public testing::TestWithParam<const Operation*> {};

TEST_P(SinglePrecision, ErrorIsWithinTheBound) {
  const Operation& op = *GetParam();
  const char* name = op.function.name;
  static Kernels kernels;
  std::vector<Tally> tallies = sweepPatterns(
      op.function, {kernels.map<float>(op, {16, true}), kernels.map<float>(op, {16, false})}, 64);
  for (int m = 0; m < 2; ++m) {
    const Tally& t = tallies[m];
    double bound = m ? op.bounds.f32Separate : op.bounds.f32;
    std::printf("  %-10s f32 %-8s max %.4f ulp (bound %.2f) at %a -> %a; %.3f %% not the nearest\n",
                name, m ? "separate" : "fused", t.worst, bound, t.a, t.got,
                100. * t.misrounded / t.count);
    EXPECT_LE(t.worst, bound) << name << (m ? " separate" : " fused") << " at " << t.a;
  }
}

std::vector<const Operation*> unaryOperations() {
  std::vector<const Operation*> list;
  for (const Operation& op : operations())
    if (!op.function.binary)
      list.push_back(&op);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, SinglePrecision, testing::ValuesIn(unaryOperations()),
                         [](const auto& info) { return std::string(info.param->function.name); });

} // namespace
