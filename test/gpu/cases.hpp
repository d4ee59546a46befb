// What tools/gpu --prepare stored: cells as modules, arrays, and what the interpreter makes of
// them.
#pragma once

#include "gpu.hpp"

#include "data/Array.h"
#include "rnn/rnn.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpu {

/// A folder below cases/ with a file `case` of lines: `module NAME`, `dtype f32`, `batch N`,
/// `time N`, `dim NAME N`, `bound X`, and `input|param|initial|expected NAME FILE.npy`.
struct Case {
  std::string name, module;
  rnn_dtype dtype = RNN_F32;
  int64_t batch = 0, time = 0;
  std::map<std::string, int64_t> dims;
  double bound = 0; ///< of |result - expected| / (1 + |expected|)
  std::map<std::string, rnnc::data::HostArray> inputs, params, initial, expected;

  /// Inputs and params that are not there, where this is.
  std::function<rnnc::data::HostArray(const rnn_tensor& like)> draw;

  const rnnc::data::HostArray* given(rnn_arg_kind kind, const std::string& tensor) const;
};

/// Sorted by name. Throws Trouble for a folder that is not whole.
std::vector<Case> readCases(const std::string& folder);
/// The folder that tools/gpu made, from the environment (RNN_GPU_FOLDER).
std::string folder();

/// A module with a plan for device 0, its arrays and its workspace there.
class Call {
public:
  Call(const Case& of, rnn_schedule schedule, double tolerance);
  ~Call();
  Call(const Call&) = delete;

  /// On the device's stream; does not wait.
  void forward();
  /// Waits, and reads what the call wrote: by argument, empty for what it was given.
  std::vector<std::vector<std::byte>> results();
  /// Fills what the call is to write with bytes that it does not write.
  void spoil();

  const rnn_signature& signature() const { return *signature_; }
  const rnn_tensor& argument(size_t i) const { return args_[i]; }
  rnn_plan_info info() const;
  rnn_report report();
  /// That a forward must move at least: every array once.
  size_t bytes() const;

private:
  [[noreturn]] void fail() const;
  void check(rnn_status status) const;

  rnn_context* context_ = nullptr;
  rnn_module* module_ = nullptr;
  rnn_plan* plan_ = nullptr;
  const rnn_signature* signature_ = nullptr;
  std::vector<rnn_tensor> args_;
  std::vector<Memory> memory_;
  void* workspace_ = nullptr;
};

size_t bytesOf(const rnn_tensor& tensor);

} // namespace gpu
