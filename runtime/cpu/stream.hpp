// Streaming on the CPU: a state is the workspace of a single step, and what the stream keeps.
#pragma once

#include "core/plan.hpp"

#include <cstddef>

namespace rnnc::runtime::cpu {

/// All of the following take a streaming plan, and arguments that are checked.
size_t stateBytes(const Plan& plan);
/// The stream's numbers follow it without a gap.
StreamHeader* streamHeader(const Plan& plan, void* state);

/// `args`: params, and initial states where there are any; everything else absent.
void beginStream(const Plan& plan, const rnn_tensor* args, void* state);
/// RNN_OK or RNN_NOT_CONVERGED (thrown); the state has gone on then.
rnn_status step(const Plan& plan, const rnn_tensor* args, void* state);
rnn_status steps(const Plan& plan, const rnn_tensor* args, void* workspace, void* state);

} // namespace rnnc::runtime::cpu
