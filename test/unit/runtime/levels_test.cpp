// Levels of training: what is kept changes no bit of a gradient, and takes the room that it says.
#include "backward_problem.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

// Wide enough for several windows, and no multiple of anything.
constexpr Shape wide = {2, 1100, 129};

bool allowsWindows(const Schedule& schedule) { return schedule.tiles != RNN_TILES_PARALLEL; }

rnn_plan_options exactly(const Schedule& schedule, rnn_training level, int64_t checkpoint) {
  rnn_plan_options options = optionsFor(schedule, 16);
  options.tolerance = 0;
  options.training = level;
  options.checkpoint = checkpoint;
  return options;
}

void expectSameBits(const BackwardProblem& problem, const BackwardProblem& expected) {
  for (Arg arg : {X, A, S, Initial}) {
    EXPECT_EQ(problem.bytesOf(arg), expected.bytesOf(arg)) << arg;
  }
  for (Arg arg : {H, Y, Final}) {
    EXPECT_EQ(problem.values[arg].bytes, expected.values[arg].bytes) << arg;
  }
}

struct Level {
  rnn_training training;
  int64_t checkpoint;
};
const Level levels[] = {{RNN_TRAINING_L2, 0},   {RNN_TRAINING_L2, 1},   {RNN_TRAINING_L2, 100},
                        {RNN_TRAINING_L2, 256}, {RNN_TRAINING_L2, 900}, {RNN_TRAINING_L2, 4096},
                        {RNN_TRAINING_L3, 0},   {RNN_TRAINING_L3, 64},  {RNN_TRAINING_L3, 77}};

TEST(Levels, NoBitDependsOnWhatIsKept) {
  const BackwardTable table;
  for (const Schedule& schedule : schedules) {
    if (!allowsWindows(schedule)) {
      continue;
    }
    BackwardProblem expected(wide);
    ASSERT_EQ(expected.run(table, exactly(schedule, RNN_TRAINING_L1, 0)), "");
    expected.check(1e-11);
    for (const Level& level : levels) {
      SCOPED_TRACE(testing::Message() << schedule.schedule << schedule.vector << ", L"
                                      << level.training << ", K = " << level.checkpoint);
      BackwardProblem problem(wide);
      ASSERT_EQ(problem.run(table, exactly(schedule, level.training, level.checkpoint)), "");
      expectSameBits(problem, expected);
      const bool hasWindows = level.training == RNN_TRAINING_L2 || level.checkpoint > 0;
      EXPECT_EQ(problem.info.training, level.training);
      EXPECT_EQ(problem.info.window > 0, hasWindows);
      EXPECT_TRUE(!hasWindows || level.checkpoint > 256 || problem.info.window < wide.time / 2);
      EXPECT_EQ(problem.reserveBytes == 0, level.training == RNN_TRAINING_L3);
    }
  }
}

// Whoever keeps the states himself has no need of them.
TEST(Levels, NoBitDependsOnWhatTheCallerKeeps) {
  const BackwardTable table;
  BackwardProblem expected(wide);
  ASSERT_EQ(expected.run(table, exactly(schedules[1], RNN_TRAINING_L1, 0)), "");
  for (const Level& level : levels) {
    for (bool wantsOutput : {true, false}) {
      BackwardProblem problem(wide);
      problem.values[H].tensor.data = nullptr;
      problem.values[Y].tensor.data = wantsOutput ? problem.values[Y].tensor.data : nullptr;
      ASSERT_EQ(problem.run(table, exactly(schedules[1], level.training, level.checkpoint)), "");
      for (Arg arg : {X, A, S, Initial}) {
        EXPECT_EQ(problem.bytesOf(arg), expected.bytesOf(arg)) << arg;
      }
      EXPECT_EQ(problem.values[Final].bytes, expected.values[Final].bytes);
      if (wantsOutput) {
        EXPECT_EQ(problem.values[Y].bytes, expected.values[Y].bytes);
      }
    }
  }
}

TEST(Levels, SequencesMayBeginAnewAnywhere) {
  const BackwardTable table;
  for (const Schedule& schedule : schedules) {
    for (bool reversed : {false, true}) {
      auto run = [&](const Level& level) {
        BackwardProblem problem(wide, Layout::Contiguous, RNN_F64, false);
        problem.mask.resize(wide.batch * wide.time);
        for (int64_t t : {0, 3, 255, 256, 257, 511, 700, 1099}) {
          problem.mask[t] = 1;
          problem.mask[2 * wide.time - 1 - t] = t % 2;
        }
        rnn_plan_options options = exactly(schedule, level.training, level.checkpoint);
        options.reversed = reversed;
        EXPECT_EQ(problem.run(table, options), "");
        return problem;
      };
      if (!allowsWindows(schedule)) {
        continue;
      }
      const BackwardProblem expected = run({RNN_TRAINING_L1, 0});
      for (const Level& level : {levels[2], levels[3], levels[7]}) {
        SCOPED_TRACE(testing::Message() << schedule.vector << ", L" << level.training << ", K = "
                                        << level.checkpoint << (reversed ? ", reversed" : ""));
        expectSameBits(run(level), expected);
      }
    }
  }
}

TEST(Levels, AnyShape) {
  const BackwardTable table;
  for (const Shape& shape :
       {Shape{1, 1, 1}, {2, 3, 5}, {1, 700, 1}, {1, 5, 0}, {0, 5, 3}, {2, 0, 3}}) {
    for (const Level& level : levels) {
      for (bool givesInitial : {true, false}) {
        SCOPED_TRACE(testing::Message() << "T = " << shape.time << ", " << shape.lanes << ", L"
                                        << level.training << ", K = " << level.checkpoint);
        BackwardProblem problem(shape, Layout::Contiguous, RNN_F64, givesInitial);
        ASSERT_EQ(problem.run(table, exactly(schedules[0], level.training, level.checkpoint)), "");
        problem.check();
      }
    }
  }
}

TEST(Levels, StoredNarrower) {
  const BackwardTable table;
  for (const Level& level : levels) {
    BackwardProblem problem({2, 600, 130}, Layout::Strided, RNN_F32);
    ASSERT_EQ(problem.run(table, exactly(schedules[1], level.training, level.checkpoint)), "");
    problem.check(1e-5);
  }
}

TEST(Levels, CheckpointsTakeTheirShare) {
  const BackwardTable table;
  BackwardProblem all({1, 1 << 16, 16}), some({1, 1 << 16, 16});
  ASSERT_EQ(all.run(table, exactly(schedules[0], RNN_TRAINING_L1, 0)), "");
  ASSERT_EQ(some.run(table, exactly(schedules[0], RNN_TRAINING_L2, 64)), "");
  EXPECT_EQ(all.reserveBytes, sizeof(double) * (1 << 16) * 16);
  EXPECT_LE(some.reserveBytes, all.reserveBytes / 64 + 4096);
  EXPECT_LE(some.reserveBytes + some.workspaceBytes, (all.reserveBytes + all.workspaceBytes) / 2);
}

TEST(Levels, WhatCannotBeHadIsNamed) {
  const BackwardTable table;
  auto errorOf = [&](const auto& spoil) {
    BackwardProblem problem({1, 30, 4});
    rnn_plan_options options = exactly(schedules[0], RNN_TRAINING_L2, 0);
    spoil(options);
    return problem.run(table, options);
  };
  EXPECT_EQ(errorOf([](auto& o) { o.checkpoint = -1; }),
            "checkpoint is -1; it cannot be negative (0: chosen for you)");
  EXPECT_EQ(errorOf([](auto& o) {
              o.checkpoint = 8;
              o.training = RNN_TRAINING_L1;
            }),
            "checkpoint is 8, but only training L2 and L3 keep the states of some steps alone");
  const int32_t offsets[] = {0, 10, 30};
  EXPECT_EQ(errorOf([&](auto& o) {
              o.segments = 2;
              o.segment_offsets = offsets;
              o.offset_bits = 32;
            }),
            "checkpoint: the states of a packed batch are kept all or none; use training L1, or L3 "
            "without `checkpoint`");
  EXPECT_EQ(errorOf([](auto& o) {
              o.schedule = RNN_SCHEDULE_PARALLEL;
              o.tiles = RNN_TILES_PARALLEL;
            }),
            "tiles = parallel: with checkpoints time is solved a window after the other, and so "
            "are tiles; use training L1, or L3 without `checkpoint`");
}

} // namespace
} // namespace rnnc::test
