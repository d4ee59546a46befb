//===- sampled_test.cpp - double precision, and functions of two arguments -------------------===//
//
// Arguments from every region of Samples.h and all special values, judged by MPFR.
//
//===-----------------------------------------------------------------------------------------===//

#include "Kernel.h"

#include <gtest/gtest.h>

using namespace elementary;
using namespace vectormath;

namespace {

Kernels& kernels() {
  static Kernels shared;
  return shared;
}

template <typename T>
void check(const Operation& op) {
  constexpr bool kTwice = sizeof(T) == 8;
  const char* name = op.function.name;
  double bounds[2] = {kTwice ? op.bounds.f64 : op.bounds.f32,
                      kTwice ? op.bounds.f64Separate : op.bounds.f32Separate};
  std::vector<Tally> tallies = sweepSamples<T>(
      op.function, {kernels().map<T>(op, {8, true}), kernels().map<T>(op, {8, false})});
  for (int m = 0; m < 2; ++m) {
    const Tally& t = tallies[m];
    EXPECT_LE(t.worst, bounds[m]) << name << (m ? " separate, " : " fused, ") << t.region << ": f("
                                  << t.a << ", " << t.b << ") = " << t.got;
    std::printf("  %-10s %s %-8s max %.4f ulp (bound %.2f) at (%a, %a), %s\n", name,
                kTwice ? "f64" : "f32", m ? "separate" : "fused", t.worst, bounds[m], t.a, t.b,
                t.region);
  }
}

class Sampled : public testing::TestWithParam<const Operation*> {};

TEST_P(Sampled, SinglePrecisionIsWithinTheBound) { check<float>(*GetParam()); }
TEST_P(Sampled, DoublePrecisionIsWithinTheBound) { check<double>(*GetParam()); }

std::vector<const Operation*> allOperations() {
  std::vector<const Operation*> list;
  for (const Operation& op : operations())
    list.push_back(&op);
  return list;
}

INSTANTIATE_TEST_SUITE_P(All, Sampled, testing::ValuesIn(allOperations()),
                         [](const auto& info) { return std::string(info.param->function.name); });

} // namespace
