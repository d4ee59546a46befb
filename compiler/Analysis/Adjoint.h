//===- Adjoint.h - the cell of a cell's gradients --------------------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

namespace rnnc {

/// Behind the name of a cell: that of its adjoint. No name of the language has a dot.
constexpr llvm::StringLiteral kAdjointSuffix = ".adjoint";

/// On the declarations of an adjoint: the rnn.of that says what they are to the cell's own.
constexpr llvm::StringLiteral kOfAttr = "rnn.of";

inline bool isAdjoint(rnn::CellOp cell) { return cell.getSymName().ends_with(kAdjointSuffix); }

/// Whether what `decl` declares is to be summed over all steps: a part of a param's gradient.
inline bool isSummed(mlir::Operation* decl) {
  auto of = decl->getAttrOfType<rnn::OfAttr>(kOfAttr);
  return of && of.getRelation() == rnn::Relation::Sum;
}

} // namespace rnnc
