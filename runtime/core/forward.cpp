#include "cpu/forward.hpp"
#include "core/plan.hpp"
#include "core/status.hpp"
#include "core/tensors.hpp"

using namespace rnnc::runtime;

rnn_status rnn_forward(const rnn_plan* plan, const rnn_tensor* args, void* workspace, void*,
                       void* stream) {
  return guarded([&] {
    if (!plan) {
      invalid("rnn_forward: argument `plan` is null");
    }
    if (!workspace) {
      invalid("rnn_forward: argument `workspace` is null; rnn_plan_sizes tells how many bytes it "
              "needs");
    }
    if (reinterpret_cast<uintptr_t>(workspace) % 64 != 0) {
      invalid("rnn_forward: argument `workspace` is not aligned to 64 bytes");
    }
    if (stream) {
      invalid("rnn_forward: argument `stream` must be null on the CPU");
    }
    checkArgs(*plan->state, args, workspace);
    return cpu::forward(*plan->state, args, workspace);
  });
}
