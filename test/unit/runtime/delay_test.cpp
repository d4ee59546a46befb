// Delayed inputs, x[t-n]: before time 0 the tensor's fill, in every schedule and layout.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

template <class F>
void expectExact(Problem<F>& problem, int64_t chunk, int64_t time = -1, int64_t width = -1) {
  for (const Schedule& schedule : schedules) {
    const Outcome out = problem.run(optionsFor(schedule, chunk), time, width);
    ASSERT_EQ(out.status, RNN_OK) << out.error;
    ASSERT_EQ(out.difference, "") << problem.cell().name << " T " << time << " lanes " << width
                                  << " C " << chunk << " schedule " << schedule.schedule
                                  << " vector " << schedule.vector << " tiles " << schedule.tiles;
  }
}

// Delays shorter and longer than a chunk, a tile and the whole sequence, of one input and of three.
TEST(Delay, EveryScheduleIsBitwiseTheLoop) {
  const std::vector<std::vector<uint32_t>> delays = {{1},          {0, 1, 2},       {16, 0, 3},
                                                     {64, 63, 65}, {1000, 1, 5000}, {1000000000}};
  for (const std::vector<uint32_t>& back : delays) {
    for (bool oneInput : {false, true}) {
      Problem<float>::Options o;
      o.width = 33;
      o.time = 1537;
      o.table.back = back;
      o.table.oneInput = oneInput;
      o.table.before = -.75;
      Problem<float> problem(cellNamed("paragru"), o);
      problem.reference();
      for (int64_t time : {0, 1, 2, 17, 64, 1537}) {
        for (int64_t width : {1, 16, 33}) {
          for (int64_t chunk : {3, 16, 64}) {
            expectExact(problem, chunk, time, width);
          }
        }
      }
    }
  }
}

TEST(Delay, EveryLayoutAndStorage) {
  for (Layout layout : {Layout::Contiguous, Layout::TimeMajor, Layout::Padded, Layout::Reversed,
                        Layout::Strided, Layout::LaneMajor}) {
    for (rnn_dtype storage : {RNN_F32, RNN_F64}) {
      Problem<float>::Options o;
      o.batch = 3;
      o.width = 21;
      o.time = 77;
      o.layout = layout;
      o.storage = storage;
      o.table.back = {5, 40};
      o.table.before = .3; // not a float
      Problem<float> f(cellNamed("triangular"), o);
      f.reference();
      expectExact(f, 4);
      Problem<double>::Options d;
      d.batch = 2;
      d.heads = 3;
      d.width = 5;
      d.time = 131;
      d.layout = layout;
      d.storage = storage;
      d.table.back = {2, 0, 9};
      d.table.oneInput = true;
      d.table.before = .3;
      Problem<double> g(cellNamed("paragru"), d);
      g.reference();
      expectExact(g, 8);
    }
  }
}

// A chaotic cell would part at once from a loop that read one wrong number; one that is not finite
// must be found at the step that reads it, not at the one that it was given for.
TEST(Delay, FirstStepThatIsNotFinite) {
  for (int64_t bad : {0, 1, 31, 64, 200}) {
    Problem<float>::Options o;
    o.width = 5;
    o.time = 257;
    o.table.back = {7};
    Problem<float> problem(cellNamed("cumulative_sum"), o);
    problem.setInput(0, 0, bad, 3, INFINITY);
    problem.reference();
    for (const Schedule& schedule : schedules) {
      const Outcome out = problem.run(optionsFor(schedule, 16));
      ASSERT_EQ(out.difference, "");
      ASSERT_EQ(out.report.first_nonfinite, bad + 7);
    }
  }
}

// The stage needs its pieces also where the rest of the array is read in place.
TEST(Delay, LongSequentialRunsInPlace) {
  for (uint32_t back : {1u, 5000u}) {
    Problem<float>::Options o;
    o.width = 16;
    o.time = 20000;
    o.table.back = {0, back};
    o.table.oneInput = true;
    Problem<float> problem(cellNamed("triangular"), o);
    problem.reference();
    expectExact(problem, 256);
  }
}

} // namespace
} // namespace rnnc::test
