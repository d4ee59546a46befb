//===- Simplify.h - what derived code is put through -----------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace rnnc {

/// How patterns are applied everywhere: what they make has one place in the user's text. Patterns
/// give their result the places of all that they replace; along a chain of n operations those lists
/// would take n^2 memory.
mlir::GreedyRewriteConfig rewriteConfig();

/// Canonicalises a region of `op`, removes what nothing reads, and computes once what the op
/// computes twice.
mlir::LogicalResult simplifyRegion(mlir::Operation* op, mlir::Region& region);

/// Removes what nothing reads from a block without branches.
void eraseUnused(mlir::Block& block);

} // namespace rnnc
