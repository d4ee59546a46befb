//===- JacobianStructure.h - what a derived Jacobian looks like ------------------------------===//
#pragma once

#include "Newton/Newton.h"

namespace rnnc {

/// The structure of a block of `k` states whose Jacobian has `entries` (row, column pairs,
/// row-major), yielded by `jacobian` in that order. Never changes the IR.
newton::StructureAttr jacobianStructure(int64_t k, llvm::ArrayRef<int64_t> entries,
                                        newton::SystemOp system, mlir::Block& jacobian);

} // namespace rnnc
