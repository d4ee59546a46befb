//===- Simple.cpp - functions of a few operations --------------------------------------------===//

#include "Target/Cpu/VectorMath/Expr.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;

static Expr reciprocalRoot(Expr x) { return x.like(1.0) / sqrt(x); }

/// -1, 0 or 1; keeps zeros and NaN.
static Expr sign(Expr x) { return select(x > 0.0, 1.0, select(x < 0.0, -1.0, x)); }

Value rnnc::emitRsqrt(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, reciprocalRoot);
}

Value rnnc::emitSign(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, sign);
}
