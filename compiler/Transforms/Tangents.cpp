//===- Tangents.cpp - forward-mode differentiation -------------------------------------------===//

#include "Transforms/Tangents.h"

#include "Newton/Derivatives.h"
#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace rnnc;

/// A tangent of constants is a constant; null where it is zero. So an unknown that drops out of its
/// equation is seen to do so.
static Value fold(OpBuilder& builder, Value tangent) {
  Operation* made = tangent.getDefiningOp();
  auto isConstant = [](Value value) { return matchPattern(value, m_Constant()); };
  SmallVector<Value> folded;
  if (made && made->getNumOperands() > 0 && made->use_empty() &&
      llvm::all_of(made->getOperands(), isConstant) && succeeded(builder.tryFold(made, folded)) &&
      !folded.empty() && folded.front() != tangent) {
    made->erase();
    tangent = folded.front();
  }
  FloatAttr number;
  return matchPattern(tangent, m_Constant(&number)) && number.getValue().isZero() ? Value()
                                                                                  : tangent;
}

LogicalResult rnnc::propagate(ArrayRef<Operation*> ops, Tangents& tangents) {
  for (Operation* op : ops) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tangents.lookup(operand));
    if (llvm::none_of(operands, [](Value v) { return static_cast<bool>(v); }) ||
        !isa<FloatType>(op->getResult(0).getType()))
      continue;
    auto derivable = dyn_cast<newton::DerivativeOpInterface>(op);
    if (!derivable) {
      op->emitError("has no derivative rule");
      return failure();
    }
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    if (Value tangent = derivable.tangent(builder, operands))
      tangents[op->getResult(0)] = fold(builder, tangent);
  }
  return success();
}

FailureOr<Linearised> rnnc::linearise(newton::ImplicitOp op, OpBuilder& builder, ValueRange at,
                                      ValueRange given) {
  Linearised result;
  Block& block = op.residualBlock();
  IRMapping mapping;
  mapping.map(block.getArguments().take_front(at.size()), at);
  mapping.map(block.getArguments().drop_front(at.size()), given);
  Location loc = op.getLoc();
  Value one = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(at[0].getType(), 1));
  for (Operation& inner : block.without_terminator())
    result.ops.push_back(builder.clone(inner, mapping));
  for (Value value : block.getTerminator()->getOperands())
    result.residuals.push_back(mapping.lookup(value));
  result.matrix.assign(at.size(), SmallVector<Value>(at.size()));
  for (auto [column, unknown] : llvm::enumerate(at)) {
    Tangents tangents;
    tangents[unknown] = one;
    if (failed(propagate(result.ops, tangents)))
      return failure();
    for (auto [row, residual] : llvm::zip_equal(result.matrix, result.residuals))
      row[column] = tangents.lookup(residual);
  }
  return result;
}
