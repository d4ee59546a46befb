// Every emitted unit against the float64 interpreter, through arrays laid out as a caller's are.
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

using namespace emitted_test;

namespace {

/// The logistic map is chaotic: two arithmetics part after a few steps.
bool isChaotic(const std::string& example) { return example == "logistic_map"; }

std::vector<long long> lengths(const std::string& example) {
  if (isChaotic(example))
    return {0, 1, 2, 8};
  return {0, 1, 2, 15, 16, 17, 127, 129, 257};
}

TEST(Oracle, EveryUnit) {
  ASSERT_GE(units().size(), 20u);
  std::map<std::pair<std::string, bool>, std::unique_ptr<Oracle>> oracles;
  for (const Unit& unit : units()) {
    auto& oracle = oracles[{unit.example, unit.isDouble}];
    if (!oracle)
      oracle = std::make_unique<Oracle>(std::string(EXAMPLES) + "/" + unit.example + ".rnn",
                                        unit.isDouble);
    ASSERT_EQ(oracle->error(), "");
    // Functions by the special-function unit have bounds of their own (docs/math.md).
    const bool isSpecial = unit.name.ends_with("_special");
    const double bound = unit.isDouble ? 1e-12 : isSpecial ? 2e-3 : 1e-5;
    for (long long time : lengths(unit.example))
      for (double tolerance : {0.0, unit.isDouble ? 0x1p-50 : 0x1p-21}) {
        Call call = oracle->draw(/*batch=*/3, time, /*seed=*/static_cast<unsigned>(time));
        call.tolerance = tolerance;
        ASSERT_EQ(unit.run(call), "") << unit.name << ", T = " << time;
        // A chaotic map's differences double a step, or less.
        const double growth = isChaotic(unit.example) ? std::exp2(time) : 1;
        ASSERT_EQ(oracle->firstDifference(bound * growth), "") << unit.name << ", T = " << time;
      }
  }
}

} // namespace
