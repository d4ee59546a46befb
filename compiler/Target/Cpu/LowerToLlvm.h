//===- LowerToLlvm.h - kernels from vectors to the LLVM dialect ------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace rnnc {
/// Inlines our vector math, shares common subexpressions (the Jacobian's with the step's) and
/// lowers to the LLVM dialect, in place. `fma`: the target has fused multiply-adds.
mlir::LogicalResult lowerToLlvm(mlir::ModuleOp module, bool fma);
} // namespace rnnc
