// Modules of several systems, and systems without lane axes.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

/// a = .75 a + .25 x and c = c + x in one state tensor s : [d, 2], each a system; y = c[t-1] - x.
class TwoSystems : public testing::TestWithParam<bool> {
protected:
  TwoSystems()
      : ema(cellNamed("ema")), sum(cellNamed("cumulative_sum")),
        tensors{{"x", RNN_ROLE_INPUT, 1, dims, sizes, 0, 0, 0, nullptr, RNN_RELATION_NONE, 0, 0},
                {"p", RNN_ROLE_PARAM, 1, dims, sizes, 0, 0, 0, nullptr, RNN_RELATION_NONE, 0, 0},
                {"s", RNN_ROLE_STATE, 2, dims, sizes, .5, 0, 0, nullptr, RNN_RELATION_NONE, 0, 0},
                {"y", RNN_ROLE_OUTPUT, 1, dims, sizes, 0, 0, 0, nullptr, RNN_RELATION_NONE, 0, 0}} {
    systems[0] = ema.system;
    systems[1] = sum.system;
    ema.states[0] = slot(2, 0);
    sum.states[0] = slot(2, 1);
    ema.inputs[0] = sum.inputs[0] = slot(0, -1);
    ema.params[0] = slot(1, -1);
    sum.outputs[0] = slot(3, -1);
    if (GetParam()) {
      systems[1].carry = 0; // one that cannot be cut beside one that can
    }
    table = ema.table;
    table.cell = "two";
    table.tensors = 4;
    table.tensor = tensors;
    table.systems = 2;
    table.system = systems;
  }

  static rnn_slot slot(uint32_t tensor, int64_t at) {
    rnn_slot s{};
    s.tensor = tensor;
    std::fill(s.lane_axis, s.lane_axis + RNN_MAX_RANK, -1);
    s.lane_axis[0] = 0;
    s.at[1] = std::max<int64_t>(at, 0);
    return s;
  }

  const char* dims[2] = {"d", ""};
  int64_t sizes[2] = {-1, 2};
  Table ema, sum;
  rnn_tensor_desc tensors[4];
  rnn_system_desc systems[2];
  rnn_module_table table{};
};

TEST_P(TwoSystems, AreSolvedTogether) {
  ModuleHandle module(&table);
  ASSERT_EQ(module.status, RNN_OK) << rnn_error_text(module.context);
  const int64_t B = 2, T = 333, d = 19;
  Array x({B, T, d}, 1, Layout::Contiguous, RNN_F32), p({d}, -1, Layout::Contiguous, RNN_F32);
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t j = 0; j < d; ++j) {
        x.set(std::array{b, t, j}, std::sin(double(t * (j + 1) + b)));
      }
    }
  }
  for (int64_t j = 0; j < d; ++j) {
    p.set(std::array{j}, .75);
  }
  for (const Schedule& schedule : schedules) {
    Array s({B, T, d, 2}, 1, Layout::Contiguous, RNN_F32),
        y({B, T, d}, 1, Layout::Contiguous, RNN_F32),
        last({B, d, 2}, -1, Layout::Contiguous, RNN_F32);
    rnn_plan_options o = planOptions();
    const rnn_dim_value dim = {"d", d};
    o.dims = 1;
    o.dim = &dim;
    o.batch = B;
    o.time = T;
    o.schedule = schedule.schedule;
    o.vector = schedule.vector;
    o.tiles = schedule.tiles;
    rnn_plan* plan = nullptr;
    ASSERT_EQ(rnn_plan_create(module.module, &o, &plan), RNN_OK) << rnn_error_text(module.context);
    size_t bytes;
    rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
    Workspace workspace(bytes);
    const rnn_tensor args[] = {x.tensor, p.tensor, s.tensor, y.tensor, rnn_tensor{}, last.tensor};
    ASSERT_EQ(rnn_forward(plan, args, workspace.data, nullptr, nullptr), RNN_OK)
        << rnn_error_text(module.context);
    rnn_plan_destroy(plan);
    for (int64_t b = 0; b < B; ++b) {
      for (int64_t j = 0; j < d; ++j) {
        float a = .5f, c = .5f;
        for (int64_t t = 0; t < T; ++t) {
          const float in = float(x.get(std::array{b, t, j}));
          ASSERT_EQ(y.get(std::array{b, t, j}), c - in);
          a = .75f * a + (1 - .75f) * in;
          c = c + in;
          ASSERT_EQ(s.get(std::array{b, t, j, int64_t(0)}), a);
          ASSERT_EQ(s.get(std::array{b, t, j, int64_t(1)}), c);
        }
        ASSERT_EQ(last.get(std::array{b, j, int64_t(0)}), a);
        ASSERT_EQ(last.get(std::array{b, j, int64_t(1)}), c);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Systems, TwoSystems, testing::Bool(), [](const auto& info) {
  return info.param ? "OneSequentialOnly" : "BothParallel";
});

// A cell of scalars: the batch elements are the lanes.
TEST(Systems, WithoutLaneAxes) {
  Table::Options options;
  options.laneRank = 0;
  Table table(cellNamed("ema"), options);
  ModuleHandle module(table.get());
  ASSERT_EQ(module.status, RNN_OK) << rnn_error_text(module.context);
  const int64_t B = 5, T = 200;
  Array x({B, T}, 1, Layout::Contiguous, RNN_F32), p({}, -1, Layout::Contiguous, RNN_F32);
  p.set({}, .75);
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t t = 0; t < T; ++t) {
      x.set(std::array{b, t}, double((7 * t + b) % 13));
    }
  }
  for (const Schedule& schedule : schedules) {
    Array s({B, T}, 1, Layout::Contiguous, RNN_F32);
    rnn_plan_options o = planOptions();
    o.batch = B;
    o.time = T;
    o.schedule = schedule.schedule;
    o.vector = schedule.vector;
    o.tiles = schedule.tiles;
    rnn_plan* plan = nullptr;
    ASSERT_EQ(rnn_plan_create(module.module, &o, &plan), RNN_OK) << rnn_error_text(module.context);
    size_t bytes;
    rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
    Workspace workspace(bytes);
    const rnn_tensor args[] = {x.tensor, p.tensor, s.tensor, rnn_tensor{}, rnn_tensor{}};
    ASSERT_EQ(rnn_forward(plan, args, workspace.data, nullptr, nullptr), RNN_OK);
    rnn_plan_destroy(plan);
    for (int64_t b = 0; b < B; ++b) {
      float a = .25f;
      for (int64_t t = 0; t < T; ++t) {
        a = .75f * a + (1 - .75f) * float(x.get(std::array{b, t}));
        ASSERT_EQ(s.get(std::array{b, t}), a);
      }
    }
  }
}

} // namespace
} // namespace rnnc::test
