// rnn_backward on a cell and an adjoint that are written by hand, against the same sums as a loop.
#include "backward_problem.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace rnnc::test {
namespace {

const Shape shapes[] = {{1, 1, 1}, {2, 3, 5}, {1, 100, 1}, {3, 257, 9},
                        {1, 5, 0}, {0, 5, 3}, {2, 0, 3}};

TEST(Backward, EveryScheduleGivesTheGradientsOfTheLoop) {
  const BackwardTable table;
  for (const Schedule& schedule : schedules) {
    for (const Shape& shape : shapes) {
      for (bool givesInitial : {true, false}) {
        SCOPED_TRACE(testing::Message() << schedule.schedule << schedule.vector << schedule.tiles
                                        << ", T = " << shape.time << ", " << shape.lanes);
        BackwardProblem problem(shape, Layout::Contiguous, RNN_F64, givesInitial);
        ASSERT_EQ(problem.run(table, optionsFor(schedule, 8)), "");
        problem.check();
      }
    }
  }
}

TEST(Backward, EveryLayoutOfWhatIsGivenAndMade) {
  const BackwardTable table;
  for (Layout layout :
       {Layout::TimeMajor, Layout::Padded, Layout::Reversed, Layout::Strided, Layout::LaneMajor}) {
    for (const Schedule& schedule : schedules) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(layout) << ' ' << schedule.vector);
      BackwardProblem problem({2, 40, 6}, layout);
      ASSERT_EQ(problem.run(table, optionsFor(schedule, 8)), "");
      problem.check();
    }
  }
}

TEST(Backward, StoredNarrowerItIsRoundedOnce) {
  const BackwardTable table;
  BackwardProblem problem({2, 40, 6}, Layout::Contiguous, RNN_F32);
  ASSERT_EQ(problem.run(table, optionsFor(schedules[1], 8)), "");
  problem.check(1e-6);
}

TEST(Backward, WhatNobodyGivesIsZeroAndWhatNobodyWantsIsNotMade) {
  const BackwardTable table;
  for (const Schedule& schedule : schedules) {
    for (Arg arg : {X, H, Y, Initial, Final}) {
      SCOPED_TRACE(arg);
      BackwardProblem problem({2, 20, 5});
      problem.gradients[arg].tensor.data = nullptr;
      ASSERT_EQ(problem.run(table, optionsFor(schedule, 4)), "");
      problem.check();
    }
  }
  // Nor the results of the forward call: the reserve has the states.
  BackwardProblem problem({2, 20, 5});
  problem.values[H].tensor.data = problem.values[Y].tensor.data = nullptr;
  ASSERT_EQ(problem.run(table, optionsFor(schedules[1], 4)), "");
  problem.check();
}

TEST(Backward, BitsDependNeitherOnThreadsNorOnTheSchedule) {
  const BackwardTable table;
  BackwardProblem first({2, 300, 7});
  ASSERT_EQ(first.run(table, optionsFor(schedules[0])), "");
  for (const Schedule& schedule : schedules) {
    std::vector<unsigned char> ofA;
    for (int threads : {1, 2, 3, 8, 8}) {
      BackwardProblem problem({2, 300, 7});
      rnn_plan_options options = optionsFor(schedule, 16);
      options.threads = threads;
      options.tolerance = 0;
      ASSERT_EQ(problem.run(table, options), "");
      EXPECT_EQ(problem.bytesOf(X), first.bytesOf(X));
      EXPECT_EQ(problem.bytesOf(Initial), first.bytesOf(Initial));
      if (ofA.empty()) {
        ofA = problem.bytesOf(A);
      }
      EXPECT_EQ(problem.bytesOf(A), ofA) << threads << " threads";
    }
  }
}

TEST(Backward, WhatIsWrongIsNamed) {
  const BackwardTable table;
  auto errorOf = [&](const auto& spoil) {
    BackwardProblem problem({2, 3, 4});
    spoil(problem);
    return problem.run(table, optionsFor(schedules[0]));
  };
  EXPECT_EQ(errorOf([](BackwardProblem& p) { p.gradients[X].tensor.shape[1] = 4; }),
            "gradient of argument 0 (input x): shape is [2, 4, 4], the plan has [2, 3, 4]");
  EXPECT_EQ(errorOf([](BackwardProblem& p) { p.gradients[H].tensor.dtype = RNN_U8; }),
            "gradient of argument 3 (state h): dtype is u8, which is for masks alone");
  EXPECT_EQ(
      errorOf([](BackwardProblem& p) { p.gradients[X].tensor.strides[0] = 0; }),
      "gradient of argument 0 (input x): its strides [0, 4, 1] let elements overlap; a result "
      "needs a place for each");
  EXPECT_EQ(
      errorOf([](BackwardProblem& p) {
        p.gradients[Initial].tensor.data = p.gradients[X].tensor.data;
      }),
      "gradient of argument 5 (initial state h): overlaps the gradient of argument 0 (input x); "
      "results need memory of their own");
  EXPECT_EQ(
      errorOf([](BackwardProblem& p) { p.gradients[A].tensor.data = p.values[X].tensor.data; }),
      "gradient of argument 1 (param a): overlaps argument 0 (input x); results need memory of "
      "their own");
}

TEST(Backward, ATableWhoseAdjointDoesNotFitIsRefused) {
  auto errorOf = [&](const auto& spoil) {
    BackwardTable table;
    spoil(table);
    ModuleHandle module(&table.table);
    EXPECT_EQ(module.status, RNN_INVALID_ARGUMENT);
    return std::string(rnn_error_text(module.context));
  };
  const std::string related = "it cannot be related to tensor ";
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjointTensors[0].of = 77; }),
            "module Leaky.adjoint, tensor h: " + related + "77 of the cell by relation 1");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjointTensors[1].back = 2; }),
            "module Leaky.adjoint, tensor h.back1: " + related + "3 of the cell by relation 1");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjointTensors[3].of = 0; }),
            "module Leaky.adjoint, tensor d.h: " + related + "0 of the cell by relation 2");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjointTensors[9].of = 1; }),
            "module Leaky.adjoint, tensor d.x: " + related + "1 of the cell by relation 3");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjointTensors[10].of = 3; }),
            "module Leaky.adjoint, tensor d.a: " + related + "3 of the cell by relation 5");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjointTensors[4].relation = RNN_RELATION_NONE; }),
            "module Leaky.adjoint, tensor d.y: nobody says what it is to the cell");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.adjoint.adjoint = &t.table; }),
            "module Leaky: its adjoint has an adjoint");
  EXPECT_EQ(errorOf([](BackwardTable& t) { t.sumSlots[0].tensor = 9; }),
            "module Leaky.adjoint, system Leaky.adjoint: sum slot 0: tensor d.x has another role");
}

TEST(Backward, APlanWithoutTrainingHasNone) {
  const BackwardTable table;
  ModuleHandle module(&table.table);
  const rnn_dim_value dim = {"d", 2};
  rnn_plan_options options = planOptions();
  options.dims = 1;
  options.dim = &dim;
  options.batch = options.time = 1;
  options.compute = RNN_F64;
  rnn_plan* plan = nullptr;
  ASSERT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK);
  EXPECT_EQ(rnn_backward(plan, nullptr, nullptr, nullptr, nullptr, nullptr), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(module.context),
               "rnn_backward: argument `plan` was made without training; set `training` in "
               "rnn_plan_options");
  rnn_plan_destroy(plan);
  // Nor has a module without an adjoint a plan with it.
  Table plain(cellNamed("ema"));
  ModuleHandle other(plain.get());
  options.compute = RNN_F32;
  options.training = RNN_TRAINING_L1;
  EXPECT_EQ(rnn_plan_create(other.module, &options, &plan), RNN_UNSUPPORTED);
  EXPECT_EQ(std::string(rnn_error_text(other.context)).substr(0, 17), "training: module ");
}

} // namespace
} // namespace rnnc::test
