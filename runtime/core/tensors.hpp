// The arguments of rnn_forward, checked against the plan.
#pragma once

#include "core/plan.hpp"

namespace rnnc::runtime {

/// Throws where an argument does not fit the plan, or a result overlaps anything else. Afterwards a
/// tensor is absent (null, or without elements) or exactly what the plan says.
void checkArgs(const Plan& plan, const rnn_tensor* args, const void* workspace);

} // namespace rnnc::runtime
