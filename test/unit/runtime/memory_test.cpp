// Which level of training a budget chooses.
#include "backward_problem.hpp"

#include "core/memory.hpp"
#include "core/status.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

using Choice = rnn_training_choice;

rnn_plan_options shapeOf(const rnn_dim_value& dim, int64_t batch, int64_t time) {
  rnn_plan_options options = planOptions();
  options.dims = 1;
  options.dim = &dim;
  options.batch = batch;
  options.time = time;
  options.compute = RNN_F64;
  return options;
}

std::vector<Choice> choicesOf(const ModuleHandle& module, const rnn_plan_options& options) {
  uint32_t count = 0;
  EXPECT_EQ(rnn_training_choices(module.module, &options, nullptr, &count), RNN_OK);
  std::vector<Choice> choices(count);
  choices.front().size = sizeof(Choice);
  EXPECT_EQ(rnn_training_choices(module.module, &options, choices.data(), &count), RNN_OK);
  return choices;
}

struct Sizes {
  size_t workspace = 0, reserve = 0;
  size_t both() const { return workspace + reserve; }
};

TEST(Memory, ChoicesAreAFrontierAndHaveTheSizesOfTheirPlans) {
  const BackwardTable table;
  const ModuleHandle module(&table.table);
  const rnn_dim_value dim = {"d", 40};
  rnn_plan_options options = shapeOf(dim, 2, 20000);
  const std::vector<Choice> choices = choicesOf(module, options);
  ASSERT_GT(choices.size(), 4u);
  EXPECT_EQ(choices.front().training, RNN_TRAINING_L1);
  for (size_t i = 0; i < choices.size(); ++i) {
    options.training = choices[i].training;
    options.checkpoint = choices[i].checkpoint;
    options.window = choices[i].window;
    rnn_plan* plan = nullptr;
    ASSERT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK);
    Sizes sizes;
    rnn_plan_sizes(plan, &sizes.workspace, &sizes.reserve, nullptr);
    rnn_plan_destroy(plan);
    EXPECT_EQ(sizes.workspace, choices[i].workspace) << i;
    EXPECT_EQ(sizes.reserve, choices[i].reserve) << i;
    EXPECT_GT(choices[i].seconds, 0);
    for (size_t j = 0; j < i; ++j) {
      EXPECT_LE(choices[j].seconds, choices[i].seconds);
      EXPECT_TRUE(choices[j].workspace > choices[i].workspace ||
                  choices[j].reserve > choices[i].reserve);
    }
  }
}

// From everything down to the least that will do.
TEST(Memory, ABudgetIsKeptAndASmallerOneNeverTakesMore) {
  const BackwardTable table;
  const Shape shape = {2, 3000, 40};
  BackwardProblem all(shape);
  ASSERT_EQ(all.run(table, optionsFor(schedules[0])), "");
  size_t last = all.workspaceBytes + all.reserveBytes;
  std::string error;
  int fitting = 0;
  for (size_t budget = last; error.empty(); budget = budget * 4 / 5) {
    BackwardProblem problem(shape);
    rnn_plan_options options = optionsFor(schedules[0]);
    options.training = RNN_TRAINING_AUTO;
    options.memory_budget = budget;
    error = problem.run(table, options);
    if (!error.empty()) {
      break;
    }
    const size_t bytes = problem.workspaceBytes + problem.reserveBytes;
    EXPECT_LE(bytes, budget);
    EXPECT_LE(bytes, last);
    last = bytes;
    ++fitting;
    EXPECT_EQ(problem.bytesOf(X), all.bytesOf(X));
    EXPECT_EQ(problem.bytesOf(A), all.bytesOf(A));
  }
  EXPECT_GT(fitting, 4);
  const std::string start = "memory_budget: ", end = "the least that would do is ";
  ASSERT_EQ(error.substr(0, start.size()), start);
  const size_t least = std::stoull(error.substr(error.find(end) + end.size()));
  EXPECT_LE(least, last);
  BackwardProblem smallest(shape);
  rnn_plan_options options = optionsFor(schedules[0]);
  options.training = RNN_TRAINING_AUTO;
  options.memory_budget = least;
  EXPECT_EQ(smallest.run(table, options), "");
  EXPECT_EQ(smallest.workspaceBytes + smallest.reserveBytes, least);
  options.memory_budget = least - 1;
  EXPECT_EQ(smallest.run(table, options).substr(0, start.size()), start);
}

Choice choice(rnn_training level, uint64_t workspace, uint64_t reserve, double seconds) {
  return {sizeof(Choice), level, 0, 0, workspace, reserve, seconds};
}

// Three layers of a fast, a middle and a small choice: by hand.
TEST(Memory, AStackSharesItsWorkspace) {
  const std::vector<Choice> layer = {choice(RNN_TRAINING_L1, 10, 100, 1),
                                     choice(RNN_TRAINING_L2, 20, 30, 1.5),
                                     choice(RNN_TRAINING_L3, 130, 0, 1.6)};
  auto levels = [&](uint64_t budget) {
    std::string text;
    for (const Choice& c : runtime::chooseStack({layer, layer, layer}, budget)) {
      text += char('0' + c.training);
    }
    std::ranges::sort(text);
    return text;
  };
  EXPECT_EQ(levels(310), "111");
  EXPECT_EQ(levels(309), "112"); // 20 + 230
  EXPECT_EQ(levels(250), "112");
  EXPECT_EQ(levels(249), "122"); // 20 + 160
  EXPECT_EQ(levels(180), "122");
  EXPECT_EQ(levels(179), "222"); // 20 + 90
  EXPECT_EQ(levels(110), "222");
  try {
    levels(109);
    FAIL();
  } catch (const runtime::Error& error) {
    EXPECT_STREQ(error.what(), "memory_budget: 109 bytes do not hold reserve and workspace; the "
                               "least that would do is 110");
  }
}

TEST(Memory, ManyLayers) {
  const BackwardTable table;
  const ModuleHandle module(&table.table);
  const rnn_dim_value dim = {"d", 40};
  const rnn_plan_options options = shapeOf(dim, 2, 20000);
  const std::vector<rnn_layer> layers(32, {module.module, &options});
  std::vector<Choice> chosen(32);
  chosen.front().size = sizeof(Choice);
  const uint64_t all = 32 * choicesOf(module, options).front().reserve;
  uint64_t last = UINT64_MAX;
  for (uint64_t budget = 2 * all; budget > all / 200; budget /= 3) {
    ASSERT_EQ(rnn_stack_choose(layers.data(), 32, budget, chosen.data()), RNN_OK)
        << rnn_error_text(module.context);
    uint64_t reserve = 0, workspace = 0;
    for (const Choice& c : chosen) {
      reserve += c.reserve;
      workspace = std::max(workspace, c.workspace);
    }
    EXPECT_LE(reserve + workspace, budget);
    EXPECT_LE(reserve + workspace, last);
    last = reserve + workspace;
  }
}

TEST(Memory, WhatIsWrongIsNamed) {
  const BackwardTable table;
  const ModuleHandle module(&table.table);
  const rnn_dim_value dim = {"d", 4};
  rnn_plan_options options = shapeOf(dim, 1, 10);
  uint32_t count = 1;
  Choice out{};
  auto error = [&](rnn_status status) {
    EXPECT_EQ(status, RNN_INVALID_ARGUMENT);
    return std::string(rnn_error_text(module.context));
  };
  EXPECT_EQ(error(rnn_training_choices(nullptr, &options, nullptr, &count)),
            "rnn_training_choices: argument `module` is null");
  EXPECT_EQ(error(rnn_training_choices(module.module, nullptr, nullptr, &count)),
            "rnn_training_choices: argument `options` is null");
  EXPECT_EQ(error(rnn_training_choices(module.module, &options, nullptr, nullptr)),
            "rnn_training_choices: argument `count` is null");
  EXPECT_EQ(
      error(rnn_training_choices(module.module, &options, &out, &count)),
      "rnn_training_choices: `size` of the first is 0; set it to sizeof(rnn_training_choice)");
  rnn_layer layer = {module.module, &options};
  EXPECT_EQ(error(rnn_stack_choose(nullptr, 1, 100, &out)),
            "rnn_stack_choose: argument `layer` is null");
  EXPECT_EQ(error(rnn_stack_choose(&layer, 1, 100, nullptr)),
            "rnn_stack_choose: argument `out` is null");
  layer.options = nullptr;
  EXPECT_EQ(error(rnn_stack_choose(&layer, 1, 100, &out)),
            "rnn_stack_choose: layer 0: `options` is null");
  EXPECT_EQ(rnn_stack_choose(nullptr, 0, 0, nullptr), RNN_OK);
}

} // namespace
} // namespace rnnc::test
