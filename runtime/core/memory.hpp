// Which level of training fits a budget of bytes: every choice with its sizes and its time.
#pragma once

#include "core/plan.hpp"

#include <vector>

namespace rnnc::runtime {

/// The frontier of what a plan may keep, by growing time and falling bytes.
std::vector<rnn_training_choice> trainingChoices(const std::shared_ptr<const Module>& module,
                                                 const rnn_plan_options& options);

/// Of each layer the choice that makes the whole fastest: all reserves and the largest workspace
/// within `budget`. Throws where nothing fits.
std::vector<rnn_training_choice>
chooseStack(const std::vector<std::vector<rnn_training_choice>>& layers, uint64_t budget);

/// The options with level, checkpoint and window chosen, where they ask for that.
rnn_plan_options withinBudget(const std::shared_ptr<const Module>& module,
                              const rnn_plan_options& options);

} // namespace rnnc::runtime
