#include "core/training.hpp"

#include "core/elements.hpp"
#include "core/status.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace rnnc::runtime {
namespace {

/// What the sequences of a window may take: part of the caches.
constexpr int64_t windowBytes = int64_t(2) << 20;

// Windows end where tiles and sums end without windows, so that nothing is added in another order.
// At most `time`.
int64_t windowUnit(const Plan& adjoint) {
  int64_t unit = sumSteps;
  for (const SystemPlan& system : adjoint.systems) {
    if (system.parallel && system.tileSteps < adjoint.time) {
      unit = std::min(adjoint.time, unit / std::gcd(unit, system.tileSteps) * system.tileSteps);
    }
  }
  return std::max<int64_t>(unit, 1);
}

// Bytes of a plan's own sequences at one step.
double bytesAStep(const Plan& plan) {
  double numbers = 0;
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    const rnn_role role = plan.table().tensor[i].role;
    if (plan.kept[i] && role != RNN_ROLE_DERIVED) {
      numbers += double(plan.elementsOf(i));
    }
  }
  return numbers * double(plan.batch) * double(elementSize(plan.compute));
}

int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// As many steps as the caches hold, but not fewer than lie between two checkpoints.
int64_t chooseWindow(const Plan& plan, const Plan& adjoint, int64_t asked) {
  const double bytes = std::max(1.0, bytesAStep(plan) + bytesAStep(adjoint));
  const int64_t fits = int64_t(std::min(double(windowBytes) / bytes, double(plan.time)));
  const int64_t unit = windowUnit(adjoint);
  const int64_t wanted = asked > 0 ? std::min(asked, plan.time) : fits / unit * unit;
  const int64_t least = std::max({wanted, unit, plan.checkpoint});
  const int64_t both = unit / std::gcd(unit, plan.checkpoint) * plan.checkpoint;
  const int64_t window = roundUp(least, both <= 2 * least ? both : unit);
  return std::min(window, std::max<int64_t>(plan.time, 1));
}

// What two checkpoints cost a step falls with their distance, what solving again needs grows: both
// are about as large where the distance is the root of the steps. A power of two.
int64_t chooseCheckpoint(int64_t time) {
  constexpr int64_t least = 64;
  const auto root = static_cast<uint64_t>(std::sqrt(double(time)));
  return std::max<int64_t>(least, int64_t(std::bit_floor(std::max<uint64_t>(root, 1))));
}

// Steps of its past that a plan's own sequences are read at.
int64_t longestBack(const Plan& plan) {
  int64_t back = 1; // states
  auto note = [&](uint32_t tensor, int64_t steps) {
    back = plan.kept[tensor] ? std::max(back, steps) : back;
  };
  auto noteInputs = [&](const SystemPlan& system) {
    for (uint32_t i = 0; i < system.desc->inputs; ++i) {
      note(system.desc->input_slots[i].tensor, system.desc->input_slots[i].back);
    }
  };
  std::ranges::for_each(plan.systems, noteInputs);
  for (const StagePlan& stage : plan.stages) {
    if (stage.map.desc) {
      noteInputs(stage.map);
    } else if (stage.product.desc) {
      note(stage.product.desc->sequence, stage.product.desc->back);
    }
  }
  return back;
}

void keepStates(Plan& plan) {
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    plan.kept[i] |= plan.table().tensor[i].role == RNN_ROLE_STATE;
  }
}

} // namespace

bool hasWindows(const rnn_plan_options& options) {
  const bool has = options.training == RNN_TRAINING_L2 ||
                   (options.training == RNN_TRAINING_L3 && options.checkpoint > 0);
  if (has && options.segment_offsets) {
    fail(RNN_UNSUPPORTED, "checkpoint: the states of a packed batch are kept all or none; use "
                          "training L1, or L3 without `checkpoint`");
  }
  if (has && options.tiles == RNN_TILES_PARALLEL) {
    fail(RNN_UNSUPPORTED, "tiles = parallel: with checkpoints time is solved a window after the "
                          "other, and so are tiles; use training L1, or L3 without `checkpoint`");
  }
  return has;
}

void takeWindows(Plan& plan, Plan& adjoint, const rnn_plan_options& options) {
  plan.checkpoint = options.checkpoint;
  if (plan.training == RNN_TRAINING_L2 && plan.checkpoint == 0) {
    plan.checkpoint = chooseCheckpoint(plan.time);
  }
  if (plan.checkpoint == 0) {
    return;
  }
  keepStates(adjoint); // one window goes on where the one before it ended
  const int64_t window = chooseWindow(plan, adjoint, options.window);
  const bool isAligned = plan.time % plan.checkpoint == 0 && window % plan.checkpoint == 0;
  plan.window = adjoint.window = window;
  plan.carried = longestBack(plan);
  plan.lead = std::max(plan.carried, isAligned ? 1 : plan.checkpoint);
  adjoint.lead = adjoint.carried = longestBack(adjoint);
}

} // namespace rnnc::runtime
