// How far a call is, as another thread would see it.
#include "harness.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

constexpr int64_t steps = 200000;

rnn_plan_options optionsOf(rnn_schedule schedule, rnn_vector vector, rnn_tiles tiles) {
  rnn_plan_options o = planOptions();
  o.schedule = schedule;
  o.vector = vector;
  o.tiles = tiles;
  return o;
}

const rnn_plan_options all[] = {
    optionsOf(RNN_SCHEDULE_SEQUENTIAL, RNN_VECTOR_AUTO, RNN_TILES_AUTO),
    optionsOf(RNN_SCHEDULE_PARALLEL, RNN_VECTOR_LANES, RNN_TILES_SEQUENCE),
    optionsOf(RNN_SCHEDULE_PARALLEL, RNN_VECTOR_CHUNKS, RNN_TILES_SEQUENCE),
    optionsOf(RNN_SCHEDULE_PARALLEL, RNN_VECTOR_LANES, RNN_TILES_PARALLEL),
    optionsOf(RNN_SCHEDULE_PARALLEL, RNN_VECTOR_CHUNKS, RNN_TILES_PARALLEL),
};

// The largest jump from one shot to the next.
double largestStep(const std::vector<double>& told) {
  double largest = 0;
  for (size_t i = 1; i < told.size(); ++i) {
    largest = std::max(largest, told[i] - told[i - 1]);
  }
  return largest;
}

std::vector<double> progressOf(const char* cell, int64_t time, rnn_plan_options options,
                               int threads = 1) {
  options.threads = threads;
  Problem<float>::Options o;
  o.width = 2;
  o.time = time;
  Problem<float> problem(cellNamed(cell), o);
  return problem.progress(options);
}

TEST(Progress, GrowsFromNothingToAll) {
  for (const rnn_plan_options& options : all) {
    const std::vector<double> told = progressOf("ema", steps, options);
    ASSERT_GE(told.size(), 5u);
    EXPECT_EQ(told.front(), 0);
    EXPECT_EQ(told.back(), 1);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_LT(told[told.size() - 2], 1) << "before the last shot it is not done";
    EXPECT_LT(largestStep(told), .45);
  }
}

// Tiles in parallel that do not contract are guessed first and gone through afterwards.
TEST(Progress, OfChaos) {
  for (const rnn_plan_options& options : all) {
    const std::vector<double> told = progressOf("logistic", steps, options);
    EXPECT_EQ(told.front(), 0);
    EXPECT_EQ(told.back(), 1);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  }
}

// Read by one thread while two others count.
TEST(Progress, FromAnotherThread) {
  for (const rnn_plan_options& options : all) {
    const std::vector<double> told = progressOf("ema", steps, options, 2);
    EXPECT_EQ(told.front(), 0);
    EXPECT_EQ(told.back(), 1);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  }
}

TEST(Progress, OfNothing) {
  for (const rnn_plan_options& options : all) {
    EXPECT_EQ(progressOf("ema", 0, options), (std::vector<double>{0, 1}));
  }
}

TEST(Progress, ArgumentsAreChecked) {
  const Table table(cellNamed("ema"));
  const ModuleHandle handle(table.get());
  const rnn_dim_value dim{"d", 2};
  rnn_plan_options o = planOptions();
  o.dims = 1;
  o.dim = &dim;
  o.batch = o.time = 1;
  rnn_plan* plan = nullptr;
  ASSERT_EQ(rnn_plan_create(handle.module, &o, &plan), RNN_OK);
  double fraction = 0;
  const Workspace workspace(4096);
  EXPECT_EQ(rnn_progress_read(nullptr, workspace.data, &fraction), RNN_INVALID_ARGUMENT);
  EXPECT_EQ(rnn_progress_read(plan, nullptr, &fraction), RNN_INVALID_ARGUMENT);
  EXPECT_EQ(rnn_progress_read(plan, workspace.data, nullptr), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(handle.context), "rnn_progress_read: argument `fraction` is null");
  rnn_plan_destroy(plan);
}

} // namespace
} // namespace rnnc::test
