// Dense systems in parallel: the diagonal in place of the Jacobian changes how many sweeps a solve
// takes, and no answer.
#include "dense_cell.hpp"

#include <functional>

namespace rnnc::test {
namespace {

/// W / 2 has `memory` on its diagonal, growing a little from state to state, and `coupling` times a
/// drawn number beside it.
template <class F>
DenseCall<F> denseCall(int64_t d, int64_t time, double memory, double coupling) {
  DenseCall<F> call(2, 3, d, time);
  for (int64_t i = 0; i < d; ++i) {
    for (int64_t j = 0; j < d; ++j) {
      const double entry = i == j ? memory * (1 - .6 * double(i) / double(d))
                                  : coupling * drawn(i * d + j) / double(d);
      call.w[j * d + i] = F(2 * entry); // the caller's W is transposed
    }
  }
  return call;
}

TEST(DenseParallel, EveryScheduleIsThePlainLoop) {
  DenseTable table;
  table.correctWith<Diagonal::Right>();
  for (const Schedule& schedule : schedules) {
    for (int64_t d : {1, 2, 11, 40}) {
      for (int64_t time : {0, 1, 37, 300}) {
        for (int64_t chunk : {1, 7, 16}) {
          DenseCall<float> single(2, 3, d, time);
          EXPECT_EQ(single.solve(table, optionsFor(schedule, chunk)), "");
          single.expect();
          DenseCall<double> both = denseCall<double>(d, time, .9, .3);
          EXPECT_EQ(both.solve(table, optionsFor(schedule, chunk)), "");
          both.expect();
        }
      }
    }
  }
}

rnn_report solved(DenseTable& table, double memory, double coupling, double tolerance) {
  constexpr int64_t chunk = 16, chunks = 16;
  DenseCall<double> call = denseCall<double>(20, 4 * chunk * chunks, memory, coupling);
  rnn_plan_options options = planOptions();
  options.schedule = RNN_SCHEDULE_PARALLEL;
  options.vector = RNN_VECTOR_LANES;
  options.tiles = RNN_TILES_SEQUENCE;
  options.chunk = chunk;
  options.chunks = chunks;
  options.tolerance = tolerance;
  rnn_report report{};
  EXPECT_EQ(call.solve(table, options, &report), "");
  if (tolerance == 0) {
    call.expect();
  }
  return report;
}

// To the last bit, sweeps go on after rounding alone; this is above that.
constexpr double overRounding = 1e-13;

// A diagonal of zero and one of the neighbour's entries are as right, and later: chunk by chunk.
TEST(DenseParallel, SweepsTellTheDiagonalFromAnother) {
  DenseTable right, zero, shifted;
  right.correctWith<Diagonal::Right>();
  zero.correctWith<Diagonal::Zero>();
  shifted.correctWith<Diagonal::Shifted>();
  EXPECT_LE(solved(right, .97, 1e-4, overRounding).lane_sweeps_mean, 4.5);
  EXPECT_GE(solved(zero, .97, 1e-4, overRounding).lane_sweeps_mean, 14);
  EXPECT_GE(solved(shifted, .97, 1e-4, overRounding).lane_sweeps_mean, 14);
  const double toTheBit = solved(right, .97, 1e-4, 0).lane_sweeps_mean;
  EXPECT_GE(solved(zero, .97, 1e-4, 0).lane_sweeps_mean, toTheBit + 1);
  EXPECT_GE(solved(shifted, .97, 1e-4, 0).lane_sweeps_mean, toTheBit + 1);
}

TEST(DenseParallel, CouplingCostsSweepsUpToTheChunks) {
  DenseTable table;
  table.correctWith<Diagonal::Right>();
  // A diagonal Jacobian of a linear step: one sweep to know it, one to see that it was right.
  EXPECT_EQ(solved(table, .9, 0, overRounding).sweeps_max, 2);
  EXPECT_LE(solved(table, .9, 0, 0).sweeps_max, 8);
  EXPECT_LE(solved(table, .5, .1, 0).lane_sweeps_mean, 6);
  const rnn_report strong = solved(table, .5, 8, 0);
  EXPECT_LE(strong.sweeps_max, 16);
  EXPECT_LE(strong.lane_sweeps_mean, 16);
  EXPECT_GE(strong.lane_sweeps_mean, 12);
}

// The data alone can tell how many sweeps there will be, so the cost model does not choose it.
TEST(DenseParallel, RunsWhereItIsAskedFor) {
  DenseTable table;
  table.correctWith<Diagonal::Right>();
  DenseCall<double> call = denseCall<double>(20, 100000 / 6, .5, .1);
  rnn_report report{};
  EXPECT_EQ(call.solve(table, planOptions(), &report), "");
  EXPECT_EQ(report.tiles, 0);
}

std::string diagonalError(const std::function<void(rnn_system_desc&)>& change) {
  DenseTable table;
  table.correctWith<Diagonal::Right>();
  table.get();
  change(table.system);
  ModuleHandle module(&table.table);
  return module.status == RNN_OK ? "" : rnn_error_text(module.context);
}

TEST(DenseParallel, TableErrors) {
  EXPECT_EQ(diagonalError([](rnn_system_desc&) {}), "");
  EXPECT_EQ(diagonalError([](rnn_system_desc& s) { s.carry = 1; }),
            "module Dense, system dense: a dense system has no carry, this one has 1 numbers");
}

} // namespace
} // namespace rnnc::test
