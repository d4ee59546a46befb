// How many sweeps it takes. The answer is right whatever A_w holds, so only this shows that the
// Jacobians, the scan and the guard are.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

constexpr int64_t lanes = 256, steps = 4096;

using ProblemPtr = std::unique_ptr<Problem<float>>;

template <class Cell, Wrong wrong>
CellInfo cellWith(const char* name) {
  CellInfo cell = makeCell<Cell>(name);
  cell.kernels = {makeKernel<Cell, float, 16, wrong>()};
  return cell;
}

/// Inputs normal(0,1), zero initial states.
ProblemPtr makeProblem(const CellInfo& cell, int64_t width = lanes) {
  Problem<float>::Options o;
  o.width = width;
  o.time = steps;
  auto owner = std::make_unique<Problem<float>>(cell, o);
  Problem<float>& problem = *owner;
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  for (int i = 0; i < cell.inputs; ++i) {
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t lane = 0; lane < width; ++lane) {
        problem.setInput(i, 0, t, lane, normal(random));
      }
    }
  }
  for (int i = 0; i < cell.states; ++i) {
    for (int64_t lane = 0; lane < width; ++lane) {
      problem.setInitial(i, 0, lane, 0);
    }
  }
  return owner;
}

/// Recurrent weights normal(0, deviation), cut at `cut`.
void drawWeights(Problem<float>& problem, int count, double deviation, double cut) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  for (int i = 0; i < count; ++i) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      problem.setParam(i, lane, std::clamp(normal(random) * deviation, -cut, cut));
    }
  }
}

rnn_plan_options lanesOptions(double tolerance) {
  rnn_plan_options o = planOptions();
  o.schedule = RNN_SCHEDULE_PARALLEL;
  o.vector = RNN_VECTOR_LANES;
  o.tiles = RNN_TILES_SEQUENCE;
  o.chunk = 64;
  o.chunks = 16;
  o.tolerance = tolerance;
  return o;
}

double laneSweeps(Problem<float>& problem, double tolerance) {
  const Outcome out = problem.run(lanesOptions(tolerance), -1, -1, false);
  EXPECT_EQ(out.status, RNN_OK) << out.error;
  EXPECT_EQ(out.report.tiles, steps / 1024 * out.info.groups);
  return out.report.lane_sweeps_mean;
}

ProblemPtr longMemoryGru(const CellInfo& cell) {
  ProblemPtr problemOwner = makeProblem(cell);
  Problem<float>& problem = *problemOwner;
  drawWeights(problem, 3, 1, 100);
  problem.setParam(3, 0, -3);
  return problemOwner;
}

TEST(Sweeps, LongMemoryGru) {
  const ProblemPtr problemOwner = longMemoryGru(cellNamed("paragru"));
  Problem<float>& problem = *problemOwner;
  EXPECT_LE(laneSweeps(problem, 0), 5.2);
  EXPECT_LE(laneSweeps(problem, -1), 3.7);
  const ProblemPtr zeroedOwner = longMemoryGru(cellWith<ParaGru, Wrong::Zeroed>("zeroed"));
  Problem<float>& zeroed = *zeroedOwner;
  EXPECT_GT(laneSweeps(zeroed, 0), 5.7);
  EXPECT_GT(laneSweeps(zeroed, -1), 4.5);
}

TEST(Sweeps, InitialisationOfParaRnn) {
  const ProblemPtr problemOwner = makeProblem(cellNamed("paragru"));
  Problem<float>& problem = *problemOwner;
  drawWeights(problem, 3, .3, .9);
  problem.setParam(3, 0, 0);
  EXPECT_LE(laneSweeps(problem, 0), 2.2);
}

ProblemPtr slowAverage(const CellInfo& cell) {
  ProblemPtr problemOwner = makeProblem(cell);
  Problem<float>& problem = *problemOwner;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    problem.setParam(0, lane, .99);
  }
  return problemOwner;
}

TEST(Sweeps, LinearRecurrence) {
  const ProblemPtr problemOwner = slowAverage(cellNamed("ema"));
  Problem<float>& problem = *problemOwner;
  EXPECT_LE(laneSweeps(problem, -1), 2.05);
  const ProblemPtr zeroedOwner = slowAverage(cellWith<Ema, Wrong::Zeroed>("zeroed"));
  Problem<float>& zeroed = *zeroedOwner;
  EXPECT_GT(laneSweeps(zeroed, -1), 10);
}

// Blocks that are neither symmetric nor commute.
ProblemPtr longMemoryLstm(const CellInfo& cell) {
  ProblemPtr problemOwner = makeProblem(cell, 64);
  Problem<float>& problem = *problemOwner;
  const double weights[] = {.6, .8, -.9, .7};
  for (int i = 0; i < 4; ++i) {
    for (int64_t lane = 0; lane < 64; ++lane) {
      problem.setParam(i, lane, weights[i] * (.8 + .004 * double(lane)));
    }
  }
  problem.setParam(4, 0, .9);
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t lane = 0; lane < 64; ++lane) {
      problem.setInput(0, 0, t, lane, 3.5 + .3 * std::sin(double(t * (lane + 1))));
    }
  }
  return problemOwner;
}

TEST(Sweeps, LongMemoryLstm) {
  const ProblemPtr problemOwner = longMemoryLstm(cellNamed("paralstm"));
  Problem<float>& problem = *problemOwner;
  const double right = laneSweeps(problem, -1);
  EXPECT_LE(right, 3.6);
  const ProblemPtr zeroedOwner = longMemoryLstm(cellWith<ParaLstm, Wrong::Zeroed>("zeroed"));
  Problem<float>& zeroed = *zeroedOwner;
  const ProblemPtr transposedOwner =
      longMemoryLstm(cellWith<ParaLstm, Wrong::Transposed>("transposed"));
  Problem<float>& transposed = *transposedOwner;
  const ProblemPtr reversedOwner = longMemoryLstm(cellWith<ParaLstm, Wrong::Reversed>("reversed"));
  Problem<float>& reversed = *reversedOwner;
  EXPECT_GT(laneSweeps(zeroed, -1), right + 1);
  EXPECT_GT(laneSweeps(transposed, -1), right + 1);
  EXPECT_GT(laneSweeps(reversed, -1), right + .5);
}

TEST(Sweeps, ChunksInVectorsTakeNoMore) {
  const ProblemPtr problemOwner = longMemoryGru(cellNamed("paragru"));
  Problem<float>& problem = *problemOwner;
  for (double tolerance : {0., -1.}) {
    rnn_plan_options o = lanesOptions(tolerance);
    o.vector = RNN_VECTOR_CHUNKS;
    const Outcome out = problem.run(o, -1, 64, false);
    EXPECT_EQ(out.report.tiles, 4 * 64);
    EXPECT_LE(out.report.lane_sweeps_mean, tolerance == 0 ? 5.2 : 3.7);
  }
}

// Tiles in parallel: the first outer sweep solves from guesses, the second from the right starts of
// a cell that forgets within a tile; chunks that the new start did not reach are not shot again.
TEST(Sweeps, OuterSweepsStartWarm) {
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    const ProblemPtr problemOwner = makeProblem(cellNamed("paragru"), 16);
    Problem<float>& problem = *problemOwner;
    for (int i = 0; i < 3; ++i) {
      for (int64_t lane = 0; lane < 16; ++lane) {
        problem.setParam(i, lane, .3);
      }
    }
    problem.setParam(3, 0, 0);
    problem.reference();
    rnn_plan_options o = lanesOptions(0);
    o.vector = vector;
    const Outcome sequence = problem.run(o);
    o.tiles = RNN_TILES_PARALLEL;
    const Outcome parallel = problem.run(o);
    EXPECT_EQ(parallel.difference, "");
    EXPECT_EQ(parallel.report.outer_sweeps, 2);
    // One more pass, and over the first chunks of each tile only.
    EXPECT_LE(parallel.report.sweeps_mean, sequence.report.sweeps_mean + 1.01);
    const int64_t first = vector == RNN_VECTOR_LANES ? 3 * 64 * 2 : 3 * 64 * 16;
    EXPECT_LE(parallel.steps, sequence.steps + first);
  }
}

// Slow linear decay across tiles: the products over whole tiles carry it, and inside each tile the
// new start moves every chunk's start, so that one pass confirms them all.
TEST(Sweeps, OuterSweepsUseTheTilesJacobians) {
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    Problem<float>::Options options;
    options.width = 4;
    options.time = steps;
    Problem<float> problem(cellNamed("ema"), options);
    for (int64_t lane = 0; lane < 4; ++lane) {
      problem.setParam(0, lane, .999);
    }
    rnn_plan_options o = lanesOptions(-1);
    o.vector = vector;
    o.tiles = RNN_TILES_PARALLEL;
    o.chunk = 8;
    const Outcome out = problem.run(o, -1, -1, false);
    EXPECT_EQ(out.report.outer_sweeps, 2);
    EXPECT_LE(out.report.sweeps_mean, 3);
    EXPECT_EQ(out.report.tiles_walked, 0);
    EXPECT_EQ(out.report.tiles, 32 * (vector == RNN_VECTOR_LANES ? 1 : 4));
  }
}

// The order of the factors in a tile's product: blocks that do not commute, tiles shorter than the
// cell remembers.
TEST(Sweeps, OuterSweepsMultiplyInOrder) {
  const ProblemPtr owner = longMemoryLstm(cellNamed("paralstm"));
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    rnn_plan_options o = lanesOptions(-1);
    o.vector = vector;
    o.tiles = RNN_TILES_PARALLEL;
    o.chunk = 2;
    o.chunks = 4;
    const Outcome out = owner->run(o, 1024, 16, false);
    EXPECT_LE(out.report.outer_sweeps, 5);
  }
}

// Once a lane is NaN it stays so; any NaN agrees with any other.
TEST(Sweeps, NanStatesAgree) {
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    Problem<float>::Options options;
    options.width = 16;
    options.time = 2048;
    Problem<float> problem(cellNamed("cumulative_sum"), options);
    for (int64_t lane = 0; lane < 16; ++lane) {
      problem.setInitial(0, 0, lane, lane % 2 ? NAN : -NAN);
    }
    problem.reference();
    rnn_plan_options o = lanesOptions(0);
    o.vector = vector;
    const Outcome out = problem.run(o);
    EXPECT_EQ(out.difference, "");
    EXPECT_EQ(out.report.sweeps_max, 1);
    EXPECT_EQ(out.report.first_nonfinite, 0);
  }
}

// Every chunk explodes and ends in a reset: A is 0 times infinity, d is not 0, and without the
// guard no start would ever be a number.
TEST(Sweeps, GuardAgainstInfiniteJacobians) {
  for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
    for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
      Problem<float>::Options options;
      options.width = 16;
      options.time = 2048;
      Problem<float> problem(cellNamed("explosive"), options);
      for (int64_t t = 0; t < 2048; ++t) {
        for (int64_t lane = 0; lane < 16; ++lane) {
          problem.setInput(0, 0, t, lane, t % 32 == 31 ? 2 : 1);
        }
      }
      problem.reference();
      rnn_plan_options o = lanesOptions(0);
      o.vector = vector;
      o.tiles = tiles;
      o.chunk = 32;
      const Outcome out = problem.run(o);
      EXPECT_EQ(out.difference, "");
      EXPECT_EQ(out.report.tiles_walked, 0);
      EXPECT_EQ(out.report.sweeps_max, tiles == RNN_TILES_SEQUENCE ? 2 : 3);
    }
  }
}

} // namespace
} // namespace rnnc::test
