// rnnc bench --gradients: forward and backward at every level of training.
#pragma once

#include "options.h"

namespace rnnc::tool {

int runGradientBench(const Options& options);

} // namespace rnnc::tool
