#include "core/memory.hpp"

#include "core/elements.hpp"
#include "core/status.hpp"
#include "core/training.hpp"
#include "core/versioned.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rnnc::runtime {
namespace {

using Choice = rnn_training_choice;

// Rough rates, of one core: only ratios of choices matter.
constexpr double multiplyAddsASecond = 1e10;
/// Begin and end of a window, in all its stages and systems: measured with ParaGRU, 256 lanes.
constexpr double windowSeconds = 7e-6;
/// A state where the module knows no cost.
constexpr double stateSeconds = 10e-9;

double secondsOf(const SystemPlan& system, double steps) {
  const double known = system.parallel ? system.secondsParallel : system.secondsSequential;
  return known > 0 ? known
                   : double(system.lanes) * steps * (1 + system.desc->states) * stateSeconds;
}

// All steps of a plan, with its stages.
double secondsOf(const Plan& plan) {
  double seconds = 0;
  for (const SystemPlan& system : plan.systems) {
    seconds += secondsOf(system, double(plan.time));
  }
  for (const StagePlan& stage : plan.stages) {
    const double steps = double(timeOf(plan, stage.phase));
    if (stage.map.desc) {
      seconds += secondsOf(stage.map, steps);
    }
    if (stage.outer.desc) {
      seconds += double(plan.batch) * steps * double(stage.outer.heads) *
                 double(stage.outer.left.elements) * double(stage.outer.right.elements) /
                 multiplyAddsASecond;
    }
    for (const ProductPart& part : stage.product.parts) {
      seconds += double(batchOf(plan, stage.phase)) * steps * double(stage.product.heads) *
                 double(stage.product.rows) * double(stage.product.contracted) *
                 double(part.columns) / multiplyAddsASecond;
    }
  }
  return seconds;
}

// What forward, solving again and backward take.
double estimate(const Plan& plan) {
  const double once = secondsOf(plan), back = secondsOf(*plan.adjoint);
  double solves = plan.training == RNN_TRAINING_L1 ? 1 : 2, windows = 0;
  if (plan.window > 0) {
    const bool meets = plan.lead <= plan.carried; // windows begin at checkpoints
    solves += (plan.training == RNN_TRAINING_L3) +
              (meets ? 0 : double(plan.checkpoint) / (2 * double(plan.window)));
    windows = (1 + solves) * double(plan.time) / double(plan.window);
  }
  return solves * once + back + windows * windowSeconds;
}

uint64_t bytesOf(const Choice& choice) { return choice.workspace + choice.reserve; }

class Lister {
public:
  Lister(const std::shared_ptr<const Module>& module, rnn_plan_options options)
      : options_(options) {
    options_.memory_budget = 0;
    options_.checkpoint = options_.window = 0;
    options_.training = RNN_TRAINING_L1;
    whole_ = makeSchedule(module, options_);
    add(*whole_, RNN_TRAINING_L1, 0, 0);
    add(*whole_, RNN_TRAINING_L3, 0, 0);
    options_.training = RNN_TRAINING_L2;
    if (options_.segment_offsets || options_.tiles == RNN_TILES_PARALLEL) {
      return; // no windows
    }
    windowed_ = makeSchedule(module, options_);
    for (int64_t k = leastCheckpoint; k < options_.time; k *= 2) {
      for (rnn_training level : {RNN_TRAINING_L2, RNN_TRAINING_L3}) {
        add(*windowed_, level, k, 1);
        add(*windowed_, level, k, 0);
        add(*windowed_, level, k, 4 * windowed_->window);
      }
    }
  }

  std::vector<Choice> frontier() {
    std::ranges::stable_sort(choices_, [](const Choice& a, const Choice& b) {
      return std::pair(a.seconds, bytesOf(a)) < std::pair(b.seconds, bytesOf(b));
    });
    std::vector<Choice> best;
    for (const Choice& choice : choices_) {
      const bool isBeaten = std::ranges::any_of(best, [&](const Choice& other) {
        return other.reserve <= choice.reserve && other.workspace <= choice.workspace;
      });
      if (!isBeaten) {
        best.push_back(choice);
      }
    }
    return best;
  }

private:
  static constexpr int64_t leastCheckpoint = 16;

  void add(Plan& plan, rnn_training level, int64_t checkpoint, int64_t window) {
    options_.training = plan.training = level;
    options_.checkpoint = checkpoint;
    options_.window = window;
    plan.window = plan.adjoint->window = 0;
    takeWindows(plan, *plan.adjoint, options_);
    takeSizes(plan);
    choices_.push_back({sizeof(Choice), level, plan.checkpoint, plan.window, plan.workspaceBytes,
                        plan.reserveBytes, estimate(plan)});
  }

  rnn_plan_options options_;
  std::shared_ptr<Plan> whole_, windowed_;
  std::vector<Choice> choices_;
};

// Some choice for each of the layers so far: this one's, and which of the layer before it goes
// with.
struct Partial {
  double seconds = 0;
  uint64_t reserve = 0;
  uint32_t choice = 0, before = 0;
};

/// So many partial stacks are followed at most.
constexpr size_t mostPartials = 128;

// Those that none of the others beats, by growing reserve; of very many every so many-th.
void prune(std::vector<Partial>& partials) {
  std::ranges::stable_sort(partials, [](const Partial& a, const Partial& b) {
    return std::pair(a.reserve, a.seconds) < std::pair(b.reserve, b.seconds);
  });
  std::vector<Partial> best;
  for (const Partial& partial : partials) {
    if (best.empty() || partial.seconds < best.back().seconds) {
      best.push_back(partial);
    }
  }
  if (best.size() > mostPartials) {
    for (size_t i = 0; i < mostPartials; ++i) {
      best[i] = best[i * (best.size() - 1) / (mostPartials - 1)];
    }
    best.resize(mostPartials);
  }
  partials = std::move(best);
}

/// The frontiers of one layer, of two, ... of all, with workspaces up to `workspace`.
using Stacks = std::vector<std::vector<Partial>>;

Stacks stacksWithin(const std::vector<std::vector<Choice>>& layers, uint64_t workspace,
                    uint64_t reserve) {
  Stacks stacks = {{{}}};
  for (const std::vector<Choice>& choices : layers) {
    std::vector<Partial> longer;
    for (uint32_t before = 0; before < stacks.back().size(); ++before) {
      const Partial& partial = stacks.back()[before];
      for (uint32_t i = 0; i < choices.size(); ++i) {
        const Choice& choice = choices[i];
        if (choice.workspace <= workspace && choice.reserve <= reserve - partial.reserve) {
          longer.push_back(
              {partial.seconds + choice.seconds, partial.reserve + choice.reserve, i, before});
        }
      }
    }
    prune(longer);
    stacks.push_back(std::move(longer));
  }
  return stacks;
}

uint64_t leastBytes(const std::vector<std::vector<Choice>>& layers,
                    const std::set<uint64_t>& workspaces) {
  uint64_t least = UINT64_MAX;
  for (uint64_t workspace : workspaces) {
    const std::vector<Partial> any = stacksWithin(layers, workspace, UINT64_MAX).back();
    least = any.empty() ? least : std::min(least, workspace + any.front().reserve);
  }
  return least;
}

} // namespace

std::vector<Choice> trainingChoices(const std::shared_ptr<const Module>& module,
                                    const rnn_plan_options& options) {
  return Lister(module, options).frontier();
}

std::vector<Choice> chooseStack(const std::vector<std::vector<Choice>>& layers, uint64_t budget) {
  std::set<uint64_t> workspaces; // the largest one is one of these
  for (const std::vector<Choice>& choices : layers) {
    for (const Choice& choice : choices) {
      workspaces.insert(choice.workspace);
    }
  }
  Stacks best;
  for (uint64_t workspace : workspaces) {
    if (workspace > budget) {
      break;
    }
    Stacks stacks = stacksWithin(layers, workspace, budget - workspace);
    const std::vector<Partial>& all = stacks.back();
    if (!all.empty() && (best.empty() || all.back().seconds < best.back().back().seconds)) {
      best = std::move(stacks);
    }
  }
  if (best.empty() && !layers.empty()) {
    invalid(
        "memory_budget: {} bytes do not hold reserve and workspace; the least that would do is {}",
        budget, leastBytes(layers, workspaces));
  }
  std::vector<Choice> chosen(layers.size());
  uint32_t at = best.empty() ? 0 : static_cast<uint32_t>(best.back().size() - 1);
  for (size_t i = layers.size(); i-- > 0;) {
    const Partial& partial = best[i + 1][at];
    chosen[i] = layers[i][partial.choice];
    at = partial.before;
  }
  return chosen;
}

rnn_plan_options withinBudget(const std::shared_ptr<const Module>& module,
                              const rnn_plan_options& options) {
  if (options.training != RNN_TRAINING_AUTO) {
    return options;
  }
  rnn_plan_options result = options;
  result.training = RNN_TRAINING_L1;
  result.memory_budget = 0;
  if (options.memory_budget == 0) {
    return result;
  }
  const Choice choice =
      chooseStack({trainingChoices(module, options)}, options.memory_budget).front();
  result.training = choice.training;
  result.checkpoint = choice.checkpoint;
  result.window = choice.window;
  return result;
}

namespace {

void writeChoices(const std::vector<Choice>& choices, Choice* out, const char* function) {
  const uint32_t each = out->size;
  if (each < sizeof(out->size)) {
    invalid("{}: `size` of the first is {}; set it to sizeof(rnn_training_choice)", function, each);
  }
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  for (size_t i = 0; i < choices.size(); ++i) {
    auto* to = reinterpret_cast<Choice*>(bytes + i * each);
    to->size = each;
    writeVersioned(choices[i], to, "rnn_training_choice");
  }
}

rnn_plan_options optionsOf(const rnn_plan_options* options) {
  rnn_plan_options known = readVersioned(options, "rnn_plan_options");
  known.training = RNN_TRAINING_L1;
  known.checkpoint = known.window = 0;
  known.memory_budget = 0;
  if (known.device != RNN_DEVICE_CPU) {
    fail(RNN_UNSUPPORTED, "training: only on the CPU so far");
  }
  checkOptions(known);
  return known;
}

} // namespace
} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_training_choices(const rnn_module* module, const rnn_plan_options* options,
                                rnn_training_choice* out, uint32_t* count) {
  return guarded([&] {
    if (!module || !options || !count) {
      invalid("rnn_training_choices: argument `{}` is null", !module   ? "module"
                                                             : options ? "count"
                                                                       : "options");
    }
    const std::vector<Choice> all = trainingChoices(module->state, optionsOf(options));
    const uint32_t room = std::exchange(*count, static_cast<uint32_t>(all.size()));
    if (out && room > 0) {
      const std::vector<Choice> some(all.begin(), all.begin() + std::min<size_t>(room, all.size()));
      writeChoices(some, out, "rnn_training_choices");
    }
    return RNN_OK;
  });
}

rnn_status rnn_stack_choose(const rnn_layer* layers, uint32_t count, uint64_t budget,
                            rnn_training_choice* out) {
  return guarded([&] {
    if (count > 0 && (!layers || !out)) {
      invalid("rnn_stack_choose: argument `{}` is null", layers ? "out" : "layer");
    }
    std::vector<std::vector<Choice>> choices;
    for (uint32_t i = 0; i < count; ++i) {
      if (!layers[i].module || !layers[i].options) {
        invalid("rnn_stack_choose: layer {}: `{}` is null", i,
                layers[i].module ? "options" : "module");
      }
      const bool isLast = i > 0 && layers[i].module == layers[i - 1].module &&
                          layers[i].options == layers[i - 1].options;
      choices.push_back(
          isLast ? choices.back()
                 : trainingChoices(layers[i].module->state, optionsOf(layers[i].options)));
    }
    if (count > 0) {
      writeChoices(chooseStack(choices, budget), out, "rnn_stack_choose");
    }
    return RNN_OK;
  });
}
