// Binding a plan's dims: the sizes of tensors, systems and stages.
#pragma once

#include "core/plan.hpp"

namespace rnnc::runtime {

/// Fills what depends on sizes alone in `plan`, whose module, batch and time are set. Throws where
/// `options.dim` does not fit.
void bindDims(Plan& plan, const rnn_plan_options& options);

/// `plan`'s tensor sizes are known.
ProductPlan bindProduct(const Plan& plan, const rnn_product& desc);
OuterPlan bindOuter(const Plan& plan, const rnn_outer& desc);
/// `plan`'s stages are known.
void listKept(Plan& plan);

} // namespace rnnc::runtime
