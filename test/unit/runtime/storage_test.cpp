// Arrays of every type: what is stored is what the compute type has, rounded once.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

constexpr rnn_dtype types[] = {RNN_F32, RNN_F64, RNN_BF16, RNN_F16};

template <class F>
void expectEveryPair(typename Problem<F>::Options o, const char* cell) {
  for (rnn_dtype from : types) {
    for (rnn_dtype to : types) {
      o.storage = from;
      o.resultStorage = to;
      Problem<F> problem(cellNamed(cell), o);
      problem.reference();
      for (const Schedule& schedule : schedules) {
        const Outcome out = problem.run(optionsFor(schedule, 4));
        ASSERT_EQ(out.status, RNN_OK) << out.error;
        ASSERT_EQ(out.difference, "") << "stored as " << from << " and " << to;
      }
    }
  }
}

TEST(Storage, EveryTypeInEveryLayout) {
  for (Layout layout : {Layout::Contiguous, Layout::Reversed, Layout::Strided, Layout::LaneMajor}) {
    Problem<float>::Options f;
    f.batch = 2;
    f.width = 17;
    f.time = 70;
    f.layout = layout;
    expectEveryPair<float>(f, "paragru");
    Problem<double>::Options d;
    d.width = 5;
    d.time = 70;
    d.layout = layout;
    d.table.blockState = true;
    expectEveryPair<double>(d, "paralstm");
  }
}

// What delayed inputs read is kept in the compute type.
TEST(Storage, Streams) {
  for (rnn_dtype type : types) {
    Problem<float>::Options o;
    o.batch = 2;
    o.width = 3;
    o.time = 60;
    o.storage = type;
    o.table.back = {1, 0, 5};
    Problem<float> problem(cellNamed("paragru"), o);
    problem.reference();
    const Outcome out = problem.runPieces({{optionsFor(schedules[0]), 17, false},
                                           {optionsFor(schedules[0]), 20, true},
                                           {optionsFor(schedules[1], 4), 23, false}});
    ASSERT_EQ(out.status, RNN_OK) << out.error;
    EXPECT_EQ(out.difference, "");
  }
}

/// How far a run with arrays of `type` is from one with f32 arrays. Params are numbers that all
/// types have: what rounding those does is a matter of the cell, 1 / (1 - a) of it in an average.
double errorOf(const char* cell, rnn_dtype type) {
  Problem<float>::Options o;
  o.batch = 4;
  o.width = 32;
  o.time = 1024;
  auto setParams = [&](Problem<float>& problem) {
    std::mt19937_64 random(3);
    for (int i = 0; i < problem.cell().params; ++i) {
      for (int64_t lane = 0; lane < o.width; ++lane) {
        problem.setParam(i, lane, double(random() % 225) / 256);
      }
    }
  };
  Problem<float> wide(cellNamed(cell), o);
  setParams(wide);
  wide.reference();
  o.storage = type;
  Problem<float> narrow(cellNamed(cell), o); // draws the same numbers, and rounds them
  setParams(narrow);
  EXPECT_EQ(narrow.run(planOptions(), -1, -1, false).status, RNN_OK);
  narrow.takeReference(wide);
  return narrow.error();
}

// docs/runtime.md has the table. Half of bf16's unit is 2^-9, of f16's 2^-12.
TEST(Storage, AccuracyOfContractiveCells) {
  for (const char* cell : {"paragru", "paralstm", "ema"}) {
    const double bf16 = errorOf(cell, RNN_BF16), f16 = errorOf(cell, RNN_F16);
    EXPECT_LE(bf16, 0x1p-8) << cell;
    EXPECT_LE(f16, 0x1p-11) << cell;
    EXPECT_GT(bf16, 0x1p-12) << cell; // the numbers were really narrow
    EXPECT_GT(f16, 0x1p-15) << cell;
    std::printf("%-10s bf16 %.1e f16 %.1e\n", cell, bf16, f16);
  }
}

} // namespace
} // namespace rnnc::test
