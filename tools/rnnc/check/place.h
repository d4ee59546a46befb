// Where something stands in the user's text.
#pragma once

#include "Newton/Newton.h"

#include <string>

namespace rnnc::check {

/// "file:line:col" of a location, "an unknown place" where it has none.
std::string placeText(mlir::Location location);

/// The equation that gives a state of the system, with its place: "h[t] = (1 - z) * h[t-1] + z * n
/// (paragru.rnn:15:3)".
std::string equationText(newton::SystemOp system, int64_t state);

} // namespace rnnc::check
