#include "cpu/forward.hpp"
#include "core/plan.hpp"
#include "core/status.hpp"
#include "core/tensors.hpp"
#include "cuda/device_plan.hpp"

using namespace rnnc::runtime;

rnn_status rnn_forward(const rnn_plan* plan, const rnn_tensor* args, void* workspace, void* reserve,
                       void* stream) {
  return guarded([&] {
    if (!plan) {
      invalid("rnn_forward: argument `plan` is null");
    }
    checkWorkspace(*plan->state, workspace, "rnn_forward");
    if (!plan->state->device) {
      checkStream(stream, "rnn_forward");
    }
    checkReserve(*plan->state, reserve, "rnn_forward");
    checkArgs(*plan->state, args,
              {{workspace, plan->state->workspaceBytes}, {reserve, plan->state->reserveBytes}},
              ArgUse::Whole, "rnn_forward");
    if (plan->state->device) {
      cuda::forward(*plan->state, args, workspace, stream);
      return RNN_OK;
    }
    return cpu::forward(*plan->state, args, workspace, reserve);
  });
}

rnn_status rnn_backward(const rnn_plan* plan, const rnn_tensor* args, const rnn_tensor* grads,
                        void* workspace, const void* reserve, void* stream) {
  return guarded([&] {
    if (!plan) {
      invalid("rnn_backward: argument `plan` is null");
    }
    const Plan& p = *plan->state;
    if (!p.adjoint) {
      invalid("rnn_backward: argument `plan` was made without training; set `training` in "
              "rnn_plan_options");
    }
    checkWorkspace(p, workspace, "rnn_backward");
    checkStream(stream, "rnn_backward");
    checkReserve(p, reserve, "rnn_backward");
    const std::initializer_list<Memory> own = {{workspace, p.workspaceBytes},
                                               {reserve, p.reserveBytes}};
    checkArgs(p, args, own, ArgUse::Whole, "rnn_backward");
    checkGrads(p, args, grads, own, "rnn_backward");
    return cpu::backward(p, args, grads, workspace, reserve);
  });
}
