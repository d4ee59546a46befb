// Threads: the runtime's own, and those of callers.
#include "harness.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace rnnc::test {
namespace {

// Two threads give the same bits and the same report as one.
TEST(Threads, ChangeNothing) {
  for (const CellInfo& cell : allCells()) {
    Problem<float>::Options o;
    o.width = 37;
    o.batch = 2;
    o.time = 700;
    Problem<float> problem(cell, o);
    for (const Schedule& schedule : schedules) {
      for (double tolerance : {0., -1.}) {
        rnn_plan_options options = optionsFor(schedule, 16);
        options.tolerance = tolerance;
        options.threads = 1;
        const Outcome one = problem.run(options, -1, -1, false);
        std::vector<Array> results = std::move(problem.results);
        options.threads = 2;
        const Outcome two = problem.run(options, -1, -1, false);
        ASSERT_EQ(std::memcmp(&one.report, &two.report, sizeof(rnn_report)), 0) << cell.name;
        for (size_t i = 0; i < results.size(); ++i) {
          ASSERT_EQ(results[i].bytes, problem.results[i].bytes) << cell.name << " arg " << i;
        }
      }
    }
  }
}

// A plan may be used by several threads of the caller at once, each with its own workspace.
TEST(Threads, EightCallersShareAPlan) {
  Problem<float>::Options o;
  o.width = 20;
  o.time = 300;
  Problem<float> problem(cellNamed("paragru"), o);
  problem.reference();
  for (const Schedule& schedule : schedules) {
    rnn_plan_options options = optionsFor(schedule, 8);
    options.threads = 2;
    EXPECT_EQ(problem.runFromThreads(options, 8), "");
  }
}

// And a module: each makes plans of its own, streams with one that all share, and reads errors that
// are its own.
TEST(Threads, EightCallersShareAModule) {
  Table table(cellNamed("ema"));
  ModuleHandle module(table.get());
  const auto planFor = [&](int64_t lanes, uint32_t streaming) {
    const rnn_dim_value dim{"d", lanes};
    rnn_plan_options options = planOptions();
    options.dims = 1;
    options.dim = &dim;
    options.batch = 1;
    options.time = 40;
    options.streaming = streaming;
    options.threads = 2;
    rnn_plan* plan = nullptr;
    rnn_plan_create(module.module, &options, &plan);
    return plan;
  };
  rnn_plan* stream = planFor(9, 1);
  std::vector<std::string> wrong(8);
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, i] {
      const std::string mine = "dim d: size " + std::to_string(-1 - i) + " is negative";
      for (int repeat = 0; repeat < 10 && wrong[i].empty(); ++repeat) {
        if (planFor(-1 - i, 0) || rnn_error_text(module.context) != mine) {
          wrong[i] = "another thread's error: " + std::string(rnn_error_text(module.context));
        }
        // The same numbers by a plan of its own and by the stream that all share.
        rnn_plan* plan = planFor(9, 0);
        size_t bytes = 0, stateBytes = 0;
        rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
        rnn_plan_sizes(stream, nullptr, nullptr, &stateBytes);
        Workspace workspace(bytes), state(stateBytes);
        std::vector<float> x(360, .25f * float(i)), a(9, .5f), whole(360), steps(360);
        std::vector<rnn_tensor> args(5);
        rnn_plan_args(plan, args.data());
        args[0].data = x.data();
        args[1].data = a.data();
        args[2].data = whole.data();
        if (rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr) != RNN_OK ||
            rnn_state_init(stream, state.data, args.data()) != RNN_OK) {
          wrong[i] = rnn_error_text(module.context);
        }
        args[0].shape[1] = args[2].shape[1] = 1;
        for (int t = 0; t < 40 && wrong[i].empty(); ++t) {
          args[0].data = x.data() + 9 * t;
          args[2].data = steps.data() + 9 * t;
          if (rnn_step(stream, state.data, args.data(), nullptr) != RNN_OK) {
            wrong[i] = rnn_error_text(module.context);
          }
        }
        if (wrong[i].empty() && whole != steps) {
          wrong[i] = "a stream differs";
        }
        rnn_plan_destroy(plan);
      }
    });
  }
  for (std::thread& caller : callers) {
    caller.join();
  }
  rnn_plan_destroy(stream);
  EXPECT_EQ(wrong, std::vector<std::string>(8));
}

#ifdef RNN_RACING
// What the suppressions of oneTBB's own races must not hide: a race of ours.
TEST(Threads, ARaceIsReported) {
  for (const char* schedule : {"sequential", "lanes", "chunks"}) {
    const std::string command = std::string(RNN_RACING) + " " + schedule + " 2>&1";
    FILE* output = popen(command.c_str(), "r");
    ASSERT_TRUE(output);
    std::string text;
    for (int c; (c = std::fgetc(output)) != EOF;) {
      text += static_cast<char>(c);
    }
    EXPECT_NE(pclose(output), 0) << schedule;
    EXPECT_NE(text.find("ThreadSanitizer: data race"), std::string::npos) << schedule << text;
    EXPECT_NE(text.find("rnnc::runtime::"), std::string::npos) << schedule << text;
  }
}
#endif

} // namespace
} // namespace rnnc::test
