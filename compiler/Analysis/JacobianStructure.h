//===- JacobianStructure.h - what a derived Jacobian looks like ------------------------------===//
#pragma once

#include "Newton/Newton.h"

namespace rnnc {

/// Numbers `entries` of a Jacobian by what they are as formulas: 1, 2, ... where one comes first,
/// the same or its negative where a later one is equal or opposite.
llvm::SmallVector<int64_t> numberValues(mlir::Block& jacobian, mlir::ValueRange entries);

/// The structure of a block of `k` states whose Jacobian has `entries` (row, column pairs,
/// row-major) with the signed `values`, yielded by `jacobian`. Never changes the IR.
newton::StructureAttr jacobianStructure(int64_t k, llvm::ArrayRef<int64_t> entries,
                                        llvm::ArrayRef<int64_t> values, newton::SystemOp system,
                                        mlir::Block& jacobian);

} // namespace rnnc
