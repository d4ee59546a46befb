// Results into --output files.
#pragma once

#include "solver.h"

namespace rnnc::tool {

/// Checks, before anything is computed, that every --output can be written as what it is.
int checkOutputs(const Options& options, const Console& console, const rnn_module_table& table,
                 const CallSizes& sizes);
/// Writes them. Says what was written in `lines`.
int writeOutputs(const Options& options, const Console& console, const Call& call,
                 const CallData& data, std::vector<std::string>& lines);

} // namespace rnnc::tool
