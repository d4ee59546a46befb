// A run by the interpreter, with the arrays of a call.
#pragma once

#include "solver.h"

namespace rnnc::tool {

/// Computes what `call`, prepared for `data`, would, and gives it the results, stored as `storage`.
/// kFine, or the status after a message.
int interpret(const Console& console, const Source& source, const CallData& data,
              data::DType storage, Call& call);

} // namespace rnnc::tool
