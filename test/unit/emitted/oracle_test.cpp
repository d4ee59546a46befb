// Every emitted unit against the float64 interpreter, through arrays laid out as a caller's are.
#include "oracle.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>

using namespace emitted_test;

namespace {

/// The logistic map is chaotic: two arithmetics part after a few steps.
bool isChaotic(const Unit& unit) { return unit.file.ends_with("logistic_map.rnn"); }

std::vector<long long> lengths(const Unit& unit) {
  if (isChaotic(unit))
    return {0, 1, 2, 8};
  std::vector<long long> times{0, 1, 2, 15, 16, 17, 127, 129, 257};
  // Elsewhere there are branches; in so many steps some state comes as near to one as a rounding.
  if (unit.file.starts_with("examples/"))
    times.push_back(4097);
  return times;
}

TEST(Oracle, EveryUnit) {
  ASSERT_GE(units().size(), 20u);
  std::map<std::pair<std::string, bool>, std::unique_ptr<Oracle>> oracles; // by system and type
  for (const Unit& unit : units()) {
    auto& oracle = oracles[{unit.system, unit.isDouble}];
    if (!oracle)
      oracle = std::make_unique<Oracle>(std::string(SOURCE_FOLDER) + "/" + unit.file, unit.system,
                                        unit.isDouble);
    ASSERT_EQ(oracle->error(), "");
    // Functions by the special-function unit have bounds of their own (docs/math.md).
    const bool isSpecial = unit.name.ends_with("_special");
    const double bound = unit.isDouble ? 1e-12 : isSpecial ? 2e-3 : 1e-5;
    for (long long time : lengths(unit))
      for (double tolerance : {0.0, unit.isDouble ? 0x1p-50 : 0x1p-21}) {
        Call call = oracle->draw(/*batch=*/3, time, /*seed=*/static_cast<unsigned>(time));
        call.tolerance = tolerance;
        ASSERT_EQ(unit.run(call), "") << unit.name << ", T = " << time;
        // A chaotic map's differences double a step, or less.
        const double growth = isChaotic(unit) ? std::exp2(time) : 1;
        ASSERT_EQ(oracle->firstDifference(bound * growth), "") << unit.name << ", T = " << time;
      }
  }
}

} // namespace
