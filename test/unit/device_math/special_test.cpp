//===- special_test.cpp - rnn::special: errors where instructions are as bad as they may be --===//

#include "Maps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

using namespace device_math;
using namespace elementary;

namespace {

/// What docs/math.md states: how far the result may be off.
struct Statement {
  const char* name;
  bool takesDenormalsForZero;
  double (*allowed)(double x, double want);
};

const Statement kStatements[] = {
#define RNN_ALLOWED(name, flushes, allowed)                                                        \
  {#name, flushes, [](double x, double want) -> double { return allowed; }},
#include "math_bounds.inc"
#undef RNN_ALLOWED
};

class Special : public testing::TestWithParam<Statement> {};

TEST_P(Special, IsOffByNoMoreThanStated) {
  const Statement& statement = GetParam();
  const Function& f = function(statement.name);
  Map<float> map = mapsOf(disturbedSpecial(), statement.name).f32;
  std::mutex mutex;
  double worst = -1, at = 0, relative = 0;
  forPatterns(kUsually, [&](const float* x, int64_t n) {
    std::vector<float> got(n);
    map(x, x, got.data(), n);
    double mine = -1, where = 0, off = 0;
    for (int64_t i = 0; i < n; ++i) {
      double want = f.reference(x[i], 0);
      if (statement.takesDenormalsForZero && std::fpclassify(x[i]) == FP_SUBNORMAL)
        continue;
      if (std::fabs(want) >= 0x1.fffffefp+127)
        want = std::copysign(INFINITY, want);
      double error = 0;
      if (std::isnan(want) != std::isnan(got[i]) || std::isinf(want))
        error = got[i] == want ? 0 : INFINITY;
      else if (got[i] != want && !std::isnan(want))
        error = std::fabs(got[i] - want) / statement.allowed(x[i], want);
      if (error > mine)
        mine = error, where = x[i], off = std::fabs(got[i] - want) / std::fabs(want);
    }
    std::lock_guard lock(mutex);
    if (mine > worst)
      worst = mine, at = where, relative = off;
  });
  std::printf("  %-10s %.3f of what is stated, at %a: 2^%.2f relatively\n", f.name, worst, at,
              std::log2(relative));
  EXPECT_LE(worst, 1) << f.name << " at " << at;
}

INSTANTIATE_TEST_SUITE_P(All, Special, testing::ValuesIn(kStatements),
                         [](const auto& info) { return std::string(info.param.name); });

} // namespace
