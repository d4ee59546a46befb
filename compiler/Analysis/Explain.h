//===- Explain.h - what was derived about a system, as text ----------------------------------===//
#pragma once

#include "Newton/Newton.h"

#include <string>

namespace rnnc {

/// What the compiler derived about one system: lanes and block, the step, the Jacobian entries as
/// math in the user's names with their zero pattern, linearity, and what a step and a composition
/// cost. Lines of text, indented by two spaces.
/// `sizeOf`: the size of a dim, -1 where it is not known; a dense system is explained in numbers.
std::string explainSystem(mlir::Operation* system,
                          llvm::function_ref<int64_t(llvm::StringRef)> sizeOf);

/// How a tensor's place is written: h, c[2].
std::string stateName(newton::SystemOp system, int64_t state);

} // namespace rnnc
