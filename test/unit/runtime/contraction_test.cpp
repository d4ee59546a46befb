// Cells and stretches that do not contract, and tolerances above 0.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

rnn_plan_options parallel(rnn_vector vector, rnn_tiles tiles, int64_t chunk, int64_t chunks,
                          double tolerance = 0) {
  rnn_plan_options o = planOptions();
  o.schedule = RNN_SCHEDULE_PARALLEL;
  o.vector = vector;
  o.tiles = tiles;
  o.chunk = chunk;
  o.chunks = chunks;
  o.tolerance = tolerance;
  return o;
}

std::unique_ptr<Problem<float>> chaos(int64_t width, int64_t time) {
  Problem<float>::Options options;
  options.width = width;
  options.time = time;
  auto problem = std::make_unique<Problem<float>>(cellNamed("logistic"), options);
  for (int64_t lane = 0; lane < width; ++lane) {
    problem->setParam(0, lane, 3.9 + .001 * double(lane));
    problem->setInitial(0, 0, lane, .1 + .04 * double(lane));
  }
  problem->reference();
  return problem;
}

// The parallel schedule notices and goes through the rest once: no more than three times the
// sequential loop's vector steps, and the exact answer.
TEST(Chaos, CostsLittleMoreThanTheLoop) {
  const int64_t time = 1 << 16;
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
      const int64_t width = vector == RNN_VECTOR_LANES ? 16 : 1;
      auto problem = chaos(width, time);
      const Outcome out = problem->run(parallel(vector, tiles, 32, 16));
      EXPECT_EQ(out.difference, "");
      EXPECT_LE(double(out.steps), 3.0 * double(time)) << vector << tiles;
      EXPECT_GT(out.report.tiles_walked, out.report.tiles / 2);
      EXPECT_GT(out.report.lane_sweeps_mean, 14);
      EXPECT_EQ(out.report.tiles_slow, out.report.tiles_walked);
    }
  }
}

// The logistic map whose growth is its input: contracting at 2, chaotic at 3.9.
struct DrivenLogistic {
  static constexpr int K = 1, I = 1, P = 0, O = 0;
  static constexpr uint32_t pattern[][2] = {{0, 0}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F*, F* next, F*, F* jac) {
    next[0] = x[0] * s[0] * (1 - s[0]);
    if constexpr (J) {
      jac[0] = x[0] * (1 - 2 * s[0]);
    }
  }
};

// One stiff stretch costs its own tiles extra sweeps and few others, and later tiles are tried
// again.
TEST(Chaos, StiffStretchCostsItsOwnTiles) {
  const CellInfo cell = makeCell<DrivenLogistic>("driven_logistic");
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
      Problem<float>::Options options;
      options.width = vector == RNN_VECTOR_LANES ? 16 : 1;
      options.time = 512 * 40;
      Problem<float> problem(cell, options);
      for (int64_t lane = 0; lane < options.width; ++lane) {
        for (int64_t t = 0; t < options.time; ++t) {
          const bool stiff = t >= 512 * 11 && t < 512 * 14;
          problem.setInput(0, 0, t, lane, stiff ? 3.9 : 1.9 + .01 * double((t + lane) % 20));
        }
        problem.setInitial(0, 0, lane, .3 + .01 * double(lane));
      }
      problem.reference();
      const Outcome out = problem.run(parallel(vector, tiles, 32, 16));
      EXPECT_EQ(out.difference, "");
      EXPECT_GE(out.report.tiles_walked, 3);
      EXPECT_LE(out.report.tiles_walked, 7);
      EXPECT_EQ(out.report.tiles, 40);
    }
  }
}

std::unique_ptr<Problem<float>> longMemory(int64_t width, int64_t time) {
  Problem<float>::Options options;
  options.width = width;
  options.time = time;
  auto problem = std::make_unique<Problem<float>>(cellNamed("paragru"), options);
  problem->setParam(3, 0, -1);
  problem->reference();
  return problem;
}

// Every boundary agrees to the tolerance, so on a contractive cell every state is near.
TEST(Tolerance, DefaultIsFourUlpAndIsKept) {
  auto problem = longMemory(33, 2000);
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
      const Outcome out = problem->run(parallel(vector, tiles, 16, 16, -1), -1, -1, false);
      ASSERT_EQ(out.status, RNN_OK) << out.error;
      EXPECT_EQ(out.info.tolerance, 4 * std::pow(2., -23));
      EXPECT_LE(out.report.mismatch_max, out.info.tolerance);
      EXPECT_GT(out.report.mismatch_max, 0);
      double worst = 0;
      for (int64_t t = 0; t < 2000; ++t) {
        for (int64_t lane = 0; lane < 33; ++lane) {
          const int64_t index[] = {0, t, lane};
          const double expected = problem->state(0, 0, t, lane);
          worst = std::max(worst, std::fabs(problem->results[7].get(index) - expected) /
                                      (1 + std::fabs(expected)));
        }
      }
      EXPECT_LE(worst, 1e-5);
      EXPECT_GT(worst, 0) << "the tolerance is not used";
    }
  }
}

// What a lane gives does not depend on the lanes beside it in the vector: it keeps its start states
// from the sweep on at which it agreed.
TEST(Tolerance, NeighboursDoNotMatter) {
  for (double tolerance : {-1., 1e-5}) {
    auto together = longMemory(16, 900);
    const rnn_plan_options o = parallel(RNN_VECTOR_LANES, RNN_TILES_SEQUENCE, 16, 16, tolerance);
    const Outcome quick = together->run(o, -1, -1, false);
    const std::vector<Array> results = std::move(together->results);
    // The same lanes, one of them much slower to converge than before.
    for (int64_t t = 0; t < 900; ++t) {
      together->setInput(0, 0, t, 7, -2.2);
    }
    const Outcome slow = together->run(o, -1, -1, false);
    ASSERT_EQ(slow.report.tiles_walked, 0);
    ASSERT_GT(slow.report.sweeps_max, quick.report.sweeps_max);
    for (int64_t t = 0; t < 900; ++t) {
      for (int64_t lane = 0; lane < 16; ++lane) {
        const int64_t index[] = {0, t, lane};
        if (lane != 7) {
          ASSERT_EQ(results[7].get(index), together->results[7].get(index))
              << "t " << t << " lane " << lane << " tolerance " << tolerance;
        }
      }
    }
  }
}

TEST(Tolerance, MaxSweepsEndsATile) {
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
      auto problem = longMemory(4, 1024);
      rnn_plan_options o = parallel(vector, tiles, 16, 16, 1e-6);
      o.max_sweeps = 2;
      const Outcome out = problem->run(o, -1, -1, false);
      EXPECT_EQ(out.status, RNN_NOT_CONVERGED);
      EXPECT_GE(out.report.unconverged_tile, 0);
      EXPECT_LT(out.report.unconverged_tile, 4);
      EXPECT_GT(out.report.mismatch_max, 1e-6);
      const std::string expected =
          "tile " + std::to_string(out.report.unconverged_tile) + " did not converge in 2 sweeps";
      EXPECT_EQ(out.error.substr(0, expected.size()), expected);
      // The results hold the last sweep: numbers everywhere, near the answer.
      for (int64_t t = 0; t < 1024; ++t) {
        const int64_t index[] = {0, t, 1};
        EXPECT_LT(std::fabs(problem->results[7].get(index) - problem->state(0, 0, t, 1)), .5);
      }
      o.max_sweeps = 30;
      EXPECT_EQ(problem->run(o, -1, -1, false).status, RNN_OK);
    }
  }
}

TEST(Tolerance, MaxSweepsNeedsATolerance) {
  auto problem = longMemory(1, 10);
  rnn_plan_options o = parallel(RNN_VECTOR_LANES, RNN_TILES_SEQUENCE, 4, 4);
  o.max_sweeps = 3;
  EXPECT_EQ(problem->run(o).error,
            "max_sweeps is 3, but tolerance 0 asks for the exact answer; give "
            "a tolerance above 0 or no max_sweeps");
}

// Infinities agree where they are the same, and nowhere else.
TEST(Tolerance, InfiniteStates) {
  Problem<float>::Options options;
  options.width = 20;
  options.time = 600;
  Problem<float> problem(cellNamed("cumulative_sum"), options);
  for (int64_t lane = 0; lane < 20; lane += 3) {
    problem.setInput(0, 0, 40 * lane % 600, lane, lane % 2 ? INFINITY : -INFINITY);
  }
  problem.reference();
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    const Outcome out =
        problem.run(parallel(vector, RNN_TILES_SEQUENCE, 16, 16, -1), -1, -1, false);
    EXPECT_EQ(out.status, RNN_OK);
    for (int64_t t = 0; t < 600; ++t) {
      for (int64_t lane = 0; lane < 20; lane += 3) {
        const int64_t index[] = {0, t, lane};
        const double expected = problem.state(0, 0, t, lane), got = problem.results[2].get(index);
        EXPECT_EQ(std::isinf(got), std::isinf(expected)) << t << " " << lane << " " << got;
      }
    }
  }
}

} // namespace
} // namespace rnnc::test
