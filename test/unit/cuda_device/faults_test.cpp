// Every error that the driver can give, at every place where it can: a status and a text come back,
// and the next call works.
#include "mock.hpp"

#include <map>
#include <set>

namespace rnnc::test {
namespace {

/// What a call of the runtime may do while the driver fails; the status that it gave.
using Attempt = std::function<rnn_status()>;

/// How often each function is called by an attempt.
std::map<std::string, int> countCalls(const Attempt& attempt) {
  mock().forget();
  EXPECT_EQ(attempt(), RNN_OK);
  std::map<std::string, int> counts;
  for (const std::string& name : mock().calls()) {
    ++counts[name];
  }
  return counts;
}

/// Fails each call of each function once, and tries again behind it.
void failEach(const std::map<std::string, int>& counts, const std::set<std::string>& harmless,
              const std::function<std::string()>& text, const std::function<Attempt()>& fresh) {
  for (const auto& [name, times] : counts) {
    for (int skipped = 0; skipped < times; ++skipped) {
      for (int result : {2, 719}) {
        SCOPED_TRACE(name + " " + std::to_string(skipped) + ": " + std::to_string(result));
        const Attempt attempt = fresh();
        const int modules = mock().modules();
        mock().forget();
        mock().failOnce(name, result, skipped);
        const rnn_status status = attempt();
        const std::string told = text();
        if (harmless.count(name) == 0) {
          EXPECT_EQ(status, result == 2 ? RNN_OUT_OF_MEMORY : RNN_DEVICE_FAILED) << told;
          EXPECT_NE(
              told.find(result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_LAUNCH_FAILED"),
              std::string::npos)
              << told;
          EXPECT_EQ(mock().modules(), modules) << "something half loaded is left";
        }
        mock().makeCurrent(-1); // where it was the driver that did not restore it
        mock().forget();
        EXPECT_EQ(attempt(), RNN_OK) << text();
      }
    }
  }
}

TEST(Faults, InPlanCreate) {
  // A module of its own each time, so that its program has to be loaded again.
  std::shared_ptr<EmaModule> module;
  std::vector<rnn_plan*> plans;
  const auto fresh = [&]() -> Attempt {
    for (rnn_plan* plan : plans) {
      rnn_plan_destroy(plan);
    }
    plans.clear();
    module = std::make_shared<EmaModule>("faults_plan");
    return [&] {
      rnn_plan_options options = cudaOptions();
      const rnn_dim_value dim{"d", 3};
      options.dims = 1;
      options.dim = &dim;
      options.batch = options.time = 2;
      rnn_plan* plan = nullptr;
      const rnn_status status = rnn_plan_create(module->module.module, &options, &plan);
      EXPECT_EQ(plan != nullptr, status == RNN_OK);
      plans.push_back(plan);
      return status;
    };
  };
  const std::map<std::string, int> counts = countCalls(fresh());
  EXPECT_EQ(counts.count("cuModuleLoadData"), 1u);
  EXPECT_EQ(counts.count("cuDevicePrimaryCtxRetain"), 1u);
  // Unloading what was found out to be of no use cannot fail the call again.
  failEach(
      counts, {"cuModuleUnload", "cuDevicePrimaryCtxRelease"}, [&] { return module->error(); },
      fresh);
  fresh();
}

TEST(Faults, InForward) {
  EmaModule module;
  EmaCall call(module, 2, 40, 5);
  void* stream = mock().makeStream(0);
  const Attempt attempt = [&] { return call.forward(stream); };
  const std::map<std::string, int> counts = countCalls(attempt);
  EXPECT_EQ(counts.at("cuMemsetD32Async"), 2);
  failEach(counts, {}, [&] { return module.error(); }, [&] { return attempt; });
  mock().wait(stream);
  EXPECT_GT(static_cast<float*>(call.args[4].data)[0], 0);
}

TEST(Faults, ABrokenCallLeavesNoReport) {
  EmaModule module;
  EmaCall call(module, 2, 40, 5);
  rnn_report report{};
  report.size = sizeof(report);
  ASSERT_EQ(call.forward(), RNN_OK);
  ASSERT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_OK);
  mock().failOnce("cuLaunchKernel", 719);
  ASSERT_EQ(call.forward(), RNN_DEVICE_FAILED);
  EXPECT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_INVALID_ARGUMENT);
  EXPECT_NE(module.error().find("holds no report"), std::string::npos) << module.error();
  ASSERT_EQ(call.forward(), RNN_OK);
  EXPECT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_OK);
}

TEST(Faults, InReportRead) {
  EmaModule module;
  EmaCall call(module, 2, 40, 5);
  ASSERT_EQ(call.forward(), RNN_OK);
  rnn_report report{};
  report.size = sizeof(report);
  const Attempt attempt = [&] { return rnn_report_read(call.plan, call.workspace, &report); };
  failEach(countCalls(attempt), {}, [&] { return module.error(); }, [&] { return attempt; });
}

TEST(Faults, AKernelThatFailedIsToldWhenItsReportIsRead) {
  EmaModule module("faults_kernel");
  mock().bring({"faults_kernel_bad", 32, 8, sizeof(void*),
                [](unsigned, unsigned, const void*) { return std::string("meant to fail"); }});
  module.unit.name = "faults_kernel_bad";
  module.unit.text = module.unit.name + "(args)";
  module.unit.entry.name = module.unit.name.c_str();
  module.unit.unit.text = module.unit.text.c_str();
  EmaCall call(module, 2, 40, 5);
  ASSERT_EQ(call.forward(), RNN_OK); // it is only on its way
  rnn_report report{};
  report.size = sizeof(report);
  EXPECT_EQ(rnn_report_read(call.plan, call.workspace, &report), RNN_DEVICE_FAILED);
  EXPECT_NE(module.error().find("a kernel of this process failed"), std::string::npos)
      << module.error();
}

} // namespace
} // namespace rnnc::test
