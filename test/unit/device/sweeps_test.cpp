// How many sweeps it takes: what a wrong Jacobian, scan or walk would change, as every answer stays
// right without them.
#include "suite.hpp"

#include <atomic>

using namespace device_test;
using rnn::staging;

namespace {

using math = rnn::polynomial<float>;

/// Counts the steps that kernels and the plain loop run.
std::atomic<long long> steps_run;
template <class real, class m>
struct counted : cells::logistic<real, m> {
  static void step_jacobian(const real (&state)[1], const real (&input)[1], const real (&param)[1],
                            real (&next)[1], real (&output)[1], real (&jacobian)[1]) {
    steps_run.fetch_add(1, std::memory_order_relaxed);
    cells::logistic<real, m>::step_jacobian(state, input, param, next, output, jacobian);
  }
};

setting long_run() {
  setting s;
  s.batch = 1;
  s.time = sanitized ? 1024 : 4096;
  s.lanes = {64};
  s.blocks = 2;
  return s;
}

double lane_sweeps(const rnn::forward_report& r) {
  return double(r.lane_sweeps) / double(r.lane_tiles);
}

template <class Cell, class Policy>
double lane_sweeps(const setting& s) {
  const rnn::forward_report r = problem<Cell, 1>(s).template check<Policy>().report;
  const long long tiles = (s.time - 1) / (Policy::chunks * Policy::steps) + 1;
  const unsigned long long groups = (s.batch * s.lanes[0] - 1) / 32 + 1;
  EXPECT_EQ(r.tiles, groups * tiles);
  EXPECT_EQ(r.lane_tiles, static_cast<unsigned long long>(s.batch * s.lanes[0] * tiles));
  EXPECT_LE(r.sweeps_max, static_cast<unsigned long long>(Policy::chunks));
  return lane_sweeps(r);
}

// The bounds are what was measured, and a little: 3.1, 7.5 (15.8 without a Jacobian), 3.6 (15.5).
TEST(Sweeps, ContractingGru) {
  using gru = cells::gru<float, math>;
  using without = cells::gru_without_jacobian<float, math>;
  using many = policy<32, 16, 16, staging::shared_single>;
  setting s = long_run();
  EXPECT_LT((lane_sweeps<gru, many>(s)), 3.3);
  s.bias = -3; // remembers about 20 steps
  const double exact = lane_sweeps<gru, many>(s), poor = lane_sweeps<without, many>(s);
  EXPECT_LT(exact, 8);
  EXPECT_GT(poor, 1.8 * exact);
  s.tolerance = 4 * std::numeric_limits<float>::epsilon();
  s.allowed = 100 * s.tolerance;
  EXPECT_LT((lane_sweeps<gru, many>(s)), 3.9);
  EXPECT_GT((lane_sweeps<without, many>(s)), 10);
}

TEST(Sweeps, Blocks) {
  setting s = long_run();
  s.time = 1024;
  EXPECT_LT((lane_sweeps<cells::lstm<float, math>, policy<32, 8, 8, staging::shared>>(s)), 4.2);
  EXPECT_LT((lane_sweeps<cells::block<float, math>, policy<32, 8, 8, staging::shared>>(s)), 4.1);
  EXPECT_LT((lane_sweeps<cells::cascade<float, math>, policy<32, 8, 8, staging::shared>>(s)), 1.4);
}

TEST(Sweeps, Linear) {
  setting s = long_run();
  s.bias = 0.97;
  s.weights = 0.01;
  s.tolerance = 4 * std::numeric_limits<float>::epsilon();
  s.allowed = 100 * s.tolerance;
  EXPECT_LT((lane_sweeps<cells::average<float, math>, policy<32, 8, 16>>(s)), 2.1);
}

TEST(Sweeps, ChaosIsWalked) {
  setting s = long_run();
  s.lanes = {32};
  s.blocks = 1;
  for (bool registers : {false, true}) {
    steps_run = 0;
    problem<counted<float, math>, 1> p(s);
    const long long sequential = s.time * 32;
    const rnn::forward_report r = registers ? p.check<policy<32, 16, 4>>().report
                                            : p.check<policy<32, 16, 4, staging::shared>>().report;
    EXPECT_EQ(r.walked, r.tiles);
    EXPECT_EQ(r.slow, r.tiles);
    // The tiles that are tried cost four sweeps, of ever fewer chunks, before they are walked.
    EXPECT_LT(double(steps_run.load()) / double(sequential), 2);
  }
}

// A lane that agrees keeps its starts, however long its neighbours go on.
TEST(Sweeps, NeighboursDoNotChangeALane) {
  using gru = cells::gru<float, math>;
  using eight = policy<32, 8, 8, staging::shared>;
  setting s;
  s.batch = 1;
  s.time = 200;
  s.lanes = {32};
  s.tolerance = 1e-3; // far from exact, so that one sweep more would show
  s.allowed = 1;
  s.weights = 0.5;
  problem<gru, 1> calm(s);
  s.seventh = -4;
  problem<gru, 1> mixed(s);
  const auto one = calm.check<eight>().report, other = mixed.check<eight>().report;
  EXPECT_GT(other.lane_sweeps, one.lane_sweeps);
  for (long long lane = 0; lane < 6; ++lane) {
    EXPECT_EQ(calm.results_of_lane(lane), mixed.results_of_lane(lane)) << lane;
  }
  EXPECT_NE(calm.results_of_lane(6), mixed.results_of_lane(6));
}

TEST(Sweeps, MaxSweeps) {
  setting s = long_run();
  s.bias = -5;
  s.tolerance = 1e-7;
  s.max_sweeps = 2;
  s.allowed = 100; // it is not converged, and says so
  const rnn::forward_report r = problem<cells::gru<float, math>, 1>(s)
                                    .check<policy<32, 16, 16, staging::shared_single>>()
                                    .report;
  EXPECT_EQ(r.sweeps_max, 2u);
  EXPECT_EQ(~r.unconverged, 0u);
  double worst;
  std::memcpy(&worst, &r.mismatch, sizeof worst);
  EXPECT_GT(worst, 1e-7);
}

} // namespace
