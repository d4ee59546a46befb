//===- VectorMath.h - elementary functions as inlined vector arithmetic ===//
//
// Every function is built from operations that one or a few machine instructions carry out, for
// values of type f32, f64 and vectors of them. The code has no branches (sin, cos and tan have one,
// taken when any lane is huge), no calls and no tables, and gives each element the same bits
// whatever the width and whatever its neighbours. Bounds and methods: docs/math.md.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace rnnc {

struct VectorMathOptions {
  /// The target fuses multiply-adds. Without it (x86-64-v2) every fused operation becomes a product
  /// and a sum, rounded separately, with longer argument reductions; results may differ in bits.
  bool fma = true;
};

using VectorMathUnary = mlir::Value(mlir::OpBuilder&, mlir::Location, mlir::Value x,
                                    VectorMathOptions options);
using VectorMathBinary = mlir::Value(mlir::OpBuilder&, mlir::Location, mlir::Value a, mlir::Value b,
                                     VectorMathOptions options);

VectorMathUnary emitExp, emitExpm1, emitLog, emitLog1p, emitTanh, emitSigmoid, emitSoftplus,
    emitSin, emitCos, emitTan, emitAsin, emitAcos, emitAtan, emitSinh, emitCosh, emitErf, emitRsqrt,
    emitSign;
VectorMathBinary emitAtan2, emitPow;

/// Replaces the operations of the math and newton dialects that have a function above by it, on
/// f32, f64 and vectors of them. The patterns create no operation that they match.
void populateVectorMathPatterns(mlir::RewritePatternSet& patterns, VectorMathOptions options = {});

} // namespace rnnc
