// The settings that every cell and policy is put through.
#pragma once

#include "harness.hpp"

namespace device_test {

/// Bit for bit the plain loop's answer, over lengths, lanes, batches, layouts and odd numbers.
template <class Cell, class Policy>
void check_exact() {
  constexpr long long C = Policy::steps, tile = C * Policy::chunks;
  for (long long time :
       {0LL, 1LL, 2LL, C - 1, C, C + 1, tile - 1, tile, tile + 1, 15LL, 16LL, 17LL, 257LL}) {
    setting s;
    s.time = time;
    problem<Cell, 1>(s).template check<Policy>();
  }
  for (long long lanes : {1, 3, 16, 33}) {
    for (long long batch : {0, 1, 3}) {
      setting s;
      s.batch = batch;
      s.lanes = {lanes};
      s.time = 2 * tile + 5;
      s.order = lanes + batch;
      problem<Cell, 1>(s).template check<Policy>();
    }
  }
  for (layout how : {layout::plain, layout::time_first, layout::backward}) {
    for (bool strange : {false, true}) {
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
