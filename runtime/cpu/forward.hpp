// rnn_forward on the CPU.
#pragma once

#include "core/plan.hpp"

#include <cstddef>

namespace rnnc::runtime::cpu {

size_t workspaceBytes(const Plan& plan);

/// The arguments are checked. RNN_OK or RNN_NOT_CONVERGED.
rnn_status forward(const Plan& plan, const rnn_tensor* args, void* workspace);

} // namespace rnnc::runtime::cpu
