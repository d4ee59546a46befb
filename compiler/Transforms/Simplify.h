//===- Simplify.h - what derived code is put through -----------------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"

namespace rnnc {

/// Canonicalises a region of `op`, removes what nothing reads, and computes once what the op
/// computes twice.
mlir::LogicalResult simplifyRegion(mlir::Operation* op, mlir::Region& region);

/// Removes what nothing reads from a block without branches.
void eraseUnused(mlir::Block& block);

} // namespace rnnc
