// From a call without types to the launch of a kernel.
#pragma once

#include "call.hpp"

#include "host_cuda/launch.hpp"
#include "rnn/forward.cuh"

#include <algorithm>

namespace emitted_test {

/// Launches an entry with a call's arrays.
template <class Cell, class Policy, class Args, void (*entry)(Args)>
std::string run(const Call& call) {
  Args args{};
  const auto bind = [](auto& slot, const Place& place) {
    slot.data = place.data;
    std::copy(place.strides.begin(), place.strides.end(), slot.stride);
  };
  args.batch = call.batch;
  args.time = call.time;
  args.tolerance = call.tolerance;
  std::copy(call.lanes.begin(), call.lanes.end(), args.lanes);
  for (size_t i = 0; i < call.states.size(); ++i) {
    bind(args.state[i].initial, call.states[i].initial);
    bind(args.state[i].final, call.states[i].final);
    bind(args.state[i].sequence, call.states[i].sequence);
    args.state[i].fill = call.states[i].fill;
  }
  for (size_t i = 0; i < call.inputs.size(); ++i)
    bind(args.input[i], call.inputs[i]);
  for (size_t i = 0; i < call.params.size(); ++i)
    bind(args.param[i], call.params[i]);
  for (size_t i = 0; i < call.outputs.size(); ++i)
    bind(args.output[i], call.outputs[i]);
  constexpr auto bytes = rnn::forward_shape<Cell, Policy>().bytes(sizeof(typename Cell::scalar));
  return host_cuda::launch({}, 1, dim3(Policy::lanes, Policy::chunks), bytes, entry, args).error;
}

} // namespace emitted_test
