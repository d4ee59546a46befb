//===- Patterns.cpp - operations replaced by our vector math ===//

#include "Newton/Newton.h"
#include "Target/Cpu/VectorMath/VectorMath.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace rnnc;

/// f32, f64, or a vector of them of one dimension and known length.
static bool isSupported(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (vector && (vector.getRank() != 1 || vector.isScalable()))
    return false;
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF64();
}

namespace {

template <typename OpT, VectorMathUnary emit>
struct Unary : OpRewritePattern<OpT> {
  Unary(MLIRContext* context, VectorMathOptions options)
      : OpRewritePattern<OpT>(context), options(options) {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter& rewriter) const override {
    if (!isSupported(op.getType()))
      return rewriter.notifyMatchFailure(op, "not f32, f64 or a vector of them");
    rewriter.replaceOp(op, emit(rewriter, op.getLoc(), op->getOperand(0), options));
    return success();
  }
  VectorMathOptions options;
};

template <typename OpT, VectorMathBinary emit>
struct Binary : OpRewritePattern<OpT> {
  Binary(MLIRContext* context, VectorMathOptions options)
      : OpRewritePattern<OpT>(context), options(options) {}

  LogicalResult matchAndRewrite(OpT op, PatternRewriter& rewriter) const override {
    if (!isSupported(op.getType()))
      return rewriter.notifyMatchFailure(op, "not f32, f64 or a vector of them");
    rewriter.replaceOp(op,
                       emit(rewriter, op.getLoc(), op->getOperand(0), op->getOperand(1), options));
    return success();
  }
  VectorMathOptions options;
};

} // namespace

void rnnc::populateVectorMathPatterns(RewritePatternSet& patterns, VectorMathOptions options) {
  patterns.add<Unary<math::ExpOp, emitExp>, Unary<math::TanhOp, emitTanh>, Unary<math::LogOp, emitLog>, Unary<math::SinOp, emitSin>, Unary<math::CosOp, emitCos>, Unary<math::TanOp, emitTan>, Unary<math::Log1pOp, emitLog1p>,
               Unary<newton::SigmoidOp, emitSigmoid>>(patterns.getContext(), options);
}
