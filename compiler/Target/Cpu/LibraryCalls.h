//===- LibraryCalls.h - functions that are not inlined yet
//----------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace rnnc {

/// Replaces what is left of the element-wise functions of math and newton, after our vector math
/// took its share, by calls of the C library, an element at a time: slow, but the same bits at any
/// width. newton.softplus and newton.sign, which the C library lacks, are built from others.
void callLibrary(mlir::ModuleOp module);

} // namespace rnnc
