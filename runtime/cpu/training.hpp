// What a forward call leaves for a backward one, and how that one gets at the rest again.
#pragma once

#include "cpu/checkpoints.hpp"
#include "cpu/workspace.hpp"

namespace rnnc::runtime::cpu {

/// A plan's workspace with what it keeps: of level L1 all sequences of its own, of L2 checkpoints,
/// both in the reserve; of L3 either in the workspace, and nothing in the reserve. Without training
/// the workspace has all there is.
template <class F>
class Training {
public:
  Workspace<F> workspace;

  Training(const Plan& plan, Carver& carver, Carver& reserve)
      : workspace(plan, carver, keepsAll(plan) ? reserve : carver),
        checkpoints_(plan, plan.training == RNN_TRAINING_L3 ? carver : reserve) {}

  /// All steps, prepared; leaves a report, and the checkpoints.
  void forward(Call& call);

  /// The tensors of steps `begin`..`end` again, and of the step in front of them; a window of the
  /// plan, or the whole time where it has none. `call` is begun.
  void again(Call& call, int64_t begin, int64_t end);

  /// Whether every sequence of the plan's own lies in the reserve, for all steps.
  static bool keepsAll(const Plan& plan) {
    return plan.training == RNN_TRAINING_L1 && plan.window == 0;
  }

private:
  Checkpoints<F> checkpoints_;
};

/// Does the caller have all states of a call, as they were computed?
bool hasAllStates(const Plan& plan, const rnn_tensor* args);

} // namespace rnnc::runtime::cpu
