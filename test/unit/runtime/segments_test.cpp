// Packed batches, reset masks and reversed time: in every schedule each sequence is what it would
// be alone, bit for bit.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace rnnc::test {
namespace {

using Lengths = std::vector<int64_t>;

std::vector<int64_t> offsetsOf(const Lengths& lengths) {
  std::vector<int64_t> offsets = {0};
  for (int64_t length : lengths) {
    offsets.push_back(offsets.back() + length);
  }
  return offsets;
}

std::vector<uint8_t> someResets(int64_t count, int64_t oneIn, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> mask(count);
  for (uint8_t& element : mask) {
    element = random() % oneIn == 0 ? 1 + random() % 255 : 0;
  }
  return mask;
}

template <class F>
void expectEverySchedule(Problem<F>& problem, double tolerance = 0) {
  problem.reference();
  for (const Schedule& schedule : schedules) {
    for (int64_t chunk : {int64_t(1), int64_t(5), int64_t(0)}) {
      rnn_plan_options options = optionsFor(schedule, chunk);
      options.tolerance = tolerance;
      const Outcome out = problem.run(options);
      ASSERT_EQ(out.status, RNN_OK) << out.error;
      ASSERT_EQ(out.difference, "")
          << problem.cell().name << " schedule " << schedule.schedule << " vector "
          << schedule.vector << " tiles " << schedule.tiles << " chunk " << chunk;
      if (schedule.schedule == RNN_SCHEDULE_SEQUENTIAL) {
        break;
      }
    }
  }
}

const std::vector<Lengths> packings = {
    {1},
    {7, 0, 300, 1, 1, 64, 2, 0, 129},
    {0, 0, 0},
    {40, 40, 40, 40, 40, 40, 40, 40},
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
};

TEST(Segments, EveryCellInEverySchedule) {
  bool reversed = false; // takes turns
  for (const char* name :
       {"paragru", "paralstm", "ladder", "triangular", "uncoupled", "logistic", "ema"}) {
    for (const Lengths& lengths : packings) {
      Problem<float>::Options f;
      f.offsets = offsetsOf(lengths);
      f.time = f.offsets.back();
      f.width = 5; // vectors of lanes of several segments
      f.reversed = reversed = !reversed;
      Problem<float> narrow(cellNamed(name), f);
      expectEverySchedule(narrow);
      Problem<double>::Options d;
      d.offsets = f.offsets;
      d.time = f.time;
      d.heads = 2;
      d.width = 8;
      d.reversed = !reversed;
      Problem<double> wide(cellNamed(name), d);
      expectEverySchedule(wide);
    }
  }
}

TEST(Segments, LayoutsAndStorage) {
  for (Layout layout :
       {Layout::TimeMajor, Layout::Padded, Layout::Reversed, Layout::Strided, Layout::LaneMajor}) {
    for (bool blockState : {false, true}) {
      Problem<float>::Options o;
      o.offsets = offsetsOf({33, 0, 100, 7});
      o.time = o.offsets.back();
      o.width = 3;
      o.layout = layout;
      o.storage = blockState ? RNN_F64 : RNN_F32;
      o.table.blockState = blockState;
      o.reversed = layout == Layout::Strided;
      Problem<float> problem(cellNamed("paralstm"), o);
      expectEverySchedule(problem);
    }
  }
}

// An earlier input is one of the same segment, or there is none.
TEST(Segments, DelayedInputsEndAtTheBegin) {
  for (const std::vector<uint32_t>& back :
       {std::vector<uint32_t>{1}, {0, 1, 2}, {16, 0, 3}, {70, 63, 65}}) {
    for (bool reversed : {false, true}) {
      for (int64_t width : {1, 16}) {
        Problem<float>::Options o;
        o.offsets = offsetsOf({80, 1, 0, 2, 130, 5, 17});
        o.time = o.offsets.back();
        o.width = width;
        o.reversed = reversed;
        o.table.back = back;
        o.table.before = -.75;
        Problem<float> problem(cellNamed("paragru"), o);
        expectEverySchedule(problem);
        o.resets = someResets(o.time, 9, 3);
        Problem<float> both(cellNamed("paragru"), o);
        expectEverySchedule(both);
      }
    }
  }
}

TEST(Resets, EveryCellInEverySchedule) {
  bool reversed = false; // takes turns
  for (const char* name : {"paragru", "paralstm", "ladder", "triangular", "logistic", "ema"}) {
    for (int64_t oneIn : {2, 50, 100000}) {
      Problem<float>::Options o;
      o.batch = 7;
      o.width = 3; // vectors of lanes of several batch elements
      o.time = 131;
      o.resets = someResets(o.batch * o.time, oneIn, uint64_t(oneIn));
      o.reversed = reversed = !reversed;
      Problem<float> problem(cellNamed(name), o);
      expectEverySchedule(problem);
      o.batch = 2;
      o.width = 16;
      o.initial = o.reversed = !reversed;
      o.resets.resize(o.batch * o.time);
      Problem<float> wide(cellNamed(name), o);
      expectEverySchedule(wide);
    }
  }
}

TEST(Resets, AMaskWithoutDataResetsNothing) {
  Problem<float>::Options o;
  o.width = 4;
  o.time = 50;
  Problem<float> problem(cellNamed("paragru"), o);
  problem.reference();
  o.resets.assign(o.time, 0);
  Problem<float> masked(cellNamed("paragru"), o);
  masked.reference();
  const Outcome out = masked.run(planOptions());
  ASSERT_EQ(out.status, RNN_OK) << out.error;
  EXPECT_EQ(out.difference, "");
  for (int64_t t = 0; t < o.time; ++t) {
    EXPECT_EQ(problem.state(0, 0, t, 3), masked.state(0, 0, t, 3));
  }
}

// A mask for a piece is a part of the whole one; what was before a begin in an earlier piece is
// forgotten in a later one, too.
TEST(Resets, InAStream) {
  for (const std::vector<uint32_t>& back : {std::vector<uint32_t>{}, {1, 0, 3}, {70, 2, 33}}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Problem<float>::Options o;
      o.batch = 3;
      o.width = 6;
      o.time = 300;
      o.resets = someResets(o.batch * o.time, seed % 2 ? 20 : 3, seed);
      o.table.back = back;
      o.table.before = .5;
      Problem<float> problem(cellNamed("paragru"), o);
      problem.reference();
      std::vector<Piece> pieces;
      std::mt19937_64 random(seed);
      for (int64_t left = o.time; left > 0;) {
        const int64_t steps = std::min<int64_t>(left, 1 + random() % 60);
        pieces.push_back(
            {optionsFor(schedules[random() % schedules.size()], 4), steps, random() % 2 == 0});
        left -= steps;
      }
      const Outcome out = problem.runPieces(pieces);
      ASSERT_EQ(out.status, RNN_OK) << out.error;
      ASSERT_EQ(out.difference, "") << "seed " << seed;
    }
  }
}

TEST(Reversed, EveryCell) {
  for (const char* name : {"paragru", "paralstm", "logistic", "cumulative_sum"}) {
    Problem<float>::Options o;
    o.batch = 3;
    o.width = 11;
    o.time = 150;
    o.reversed = true;
    o.table.back = {2, 0, 1};
    o.table.before = .25;
    Problem<float> problem(cellNamed(name), o);
    expectEverySchedule(problem);
  }
}

// |J| near 1: what crossed a boundary would show at the end of the next segment.
TEST(Segments, ASegmentChangesNoBitOfAnother) {
  const Lengths lengths = {50, 300, 1, 20, 200, 64};
  Problem<float>::Options o;
  o.offsets = offsetsOf(lengths);
  o.time = o.offsets.back();
  o.width = 5;
  Problem<float> problem(cellNamed("cumulative_sum"), o);
  for (const Schedule& schedule : schedules) {
    const rnn_plan_options options = optionsFor(schedule, 4);
    ASSERT_EQ(problem.run(options, -1, -1, false).status, RNN_OK);
    std::vector<std::vector<unsigned char>> before;
    for (const Array& array : problem.results) {
      before.push_back(array.bytes);
    }
    const int64_t changed = 3; // of the segments
    problem.setInput(0, 0, o.offsets[changed] + 2, 1, 1e30 + double(schedule.tiles));
    ASSERT_EQ(problem.run(options, -1, -1, false).status, RNN_OK);
    for (size_t i = 0; i < before.size(); ++i) {
      const Array& array = problem.results[i];
      if (array.bytes.empty()) {
        continue;
      }
      const bool isFinal = array.tensor.rank == 2;
      const int64_t rowBytes = o.width * 4;
      for (size_t at = 0; at < array.bytes.size(); ++at) {
        const int64_t row = int64_t(at) / rowBytes;
        const bool isOwn =
            isFinal ? row == changed : row >= o.offsets[changed] && row < o.offsets[changed + 1];
        ASSERT_TRUE(isOwn || array.bytes[at] == before[i][at])
            << "result " << i << " row " << row << " vector " << schedule.vector;
      }
    }
  }
}

TEST(Segments, TenThousandOfOneStep) {
  Problem<float>::Options o;
  Lengths lengths(10000, 1);
  lengths[5000] = 0;
  o.offsets = offsetsOf(lengths);
  o.time = o.offsets.back();
  Problem<float> problem(cellNamed("paragru"), o);
  problem.reference();
  for (const Schedule& schedule : schedules) {
    const Outcome out = problem.run(optionsFor(schedule, 4));
    ASSERT_EQ(out.status, RNN_OK) << out.error;
    EXPECT_EQ(out.difference, "");
  }
  const Outcome chosen = problem.run(planOptions());
  EXPECT_EQ(chosen.difference, "");
  EXPECT_EQ(chosen.info.lanes, 10000);
}

// Lanes of several short segments share a vector: no more vector steps than a batch would take.
TEST(Segments, ShortOnesShareVectors) {
  Problem<float>::Options o;
  o.offsets = offsetsOf(Lengths(64, 20));
  o.time = o.offsets.back();
  Problem<float> packed(cellNamed("paragru"), o);
  packed.reference();
  Problem<float>::Options b;
  b.batch = 64;
  b.time = 20;
  Problem<float> batch(cellNamed("paragru"), b);
  batch.reference();
  const rnn_plan_options options = optionsFor(schedules[0]);
  EXPECT_EQ(packed.run(options).steps, batch.run(options).steps);
}

// A stiff one costs its own tiles alone.
TEST(Segments, ConvergenceIsASegmentsOwn) {
  auto sweepsOf = [](bool stiff) {
    Problem<float>::Options o;
    o.offsets = offsetsOf(Lengths(8, 512));
    o.time = o.offsets.back();
    o.width = 16;
    Problem<float> problem(cellNamed("paragru"), o);
    for (int64_t t = 0; stiff && t < 512; ++t) {
      for (int64_t lane = 0; lane < o.width; ++lane) {
        problem.setInput(0, 0, t, lane, -30); // an update gate that stays shut: it forgets nothing
      }
    }
    problem.reference();
    rnn_plan_options options = optionsFor(schedules[1], 16);
    options.chunks = 16;
    const Outcome out = problem.run(options);
    EXPECT_EQ(out.difference, "");
    return out.report.sweeps_mean * double(out.report.tiles);
  };
  const double calm = sweepsOf(false), oneStiff = sweepsOf(true);
  EXPECT_LT(oneStiff, calm + 2 * 17); // of sixteen tiles two have at most a sweep a chunk
}

TEST(Segments, ReportsArePlacesInTheArrays) {
  Problem<float>::Options o;
  o.offsets = offsetsOf({30, 100, 20});
  o.time = 150;
  o.width = 3;
  for (bool reversed : {false, true}) {
    o.reversed = reversed;
    Problem<float> problem(cellNamed("ema"), o);
    problem.setInput(0, 0, 75, 1, INFINITY);
    problem.setInput(0, 0, 140, 0, INFINITY);
    problem.reference();
    for (const Schedule& schedule : schedules) {
      const Outcome out = problem.run(optionsFor(schedule, 4));
      EXPECT_EQ(out.difference, "");
      EXPECT_EQ(out.report.first_nonfinite, reversed ? 140 : 75);
    }
  }
}

class SegmentErrors : public testing::Test {
protected:
  SegmentErrors() : table(cellNamed("ema")), module(table.get()) {
    options.dims = 1;
    options.dim = &dim;
    options.batch = 1;
    options.time = 10;
    options.offset_bits = 64;
  }
  std::string error(rnn_status expected = RNN_INVALID_ARGUMENT) {
    rnn_plan* plan = nullptr;
    EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), expected);
    rnn_plan_destroy(plan);
    return rnn_error_text(module.context);
  }
  std::string error(const std::vector<int64_t>& offsets) {
    options.segments = int64_t(offsets.size()) - 1;
    options.segment_offsets = offsets.data();
    return error();
  }

  Table table;
  ModuleHandle module;
  rnn_dim_value dim{"d", 3};
  rnn_plan_options options = planOptions();
};

TEST_F(SegmentErrors, Offsets) {
  EXPECT_EQ(error({1, 10}), "segment_offsets: the first one is 1; it must be 0");
  EXPECT_EQ(error({0, 4, 3, 10}), "segment_offsets: offset 2 is 3, less than the one before, 4");
  EXPECT_EQ(error({0, 4, 9}), "segment_offsets: the last one is 9, but time is 10");
  options.segments = 2;
  options.segment_offsets = nullptr;
  EXPECT_EQ(error(), "segment_offsets is null, but segments is 2");
  const std::vector<int64_t> good = {0, 4, 10};
  options.offset_bits = 16;
  EXPECT_EQ(error(good),
            "offset_bits is 16; it must be 32 or 64, as the type of `segment_offsets` says");
  options.offset_bits = 64;
  options.batch = 2;
  EXPECT_EQ(error(good), "batch is 2, but a packed batch, one with `segment_offsets`, is 1: its "
                         "segments are its sequences");
  options.batch = 1;
  options.segments = -1;
  options.segment_offsets = good.data();
  EXPECT_EQ(error(), "segments is -1; it cannot be negative");
  options.segments = 2;
  options.segment_offsets = reinterpret_cast<const char*>(good.data()) + 4;
  EXPECT_EQ(error(), "segment_offsets: not aligned to the 8 bytes of an offset");
  options.segment_offsets = good.data();
  options.streaming = 1;
  EXPECT_EQ(error(RNN_UNSUPPORTED), "streaming: a packed batch cannot be streamed; give its "
                                    "sequences as a batch, or each a state of its own");
  options.segment_offsets = nullptr;
  options.segments = 0;
  options.reversed = 1;
  EXPECT_EQ(error(RNN_UNSUPPORTED), "reversed: a stream goes on behind what it has seen, so its "
                                    "time cannot run backwards");
}

TEST_F(SegmentErrors, Arguments) {
  const std::vector<int32_t> offsets = {0, 4, 4, 10};
  options.segments = 3;
  options.segment_offsets = offsets.data();
  options.offset_bits = 32;
  options.reset = 1;
  rnn_plan* plan = nullptr;
  ASSERT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK)
      << rnn_error_text(module.context);
  size_t bytes;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  Workspace workspace(bytes);
  Array x({1, 10, 3}, 1, Layout::Contiguous, RNN_F32), p({3}, -1, Layout::Contiguous, RNN_F32);
  Array h({1, 10, 3}, 1, Layout::Contiguous, RNN_F32),
      wrong({1, 3}, -1, Layout::Contiguous, RNN_F32);
  Array h0({3, 3}, -1, Layout::Contiguous, RNN_F32);
  std::vector<uint8_t> mask(10);
  const rnn_tensor good{mask.data(), RNN_U8, 2, {1, 10}, {10, 1}};
  std::vector<rnn_tensor> args = {x.tensor, p.tensor, h.tensor, h0.tensor, {}, good};
  auto call = [&] {
    EXPECT_EQ(rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr),
              RNN_INVALID_ARGUMENT);
    return std::string(rnn_error_text(module.context));
  };
  EXPECT_EQ(rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr), RNN_OK);
  args[3] = wrong.tensor;
  EXPECT_EQ(call(), "argument 3 (initial state s0): shape is [1, 3], the plan has [3, 3]");
  args[3] = h0.tensor;
  args[5].dtype = RNN_F32;
  EXPECT_EQ(call(), "argument 5 (reset mask): dtype must be u8, one byte a step");
  args[5] = good;
  args[5].shape[1] = 9;
  EXPECT_EQ(call(), "argument 5 (reset mask): shape is [1, 9], the plan has [1, 10]");
  args[5] = good;
  args[5].data = h.tensor.data;
  EXPECT_EQ(call(), "argument 2 (state s0): overlaps argument 5 (reset mask); results need memory "
                    "of their own");
  args[5] = good;
  args[0].dtype = RNN_U8;
  EXPECT_EQ(call(), "argument 0 (input x0): dtype is u8, which is for masks alone");
  rnn_plan_destroy(plan);
}

} // namespace
} // namespace rnnc::test
