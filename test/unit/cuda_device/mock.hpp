// The devices that all tests of this program have: two of sm_90 and one of sm_80, none of which is
// there.
#pragma once

#include "harness.hpp"
#include "mock_cuda/driver.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {

mock_cuda::Driver& mock();

/// How often NVRTC, which is not there either, compiled something.
int compiled();

/// Where programs are kept during this run.
std::string cacheFolder();

/// A unit of one kernel that nobody compiles: what it does, somebody brings to the mock driver.
struct MockUnit {
  MockUnit(std::string name, int64_t lanes, int64_t chunks, int64_t steps, int64_t shared,
           int64_t argument);
  MockUnit(const MockUnit&) = delete;

  std::string name, unitName, text;
  rnn_cuda_entry entry{};
  rnn_cuda_unit unit{};
  rnn_cuda_desc desc{};
};

inline rnn_plan_options cudaOptions(int ordinal = 0) {
  rnn_plan_options options = planOptions();
  options.device = RNN_DEVICE_CUDA;
  options.ordinal = ordinal;
  return options;
}

/// The average `ema` of runtime/cells.hpp as a module with a unit, W = 8 and C = 4, for one lane
/// axis d.
struct EmaModule {
  /// Units of the same name and text have the same program.
  explicit EmaModule(const std::string& unitName = "ema_unit");

  Table table;
  MockUnit unit;
  ModuleHandle module;

  rnn_plan* plan(int64_t batch, int64_t time, int64_t width, int ordinal = 0);
  std::string error() const { return rnn_error_text(module.context); }
};

/// A plan of it, and arrays for it in a device's memory, in the default layout.
struct EmaCall {
  EmaCall(EmaModule& module, int64_t batch, int64_t time, int64_t width, int ordinal = 0);
  ~EmaCall() { rnn_plan_destroy(plan); }
  EmaCall(const EmaCall&) = delete;

  rnn_status forward(void* stream = nullptr) {
    return rnn_forward(plan, args.data(), workspace, nullptr, stream);
  }

  rnn_plan* plan = nullptr;
  int64_t numbers = 0;          ///< of the input and the result
  std::vector<rnn_tensor> args; ///< input, param, sequence, initial state, final state
  void* workspace = nullptr;
};

} // namespace rnnc::test
