//===- Adjoint.h - the cell of a cell's gradients --------------------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"

namespace rnnc {

/// Behind the name of a cell: that of its adjoint. No name of the language has a dot.
constexpr llvm::StringLiteral kAdjointSuffix = ".adjoint";

/// On the declarations of an adjoint: the rnn.of that says what they are to the cell's own.
constexpr llvm::StringLiteral kOfAttr = "rnn.of";

} // namespace rnnc
