// The settings that every cell and policy is put through.
#pragma once

#include "harness.hpp"
#include "sanitized.hpp"

namespace device_test {

/// Bit for bit the plain loop's answer, over lengths, lanes, batches, layouts and odd numbers.
template <class Cell, class Policy>
void check_exact() {
  constexpr long long C = Policy::steps, tile = C * Policy::chunks;
  const std::vector<long long> times =
      sanitized ? std::vector<long long>{0, 1, C + 1, tile + 1}
                : std::vector<long long>{0,    1,        2,  C - 1, C,  C + 1, tile - 1,
                                         tile, tile + 1, 15, 16,    17, 257};
  for (long long time : times) {
    setting s;
    s.time = time;
    problem<Cell, 1>(s).template check<Policy>();
  }
  const std::vector<long long> lanes = {33, 1, 3, 16}, batches = {3, 1, 0};
  for (size_t n = 0; n < (sanitized ? 1 : lanes.size()); ++n) {
    for (size_t b = 0; b < (sanitized ? 1 : batches.size()); ++b) {
      setting s;
      s.batch = batches[b];
      s.lanes = {lanes[n]};
      s.time = 2 * tile + 5;
      s.order = 3 * n + b;
      problem<Cell, 1>(s).template check<Policy>();
    }
  }
  for (layout how : {layout::time_first, layout::plain, layout::backward}) {
    for (bool strange : {true, false}) {
      if (sanitized && (!strange || how == layout::plain)) {
        continue;
      }
      setting s;
      s.how = how;
      s.strange = strange;
      s.lanes = {3, 7};
      s.time = 3 * tile - 1;
      s.blocks = 2;
      s.order = 5;
      problem<Cell, 2>(s).template check<Policy>();
    }
  }
  setting bare;
  bare.initial = bare.final = bare.sequences = bare.report = false;
  bare.blocks = 3; // more than there are groups of lanes
  problem<Cell, 1>(bare).template check<Policy>();
}

/// 4 ulp a boundary and, where the cell contracts, little more in the end.
template <class Cell, class Policy>
void check_tolerance(double allowed) {
  using real = typename rnn::number_of<Cell>::type;
  setting s;
  s.tolerance = 4 * std::numeric_limits<real>::epsilon();
  s.allowed = allowed * s.tolerance;
  s.time = 300;
  s.lanes = {35};
  const outcome out = problem<Cell, 1>(s).template check<Policy>();
  double worst;
  std::memcpy(&worst, &out.report.mismatch, sizeof worst);
  EXPECT_LE(worst, static_cast<double>(static_cast<real>(s.tolerance)));
}

} // namespace device_test
