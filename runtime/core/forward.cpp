#include "cpu/forward.hpp"
#include "core/plan.hpp"
#include "core/status.hpp"
#include "core/tensors.hpp"
#include "cuda/device_plan.hpp"

using namespace rnnc::runtime;

rnn_status rnn_forward(const rnn_plan* plan, const rnn_tensor* args, void* workspace, void*,
                       void* stream) {
  return guarded([&] {
    if (!plan) {
      invalid("rnn_forward: argument `plan` is null");
    }
    checkWorkspace(*plan->state, workspace, "rnn_forward");
    if (!plan->state->device) {
      checkStream(stream, "rnn_forward");
    }
    checkArgs(*plan->state, args, {{workspace, plan->state->workspaceBytes}}, ArgUse::Whole,
              "rnn_forward");
    if (plan->state->device) {
      cuda::forward(*plan->state, args, workspace, stream);
      return RNN_OK;
    }
    return cpu::forward(*plan->state, args, workspace);
  });
}
