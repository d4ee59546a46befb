// What the caller may hand in: strides, storage types, absent arguments, odd values, odd modes.
#include "harness.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rnnc::test {
namespace {

template <class F>
void expectExact(Problem<F>& problem, int64_t chunk, int64_t chunks = 0) {
  for (const Schedule& schedule : schedules) {
    const Outcome out = problem.run(optionsFor(schedule, chunk, chunks));
    ASSERT_EQ(out.status, RNN_OK) << out.error;
    ASSERT_EQ(out.difference, "") << problem.cell().name << " schedule " << schedule.schedule
                                  << " vector " << schedule.vector << " tiles " << schedule.tiles;
  }
}

const std::vector<Layout> layouts = {Layout::Contiguous, Layout::TimeMajor, Layout::Padded,
                                     Layout::Reversed,   Layout::Strided,   Layout::LaneMajor};

TEST(Layout, EveryLayoutAndStorage) {
  for (Layout layout : layouts) {
    for (rnn_dtype storage : {RNN_F32, RNN_F64}) {
      for (const char* name : {"paragru", "triangular", "ladder"}) {
        Problem<float>::Options o;
        o.batch = 3;
        o.width = 21;
        o.time = 77;
        o.layout = layout;
        o.storage = storage;
        o.table.blockState = name[0] == 'l';
        Problem<float> f(cellNamed(name), o);
        f.reference();
        expectExact(f, 4);
        Problem<double>::Options d;
        d.batch = 2;
        d.heads = 3;
        d.width = 5;
        d.time = 131;
        d.layout = layout;
        d.storage = storage;
        Problem<double> g(cellNamed(name), d);
        g.reference();
        expectExact(g, 8);
      }
    }
  }
}

RC_GTEST_PROP(Layout, AnyShapeAgainstTheLoop, ()) {
  const CellInfo& cell = allCells()[*rc::gen::inRange<size_t>(0, allCells().size())];
  Problem<float>::Options o;
  o.batch = *rc::gen::inRange(0, 4);
  o.heads = *rc::gen::inRange(0, 3);
  o.width = *rc::gen::inRange(0, 23);
  o.time = *rc::gen::inRange(0, 300);
  o.layout = *rc::gen::elementOf(layouts);
  o.storage = *rc::gen::element(RNN_F32, RNN_F64);
  o.initial = *rc::gen::arbitrary<bool>();
  o.final = *rc::gen::arbitrary<bool>();
  o.sequences = o.final ? *rc::gen::arbitrary<bool>() : true;
  o.table.blockState = *rc::gen::arbitrary<bool>();
  o.table.hideFirst = *rc::gen::arbitrary<bool>();
  const int delayed = *rc::gen::inRange(0, 4);
  for (int i = 0; i < delayed; ++i) {
    o.table.back.push_back(*rc::gen::element(0, 1, 2, 15, 64, 299, 4000));
  }
  o.table.oneInput = delayed > 0 && *rc::gen::arbitrary<bool>();
  o.table.before = *rc::gen::element(0., -2.5);
  Problem<float> problem(cell, o, *rc::gen::inRange(0, 1000));
  problem.reference();
  const Schedule& schedule = *rc::gen::elementOf(schedules);
  rnn_plan_options options =
      optionsFor(schedule, *rc::gen::inRange(0, 40), *rc::gen::element(0, 1, 2, 3, 7, 16, 32, 64));
  options.threads = *rc::gen::inRange(0, 3);
  const Outcome out = problem.run(options);
  RC_ASSERT(out.error == "");
  RC_ASSERT(out.difference == "");
}

// Fewer chunks than columns: the columns past the last chunk repeat it and read nothing behind the
// arrays' ends (the sanitizers watch).
TEST(Layout, FewChunks) {
  for (int64_t chunks : {1, 2, 3, 5, 15}) {
    for (int64_t time : {64, 90, 121}) {
      Problem<float>::Options o;
      o.time = time;
      Problem<float> problem(cellNamed("ladder"), o);
      problem.reference();
      for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
        const Outcome out =
            problem.run(optionsFor({RNN_SCHEDULE_PARALLEL, RNN_VECTOR_CHUNKS, tiles}, 8, chunks));
        ASSERT_EQ(out.error, "");
        ASSERT_EQ(out.difference, "") << chunks << " chunks, T " << time;
      }
    }
  }
}

// A stride of 0 reads the same number for every batch element, step or lane.
TEST(Layout, ZeroStridesOfInputs) {
  for (int axis = 0; axis < 3; ++axis) {
    Problem<float>::Options o;
    o.batch = 3;
    o.width = 17;
    o.time = 60;
    Problem<float> problem(cellNamed("triangular"), o);
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t t = 0; t < 60; ++t) {
        for (int64_t lane = 0; lane < 17; ++lane) {
          const int64_t index[] = {b, t, lane};
          problem.setInput(0, b, t, lane,
                           .125 * double((b + 2 * t + 3 * lane -
                                          index[axis] * (axis == 0   ? 1
                                                         : axis == 1 ? 2
                                                                     : 3)) %
                                         7));
        }
      }
    }
    problem.reference();
    problem.zeroStride(0, axis);
    expectExact(problem, 5);
  }
}

TEST(Values, NanAndInfinityInInputs) {
  const double values[] = {NAN, INFINITY, -INFINITY, -0., 1e-45, 3e38};
  for (const CellInfo& cell : allCells()) {
    if (cell.inputs == 0) {
      continue;
    }
    for (double value : values) {
      Problem<float>::Options o;
      o.width = 9;
      o.time = 200;
      Problem<float> problem(cell, o);
      for (int64_t lane = 0; lane < 9; lane += 2) {
        problem.setInput(0, 0, 3 + 17 * lane, lane, value);
      }
      problem.reference();
      expectExact(problem, 7);
    }
  }
}

TEST(Values, FirstStepThatIsNotFinite) {
  for (int64_t bad : {0, 1, 31, 64, 100, 254, 255, 256}) {
    Problem<float>::Options o;
    o.width = 5;
    o.time = 257;
    Problem<float> problem(cellNamed("cumulative_sum"), o);
    problem.setInput(0, 0, bad, 3, INFINITY);
    problem.setInput(0, 0, std::min<int64_t>(bad + 20, 256), 1, NAN);
    problem.reference();
    for (const Schedule& schedule : schedules) {
      for (int64_t chunk : {1, 3, 16, 64}) {
        const Outcome out = problem.run(optionsFor(schedule, chunk));
        ASSERT_EQ(out.difference, "");
        ASSERT_EQ(out.report.first_nonfinite, bad) << "chunk " << chunk;
      }
    }
  }
  Problem<float>::Options o;
  o.time = 100;
  Problem<float> fine(cellNamed("ema"), o);
  fine.reference();
  for (const Schedule& schedule : schedules) {
    EXPECT_EQ(fine.run(optionsFor(schedule)).report.first_nonfinite, -1);
  }
}

#if defined(__x86_64__)
// Audio hosts flush denormals to zero; some code rounds toward zero. Neither reaches the kernels,
// and both are found again afterwards.
TEST(Values, CallersFloatingPointModesDoNotMatter) {
  Problem<float>::Options o;
  o.width = 40;
  o.time = 400;
  Problem<float> problem(cellNamed("ema"), o);
  for (int64_t lane = 0; lane < 40; ++lane) {
    problem.setParam(0, lane, .9);
    problem.setInitial(0, 0, lane, 1e-37);
    for (int64_t t = 0; t < 400; ++t) {
      problem.setInput(0, 0, t, lane, t % 9 == 0 ? 3e-39 * double(lane) : 0);
    }
  }
  problem.reference();
  const unsigned before = _mm_getcsr();
  const unsigned modes = before | 0x8040u | 0x6000u; // FTZ, DAZ, toward zero
  for (const Schedule& schedule : schedules) {
    for (int threads : {1, 2}) {
      rnn_plan_options options = optionsFor(schedule, 8);
      options.threads = threads;
      _mm_setcsr(modes);
      const Outcome out = problem.run(options, -1, -1, false);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      EXPECT_EQ(after & 0xffc0u, modes & 0xffc0u);
      EXPECT_EQ(out.status, RNN_OK);
      EXPECT_EQ(problem.difference(), "");
    }
  }
}
#endif

// Results next to each other in one array, each with a stride: nothing outside is written.
TEST(Layout, NothingElseIsWritten) {
  for (Layout layout : {Layout::Padded, Layout::Strided}) {
    for (const Schedule& schedule : schedules) {
      Problem<float>::Options o;
      o.width = 19;
      o.batch = 2;
      o.time = 50;
      o.layout = layout;
      Problem<float> problem(cellNamed("triangular"), o);
      problem.reference();
      ASSERT_EQ(problem.run(optionsFor(schedule, 6)).difference, "");
      int64_t untouched = 0;
      for (const Array& result : problem.results) {
        for (size_t i = 0; i + 4 <= result.bytes.size(); i += 4) {
          uint32_t word;
          std::memcpy(&word, result.bytes.data() + i, 4);
          untouched += word == 0xcdcdcdcd;
        }
      }
      // s0, s1, y (2 x 50 x 19) and two final states (2 x 19), each in its layout.
      const int64_t padding = layout == Layout::Padded
                                  ? 3 * (2 * 50 - 1) * 3 + 2 * (2 - 1) * 3
                                  : 3 * 2 * (2 * 50 * 19 - 1) + 2 * 2 * (2 * 19 - 1);
      EXPECT_EQ(untouched, padding);
    }
  }
}

} // namespace
} // namespace rnnc::test
