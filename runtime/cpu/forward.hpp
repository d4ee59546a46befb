// rnn_forward and rnn_backward on the CPU.
#pragma once

#include "core/plan.hpp"

#include <cstddef>

namespace rnnc::runtime::cpu {

/// Numbers of the compute type that an outer product sums in, among `Call::sums`.
int64_t outerNumbers(const OuterPlan& outer, rnn_dtype compute);
/// What systems and stages of a plan take of a workspace.
void measureParts(Plan& plan);
/// Of rnn_forward.
size_t workspaceBytes(const Plan& plan);
size_t reserveBytes(const Plan& plan);
/// The workspace of rnn_backward.
size_t backwardBytes(const Plan& plan);

/// The arguments are checked. RNN_OK or RNN_NOT_CONVERGED.
rnn_status forward(const Plan& plan, const rnn_tensor* args, void* workspace, void* reserve);
rnn_status backward(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads,
                    void* workspace, const void* reserve);

} // namespace rnnc::runtime::cpu
