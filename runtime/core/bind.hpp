// Names of dims to sizes.
#pragma once

#include "core/plan.hpp"

namespace rnnc::runtime {

/// Gives every dim its size and makes the plan's systems with their lanes counted. Throws where a
/// dim is missing, unknown or does not fit.
void bindDims(Plan& plan, const rnn_plan_options& options);

} // namespace rnnc::runtime
