// What rnn_forward makes of a plan for a CUDA device, against the plain loop, bit for bit: every
// array finds its place in the kernel's argument, in every layout.
#include "kernels.hpp"
#include "mock.hpp"

namespace rnnc::test {
namespace {

/// A problem's module gets a unit; the rest is as for the CPU.
template <class Host, class F, class Policy, template <class> class Form = Adapted>
void check(const char* cell, typename Problem<F>::Options how, std::initializer_list<int64_t> times,
           std::initializer_list<int64_t> widths) {
  SCOPED_TRACE(std::string(cell) + ", layout " + std::to_string(static_cast<int>(how.layout)));
  const auto run = [&]<int rank>(std::integral_constant<int, rank>) {
    using TheKernel = Kernel<Host, F, Policy, rank, Form>;
    how.time = std::max(times);
    how.width = std::max(widths);
    Problem<F> problem(cellNamed(cell), how);
    MockUnit unit(std::string(cell) + "_results", Policy::lanes, Policy::chunks, Policy::steps,
                  TheKernel::sharedBytes, sizeof(typename TheKernel::Args));
    unit.unit.compute = sizeof(F) == 4 ? RNN_F32 : RNN_F64;
    // Another test's kernel may have the name: the last one counts for its own block alone.
    unit.name += "_" + std::to_string(rank) + (sizeof(F) == 4 ? "f" : "d") +
                 std::to_string(sizeof(typename TheKernel::Args)) +
                 (std::is_same_v<Form<Host>, Adapted<Host>> ? "" : "_delayed");
    unit.entry.name = unit.name.c_str();
    unit.text = unit.name + "(args)";
    unit.unit.text = unit.text.c_str();
    mock().bring(TheKernel::bring(unit.name));
    problem.table.table.cuda = &unit.desc;
    problem.reference();
    for (int64_t time : times) {
      for (int64_t width : widths) {
        const Outcome out = problem.run(cudaOptions(), time, width);
        ASSERT_EQ(out.status, RNN_OK) << out.error;
        EXPECT_EQ(out.difference, "") << time << " steps, width " << width;
        EXPECT_EQ(out.info.device, RNN_DEVICE_CUDA);
        EXPECT_EQ(out.info.schedule,
                  Policy::chunks > 1 ? RNN_SCHEDULE_PARALLEL : RNN_SCHEDULE_SEQUENTIAL);
        EXPECT_EQ(out.report.tiles > 0,
                  Policy::chunks > 1 && time > 0 && how.batch > 0 && width > 0);
        EXPECT_EQ(out.report.first_nonfinite, -1);
        EXPECT_EQ(out.report.unsolved_step, -1);
        EXPECT_EQ(out.report.unconverged_tile, -1);
      }
    }
  };
  if (how.heads > 0) {
    run(std::integral_constant<int, 2>());
  } else {
    run(std::integral_constant<int, 1>());
  }
}

class Results : public testing::Test {
protected:
  void SetUp() override { mock().setReadsHostMemory(true); } // the problems' arrays are the host's
  void TearDown() override { mock().setReadsHostMemory(false); }
};

constexpr Layout layouts[] = {Layout::Contiguous, Layout::TimeMajor, Layout::Padded,
                              Layout::Reversed,   Layout::Strided,   Layout::LaneMajor};

template <class Host, class F>
void checkEverywhere(const char* cell) {
  for (Layout layout : layouts) {
    typename Problem<F>::Options how;
    how.batch = 3;
    how.layout = layout;
    check<Host, F, TilePolicy>(cell, how, {0, 1, 31, 32, 33, 97}, {1, 13});
    check<Host, F, PlainPolicy>(cell, how, {0, 1, 4, 37}, {1, 13});
  }
}

TEST_F(Results, OneState) { checkEverywhere<ParaGru, float>("paragru"); }
TEST_F(Results, OneStateInDouble) { checkEverywhere<ParaGru, double>("paragru"); }
TEST_F(Results, TwoStates) { checkEverywhere<ParaLstm, float>("paralstm"); }
TEST_F(Results, FourStatesAndAnOutput) { checkEverywhere<Ladder, float>("ladder"); }
TEST_F(Results, NoInput) { checkEverywhere<Logistic, float>("logistic"); }
TEST_F(Results, NoParam) { checkEverywhere<CumulativeSum, double>("cumulative_sum"); }

TEST_F(Results, TwoLaneAxes) {
  for (Layout layout : layouts) {
    Problem<float>::Options how;
    how.batch = 2;
    how.heads = 3;
    how.layout = layout;
    how.table.laneRank = 2;
    check<Triangular, float, TilePolicy>("triangular", how, {1, 40}, {7});
    how.table.blockState = true;
    check<Triangular, float, TilePolicy>("triangular", how, {1, 40}, {7});
  }
}

TEST_F(Results, StatesInOneArray) {
  Problem<double>::Options how;
  how.batch = 5;
  how.table.blockState = true;
  check<Ladder, double, TilePolicy>("ladder", how, {33}, {3, 11});
  check<Uncoupled, double, PlainPolicy>("uncoupled", how, {33}, {3, 11});
}

TEST_F(Results, WhatNobodyGivesOrWants) {
  for (bool initial : {false, true}) {
    for (bool final : {false, true}) {
      for (bool sequences : {false, true}) {
        Problem<float>::Options how;
        how.batch = 2;
        how.initial = initial;
        how.final = final;
        how.sequences = sequences;
        check<ParaLstm, float, TilePolicy>("paralstm", how, {0, 45}, {9});
      }
    }
  }
}

TEST_F(Results, EarlierInputs) {
  Problem<double>::Options how;
  how.batch = 2;
  how.table.oneInput = true;
  how.table.back = {0, 2};
  how.table.before = 1.5;
  for (Layout layout : layouts) {
    how.layout = layout;
    check<Triangular, double, TilePolicy, Delayed>("triangular", how, {1, 2, 3, 50}, {6});
    check<Triangular, double, PlainPolicy, Delayed>("triangular", how, {1, 2, 3, 50}, {6});
  }
}

TEST_F(Results, NothingToDo) {
  Problem<float>::Options how;
  how.batch = 0;
  check<Ema, float, TilePolicy>("ema", how, {0, 20}, {4});
  how.batch = 2;
  check<Ema, float, TilePolicy>("ema", how, {20}, {0, 4});
}

TEST_F(Results, ToleranceAndSweepsReachTheKernel) {
  // The logistic map does not contract: a bound on sweeps ends tile 0.
  Problem<float>::Options how;
  how.width = 33;
  how.time = 64;
  Problem<float> problem(cellNamed("logistic"), how);
  using TheKernel = Kernel<Logistic, float, TilePolicy, 1>;
  MockUnit unit("logistic_sweeps", 32, 8, 4, TheKernel::sharedBytes, sizeof(TheKernel::Args));
  mock().bring(TheKernel::bring("logistic_sweeps"));
  problem.table.table.cuda = &unit.desc;
  for (int64_t lane = 0; lane < how.width; ++lane) {
    problem.setParam(0, lane, 3.9);
    problem.setInitial(0, 0, lane, .3 + .01 * double(lane));
  }
  rnn_plan_options options = cudaOptions();
  options.tolerance = 1e-6;
  options.max_sweeps = 2;
  const Outcome out = problem.run(options, -1, -1, false);
  ASSERT_EQ(out.status, RNN_OK) << out.error;
  EXPECT_EQ(out.info.tolerance, 1e-6);
  EXPECT_EQ(out.report.unconverged_tile, 0);
  EXPECT_EQ(out.report.sweeps_max, 2);
  EXPECT_GT(out.report.mismatch_max, 1e-3);
}

TEST_F(Results, TheFirstStepThatIsNotFinite) {
  Problem<float>::Options how;
  how.width = 3;
  how.time = 50;
  Problem<float> problem(cellNamed("cumulative_sum"), how);
  using TheKernel = Kernel<CumulativeSum, float, PlainPolicy, 1>;
  MockUnit unit("sum_nonfinite", 64, 1, 4, 0, sizeof(TheKernel::Args));
  mock().bring(TheKernel::bring("sum_nonfinite"));
  problem.table.table.cuda = &unit.desc;
  problem.setInput(0, 0, 29, 1, std::numeric_limits<float>::infinity());
  problem.setInput(0, 0, 17, 2, std::numeric_limits<float>::infinity());
  problem.reference();
  const Outcome out = problem.run(cudaOptions());
  EXPECT_EQ(out.difference, "");
  EXPECT_EQ(out.report.first_nonfinite, 17);
  EXPECT_EQ(out.report.tiles, 0);
}

} // namespace
} // namespace rnnc::test
