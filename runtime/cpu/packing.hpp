// Params that all lanes share, as a dense kernel wants them.
#pragma once

#include "cpu/columns.hpp"

namespace rnnc::runtime::cpu {

/// Copies the shared params of a dense system to its place in `to` (plan.packedNumbers numbers),
/// row-major, converted to the compute type. They must have their values.
template <class F>
void packShared(const Call& call, const SystemPlan& system, F* to);

} // namespace rnnc::runtime::cpu
