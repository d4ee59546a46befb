//===- ArrayFormula.h - a value of a step as the user would write it -------------------------===//
#pragma once

#include "Rnn/Rnn.h"

#include <string>

namespace rnnc {

/// "re" or "im" where the value is that part of a complex tensor, as lower-complex reads it; else
/// nothing.
llvm::StringRef complexPart(mlir::Value value);

/// `sigmoid(W @ x[t] + b)`; what lies deeper than a few levels is "...". Where `known` gives a text
/// for a value inside, that stands for it.
std::string arrayFormula(mlir::Value value, llvm::function_ref<std::string(mlir::Value)> known);

} // namespace rnnc
