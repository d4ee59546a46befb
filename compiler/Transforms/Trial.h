//===- Trial.h - what the trials of implicit steps are put together from ---------------------===//
#pragma once

#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace rnnc {

/// Builds scalars of the compute type, in the region `trial` of an implicit op that it opens.
class Trial {
public:
  explicit Trial(newton::ImplicitOp op);

protected:
  using Relation = mlir::arith::CmpFPredicate;

  /// Where the update is so small, in units of 1 + |u|, the point with the update added is the
  /// result.
  double tiny() const { return 4 * ulp; }
  /// Where it is so small and nothing gets better, rounding is all that is left of the residual.
  double near() const;

  /// Fills `residual`, Newton's update `update`, and `isFinite`: whether all of the residual and
  /// its derivatives are. Failure after a diagnostic.
  mlir::LogicalResult evaluate(mlir::ValueRange at);

  mlir::Value number(double value) {
    return mlir::arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value times(double factor, mlir::Value x) {
    return mlir::arith::MulFOp::create(b, loc, x, number(factor));
  }
  mlir::Value magnitude(mlir::Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  mlir::Value is(mlir::Value x, Relation relation, mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, loc, relation, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return x ? mlir::Value(mlir::arith::AndIOp::create(b, loc, x, y)) : y;
  }
  mlir::Value negate(mlir::Value x) {
    mlir::Value yes = mlir::arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    return mlir::arith::XOrIOp::create(b, loc, x, yes);
  }
  mlir::Value select(mlir::Value where, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, loc, where, x, y);
  }
  /// Whether |x| is at most `bound` * (1 + |at|), of each or of one.
  mlir::Value isWithin(double bound, mlir::ValueRange x, mlir::ValueRange at);

  newton::ImplicitOp op;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type type;
  double ulp;
  int64_t m;                                     ///< unknowns
  llvm::SmallVector<mlir::Value> carried, given; ///< the region's arguments
  llvm::SmallVector<mlir::Value> residual, update;
  mlir::Value isFinite;
};

/// Fills the region of an op with one unknown, or with several; failure after a diagnostic.
mlir::LogicalResult buildScalarTrial(newton::ImplicitOp op);
mlir::LogicalResult buildBlockTrial(newton::ImplicitOp op);

} // namespace rnnc
