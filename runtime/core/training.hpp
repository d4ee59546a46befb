// What a plan with training keeps, and in what windows its calls go through time.
#pragma once

#include "core/plan.hpp"

namespace rnnc::runtime {

/// Whether calls will go through time in windows. Throws where they cannot.
bool hasWindows(const rnn_plan_options& options);

/// Chooses checkpoints and windows of a plan with training and of its adjoint.
void takeWindows(Plan& plan, Plan& adjoint, const rnn_plan_options& options);

} // namespace rnnc::runtime
