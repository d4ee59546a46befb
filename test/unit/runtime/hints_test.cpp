// What a module's file wishes of the solve, and that a plan's own options win.
#include "harness.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace rnnc::test {
namespace {

constexpr double fourUlp = 4 * double(std::numeric_limits<float>::epsilon());

struct Planned {
  rnn_status status = RNN_OK;
  std::string error;
  rnn_plan_info info{};
};

/// A plan of paragru for one lane and many steps, which is parallel by itself.
Planned plan(const rnn_solve_hints& solve, const std::function<void(rnn_plan_options&)>& change) {
  Table::Options o;
  o.cost = {30, 5, 5};
  Table table(cellNamed("paragru"), o);
  table.table.solve = solve;
  ModuleHandle module(table.get());
  EXPECT_EQ(module.status, RNN_OK) << rnn_error_text(module.context);
  rnn_dim_value d{"d", 1};
  rnn_plan_options options = planOptions();
  options.dims = 1;
  options.dim = &d;
  options.batch = 1;
  options.time = 1'000'000;
  options.tolerance = -1;
  change(options);
  Planned planned;
  rnn_plan* made = nullptr;
  planned.status = rnn_plan_create(module.module, &options, &made);
  planned.error = rnn_error_text(module.context);
  planned.info.size = sizeof(planned.info);
  if (made) {
    EXPECT_EQ(rnn_plan_describe(made, &planned.info), RNN_OK);
  }
  rnn_plan_destroy(made);
  return planned;
}

TEST(Hints, Tolerance) {
  auto nothing = [](rnn_plan_options&) {};
  EXPECT_EQ(plan({}, nothing).info.tolerance, fourUlp);
  EXPECT_EQ(plan({1, 1e-3, 0, 0}, nothing).info.tolerance, 1e-3);
  EXPECT_EQ(plan({1, 0, 0, 0}, nothing).info.tolerance, 0); // bit for bit
  EXPECT_EQ(plan({0, 1e-3, 0, 0}, nothing).info.tolerance, fourUlp);
  EXPECT_EQ(plan({1, 1e-3, 0, 0}, [](rnn_plan_options& o) { o.tolerance = 0; }).info.tolerance, 0);
  EXPECT_EQ(plan({1, 1e-3, 0, 0}, [](rnn_plan_options& o) { o.tolerance = .5; }).info.tolerance,
            .5);
}

TEST(Hints, ChunkIsAWishForTheParallelSchedule) {
  auto nothing = [](rnn_plan_options&) {};
  Planned wished = plan({0, 0, 0, 96}, nothing);
  EXPECT_EQ(wished.info.schedule, RNN_SCHEDULE_PARALLEL);
  EXPECT_EQ(wished.info.chunk, 96);
  EXPECT_EQ(plan({0, 0, 0, 96}, [](rnn_plan_options& o) { o.chunk = 32; }).info.chunk, 32);
  Planned sequential =
      plan({0, 0, 0, 96}, [](rnn_plan_options& o) { o.schedule = RNN_SCHEDULE_SEQUENTIAL; });
  EXPECT_EQ(sequential.status, RNN_OK) << sequential.error;
  EXPECT_EQ(sequential.info.schedule, RNN_SCHEDULE_SEQUENTIAL);
  // Where the loop is the better choice a wish does not change it; and no chunk is longer than
  // time.
  EXPECT_EQ(plan({0, 0, 0, 96}, [](rnn_plan_options& o) { o.time = 3; }).info.schedule,
            RNN_SCHEDULE_SEQUENTIAL);
  Planned shorter = plan({0, 0, 0, 1'000'000'000}, [](rnn_plan_options& o) {
    o.time = 50;
    o.schedule = RNN_SCHEDULE_PARALLEL;
  });
  EXPECT_EQ(shorter.status, RNN_OK) << shorter.error;
  EXPECT_EQ(shorter.info.chunk, 50);
}

TEST(Hints, SweepsCountWithATolerance) {
  Problem<float>::Options o;
  o.time = 4096;
  Problem<float> problem(cellNamed("logistic"), o);
  problem.setParam(0, 0, 3.9); // chaos: two sweeps are not enough
  problem.setInitial(0, 0, 0, .3);
  problem.reference();
  problem.table.table.solve = {1, 1e-5, 2, 0};
  rnn_plan_options options =
      optionsFor({RNN_SCHEDULE_PARALLEL, RNN_VECTOR_LANES, RNN_TILES_SEQUENCE}, 16, 16);
  options.tolerance = -1;
  EXPECT_EQ(problem.run(options, -1, -1, false).status, RNN_NOT_CONVERGED);
  options.max_sweeps = 1000;
  EXPECT_EQ(problem.run(options, -1, -1, false).status, RNN_OK);
  options.max_sweeps = 0;
  options.tolerance = 0; // then there is nothing to give up
  const Outcome exact = problem.run(options);
  EXPECT_EQ(exact.status, RNN_OK) << exact.error;
  EXPECT_EQ(exact.difference, "");
  // The wish for exactness and the caller's limit contradict each other.
  problem.table.table.solve = {1, 0, 0, 0};
  options.tolerance = -1;
  options.max_sweeps = 5;
  EXPECT_EQ(problem.run(options, -1, -1, false).status, RNN_INVALID_ARGUMENT);
}

std::string refused(const std::function<void(Table&)>& change) {
  Table table(cellNamed("triangular"));
  change(table);
  ModuleHandle module(table.get());
  EXPECT_EQ(module.status, RNN_INVALID_ARGUMENT);
  return rnn_error_text(module.context);
}

TEST(Hints, AreChecked) {
  EXPECT_EQ(refused([](Table& t) { t.table.solve = {1, -1, 0, 0}; }),
            "module triangular: `solve` wishes the tolerance -1");
  EXPECT_EQ(refused([](Table& t) { t.table.solve = {0, 0, -2, 0}; }),
            "module triangular: `solve` wishes max_sweeps -2");
  EXPECT_EQ(refused([](Table& t) { t.table.solve = {0, 0, 0, -3}; }),
            "module triangular: `solve` wishes the chunk -3");
}

TEST(Starts, AreChecked) {
  const std::string name = "module triangular: tensor s0 ";
  auto state = [](Table& t) -> rnn_tensor_desc& { return t.tensors[t.states[0].tensor]; };
  EXPECT_EQ(refused([&](Table& t) { state(t).start = 1; }),
            name + "starts from tensor 0, which is no param");
  EXPECT_EQ(refused([&](Table& t) { state(t).start = 99; }),
            name + "starts from tensor 98, which is no param");
  EXPECT_EQ(refused([&](Table& t) {
              static const char* const dims[] = {"other"};
              t.tensors[t.params[0].tensor].dims = dims;
              t.system.params = 0; // what else reads it is not the question here
              state(t).start = 1 + t.params[0].tensor;
            }),
            name + "cannot start from the param p0");
}

} // namespace
} // namespace rnnc::test
