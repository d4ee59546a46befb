// Params that all lanes share, as a dense kernel wants them.
#pragma once

#include "cpu/columns.hpp"

namespace rnnc::runtime::cpu {

/// Copies the shared params of every dense system to `to` (plan.packedNumbers numbers), row-major,
/// converted to the compute type.
template <class F>
void packShared(const Plan& plan, const rnn_tensor* args, F* to);

} // namespace rnnc::runtime::cpu
