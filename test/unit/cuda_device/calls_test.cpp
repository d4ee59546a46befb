// What rnn_forward asks of the driver, call by call; streams, graphs, contexts and several devices.
#include "kernels.hpp"
#include "mock.hpp"

#include <thread>

namespace rnnc::test {
namespace {

using Names = std::vector<std::string>;

TEST(Calls, LaunchesWhatTheUnitSays) {
  EmaModule module;
  EmaCall call(module, 3, 10, 100);
  void* stream = mock().makeStream(0);
  mock().forget();
  ASSERT_EQ(call.forward(stream), RNN_OK) << module.error();
  const std::vector<mock_cuda::Launch> launches = mock().launches();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].name, "ema_unit");
  EXPECT_EQ(launches[0].grid[0], 10u); // 300 lanes in blocks of 32
  EXPECT_EQ(launches[0].grid[1] * launches[0].grid[2], 1u);
  EXPECT_EQ(launches[0].block[0], 32u);
  EXPECT_EQ(launches[0].block[1], 8u);
  EXPECT_EQ(launches[0].block[2], 1u);
  EXPECT_EQ(launches[0].shared, module.unit.entry.shared_bytes);
  EXPECT_EQ(launches[0].stream, stream);
  rnn_plan_info info{};
  info.size = sizeof(info);
  ASSERT_EQ(rnn_plan_describe(call.plan, &info), RNN_OK);
  EXPECT_EQ(info.chunk, 4);
  EXPECT_EQ(info.chunks, 8);
  EXPECT_EQ(info.lanes, 300);
  EXPECT_EQ(info.groups, 10);
  mock().wait(stream);
}

TEST(Calls, LargeSharedMemoryIsAskedForOnce) {
  EmaModule module("ema_shared");
  // More than the 48 KiB that a kernel may have unasked: the mock refuses the launch without.
  module.unit.entry.shared_bytes = 100 << 10;
  mock().forget();
  EmaCall call(module, 1, 4, 8);
  const Names made = mock().calls();
  EXPECT_EQ(std::count(made.begin(), made.end(), "cuFuncSetAttribute"), 1);
  mock().forget();
  EXPECT_EQ(call.forward(), RNN_OK) << module.error();
  EXPECT_EQ(mock().launches().at(0).shared, 100u << 10);
}

TEST(Calls, ForwardNeitherAllocatesNorWaits) {
  EmaModule module;
  EmaCall call(module, 2, 40, 5);
  void* stream = mock().makeStream(0);
  for (int time = 0; time < 2; ++time) { // the first call is like any other
    mock().forget();
    ASSERT_EQ(call.forward(stream), RNN_OK) << module.error();
    Names expected{"cuCtxPushCurrent", "cuStreamGetCtx"};
    expected.insert(expected.end(), 1 + call.args.size(), "cuPointerGetAttributes");
    expected.insert(expected.end(),
                    {"cuMemsetD32Async", "cuLaunchKernel", "cuMemsetD32Async", "cuCtxPopCurrent"});
    EXPECT_EQ(mock().calls(), expected);
  }
  mock().wait(stream);
}

TEST(Calls, NothingIsLaunchedForNoLanes) {
  EmaModule module;
  EmaCall call(module, 0, 40, 5);
  mock().forget();
  EXPECT_EQ(call.forward(), RNN_OK) << module.error();
  EXPECT_TRUE(mock().launches().empty());
  rnn_report report{};
  report.size = sizeof(report);
  EXPECT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_OK) << module.error();
}

TEST(Calls, AReportIsThereOnceTheStreamIsWaitedFor) {
  EmaModule module;
  EmaCall call(module, 2, 40, 5);
  rnn_report report{};
  report.size = sizeof(report);
  EXPECT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_INVALID_ARGUMENT);
  EXPECT_NE(module.error().find("holds no report"), std::string::npos) << module.error();
  void* stream = mock().makeStream(0);
  ASSERT_EQ(call.forward(stream), RNN_OK);
  mock().wait(stream);
  ASSERT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_OK) << module.error();
  EXPECT_EQ(report.tiles, 2); // 10 lanes are one group, 40 steps two tiles of 32
}

TEST(Calls, WhatIsCurrentStaysCurrent) {
  for (int before : {-1, 1}) {
    mock().makeCurrent(1); // retained by nobody yet
    EmaModule other;
    EmaCall holder(other, 1, 1, 1, 1);
    mock().makeCurrent(before);
    EmaModule module;
    EmaCall call(module, 2, 8, 5);
    EXPECT_EQ(mock().current(), before);
    EXPECT_EQ(call.forward(), RNN_OK) << module.error();
    EXPECT_EQ(mock().current(), before);
    rnn_report report{};
    report.size = sizeof(report);
    EXPECT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_OK) << module.error();
    EXPECT_EQ(mock().current(), before);
  }
  mock().makeCurrent(-1);
}

TEST(Calls, EverythingIsGivenBack) {
  const int retained = mock().retained(0), modules = mock().modules();
  {
    EmaModule module("ema_given_back");
    EmaCall call(module, 2, 8, 5);
    EXPECT_EQ(mock().retained(0), retained + 1);
    EXPECT_EQ(mock().modules(), modules + 1);
    EXPECT_EQ(call.forward(), RNN_OK);
  }
  EXPECT_EQ(mock().retained(0), retained);
  EXPECT_EQ(mock().modules(), modules);
}

TEST(Calls, APlanOutlivesItsModuleAndContext) {
  rnn_plan* plan = nullptr;
  std::vector<rnn_tensor> args;
  void* workspace = nullptr;
  EmaModule kept; // the table must stay
  {
    EmaCall call(kept, 1, 5, 3);
    args = call.args;
    workspace = call.workspace;
  }
  {
    ModuleHandle module(kept.table.get());
    rnn_plan_options options = cudaOptions();
    const rnn_dim_value dim{"d", 3};
    options.dims = 1;
    options.dim = &dim;
    options.batch = 1;
    options.time = 5;
    ASSERT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK);
  }
  EXPECT_EQ(rnn_forward(plan, args.data(), workspace, nullptr, nullptr), RNN_OK);
  rnn_plan_destroy(plan);
}

/// The last state of the average by hand.
float lastState(const EmaCall& call, int64_t batch, int64_t lane) {
  const auto* x = static_cast<const float*>(call.args[0].data);
  const float a = static_cast<const float*>(call.args[1].data)[lane];
  float state =
      static_cast<const float*>(call.args[3].data)[batch * call.args[3].strides[0] + lane];
  for (int64_t t = 0; t < call.args[0].shape[1]; ++t) {
    state = a * state +
            (1 - a) * x[batch * call.args[0].strides[0] + t * call.args[0].strides[1] + lane];
  }
  return state;
}

float finalState(const EmaCall& call, int64_t batch, int64_t lane) {
  return static_cast<const float*>(call.args[4].data)[batch * call.args[4].strides[0] + lane];
}

TEST(Graphs, ACapturedCallIsReplayed) {
  EmaModule module;
  EmaCall call(module, 2, 37, 5);
  void* stream = mock().makeStream(0);
  mock().beginCapture(stream);
  ASSERT_EQ(call.forward(stream), RNN_OK) << module.error();
  const mock_cuda::Graph graph = mock().endCapture(stream);
  EXPECT_EQ(graph.result, 0) << "something in it waits or allocates";
  EXPECT_EQ(graph.nodes, 3u); // clear, solve, mark
  for (float shift : {0.f, 1.f, -2.f}) {
    for (int64_t i = 0; i < call.numbers; ++i) {
      static_cast<float*>(call.args[0].data)[i] += shift;
    }
    mock().replay(graph.handle, stream);
    mock().wait(stream);
    for (int64_t lane = 0; lane < 5; ++lane) {
      EXPECT_NEAR(finalState(call, 1, lane), lastState(call, 1, lane), 1e-5);
    }
    rnn_report report{};
    report.size = sizeof(report);
    ASSERT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_OK) << module.error();
    EXPECT_EQ(report.tiles, 2); // of this replay alone
  }
}

TEST(Graphs, APlanIsNotMadeMeanwhile) {
  EmaModule module("ema_captured");
  void* stream = mock().makeStream(0);
  mock().beginCapture(stream);
  EXPECT_EQ(module.plan(1, 1, 1), nullptr);
  EXPECT_NE(module.error().find("captured"), std::string::npos) << module.error();
  EXPECT_NE(mock().endCapture(stream).result, 0);
  rnn_plan* plan = module.plan(1, 1, 1);
  EXPECT_NE(plan, nullptr) << module.error();
  rnn_plan_destroy(plan);
}

TEST(Devices, EachHasItsOwn) {
  EmaModule module;
  const int before = mock().modules();
  EmaCall first(module, 2, 8, 5, 0), second(module, 2, 8, 5, 1);
  EXPECT_EQ(mock().modules(), before + 2);
  void* stream = mock().makeStream(1);
  ASSERT_EQ(first.forward(), RNN_OK) << module.error();
  ASSERT_EQ(second.forward(stream), RNN_OK) << module.error();
  mock().wait(stream);
  EXPECT_NEAR(finalState(second, 1, 3), lastState(second, 1, 3), 1e-5);
  rnn_plan_info info{};
  info.size = sizeof(info);
  rnn_plan_describe(second.plan, &info);
  EXPECT_EQ(info.ordinal, 1);
}

TEST(Devices, AStreamOfAnotherOneIsRefused) {
  EmaModule module;
  EmaCall call(module, 2, 8, 5, 0);
  EXPECT_EQ(call.forward(mock().makeStream(1)), RNN_INVALID_ARGUMENT);
  EXPECT_NE(module.error().find("`stream` is not of the primary context of CUDA device 0"),
            std::string::npos)
      << module.error();
  EXPECT_EQ(call.forward(), RNN_OK);
}

TEST(Devices, MemoryOfAnotherOneIsRefused) {
  EmaModule module;
  EmaCall call(module, 2, 8, 5, 0), other(module, 2, 8, 5, 1);
  std::swap(call.args[1], other.args[1]);
  EXPECT_EQ(call.forward(), RNN_INVALID_ARGUMENT);
  EXPECT_NE(module.error().find("argument 1 (param p0): data is in the memory of CUDA device 1"),
            std::string::npos)
      << module.error();
  std::swap(call.args[1], other.args[1]);
  std::swap(call.workspace, other.workspace);
  EXPECT_EQ(call.forward(), RNN_INVALID_ARGUMENT);
  EXPECT_NE(module.error().find("argument `workspace`"), std::string::npos) << module.error();
  std::swap(call.workspace, other.workspace);
  EXPECT_EQ(call.forward(), RNN_OK);
}

TEST(Devices, TheHostsMemoryIsRefused) {
  EmaModule module;
  EmaCall call(module, 2, 8, 5);
  std::vector<float> host(5);
  call.args[1].data = host.data();
  EXPECT_EQ(call.forward(), RNN_INVALID_ARGUMENT);
  EXPECT_NE(module.error().find("argument 1 (param p0): data is not in memory that CUDA device 0"),
            std::string::npos)
      << module.error();
}

TEST(Devices, OneThatIsMissing) {
  EmaModule module;
  for (int ordinal : {3, -1}) {
    EXPECT_EQ(module.plan(1, 1, 1, ordinal), nullptr);
    EXPECT_NE(module.error().find("there is no CUDA device " + std::to_string(ordinal) +
                                  ": they are 0 to 2"),
              std::string::npos)
        << module.error();
  }
}

TEST(Devices, SeveralThreadsPlanAndCall) {
  EmaModule module("ema_threads");
  const int before = compiled();
  std::vector<std::thread> threads;
  std::atomic<int> fine = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        EmaCall call(module, 1, 3, 2 + i, i % 2);
        fine += call.plan && call.forward() == RNN_OK;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(fine, 20);
  EXPECT_EQ(compiled(), before + 1); // both devices are of one architecture
}

} // namespace
} // namespace rnnc::test
