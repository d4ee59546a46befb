#include "cpu/training.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {

bool hasAllStates(const Plan& plan, const rnn_tensor* args) {
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    const int arg = plan.module->tensorArgs[i].sequence;
    if (plan.table().tensor[i].role == RNN_ROLE_STATE &&
        (arg < 0 || !args[arg].data || args[arg].dtype != plan.compute)) {
      return false;
    }
  }
  return true;
}

template <class F>
void Training<F>::forward(Call& call) {
  const Plan& plan = call.plan;
  if (plan.window == 0) {
    solve(call, workspace);
    return;
  }
  beginSolve(call, workspace);
  call.end = 0;
  do { // once, where there are no steps: states end as they begin
    call.begin = call.end;
    call.end = std::min(call.begin + plan.window, plan.time);
    call.tensors = workspace.sequences.bind(call.args, call.begin);
    solveSteps(call, workspace, true);
    checkpoints_.save(call);
    workspace.sequences.advance(call.begin, call.end);
  } while (call.end < plan.time);
  endSolve(call, workspace);
}

// From the checkpoint in front of the window, so that a window need not begin at one.
template <class F>
void Training<F>::again(Call& call, int64_t begin, int64_t end) {
  const Plan& plan = call.plan;
  call.tensors = workspace.sequences.bind(call.args, begin);
  call.end = end;
  if (hasAllStates(plan, call.args)) {
    call.begin = begin;
    solveSteps(call, workspace, false);
    return;
  }
  call.begin = plan.checkpoint > 0 ? begin / plan.checkpoint * plan.checkpoint : 0;
  if (call.begin > 0) {
    checkpoints_.restore(call, call.begin);
  }
  solveSteps(call, workspace, true);
}

template class Training<float>;
template class Training<double>;

} // namespace rnnc::runtime::cpu
