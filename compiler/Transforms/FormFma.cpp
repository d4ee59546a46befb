//===- FormFma.cpp - fuse products into sums, once -------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace rnnc {
#define GEN_PASS_DEF_FORMFMA
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;

/// The product that defines `value`, if this sum is its only use: another use needs it rounded.
static arith::MulFOp soleProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() ? product : arith::MulFOp();
}

static void replace(Operation* op, Value a, Value b, Value c, Operation* product) {
  OpBuilder builder(op);
  op->getResult(0).replaceAllUsesWith(math::FmaOp::create(builder, op->getLoc(), a, b, c));
  op->erase();
  product->erase();
}

/// Of two products, the left one is fused: a rule, so that every build rounds alike.
static void fuseSum(arith::AddFOp sum) {
  if (auto product = soleProduct(sum.getLhs()))
    replace(sum, product.getLhs(), product.getRhs(), sum.getRhs(), product);
  else if (auto product = soleProduct(sum.getRhs()))
    replace(sum, product.getLhs(), product.getRhs(), sum.getLhs(), product);
}

static void fuseDifference(arith::SubFOp difference) {
  OpBuilder builder(difference);
  Location loc = difference.getLoc();
  if (auto named = dyn_cast<NameLoc>(loc))
    loc = named.getChildLoc(); // the name is the difference's, not its negated operand's
  if (auto product = soleProduct(difference.getLhs())) {
    Value minus = arith::NegFOp::create(builder, loc, difference.getRhs());
    replace(difference, product.getLhs(), product.getRhs(), minus, product);
  } else if (auto product = soleProduct(difference.getRhs())) {
    Value minus = arith::NegFOp::create(builder, loc, product.getLhs());
    replace(difference, minus, product.getRhs(), difference.getLhs(), product);
  }
}

namespace {
struct FormFma : rnnc::impl::FormFmaBase<FormFma> {
  void runOnOperation() override {
    SmallVector<Operation*> ops;
    getOperation().walk([&](Operation* op) {
      if (isa<arith::AddFOp, arith::SubFOp>(op))
        ops.push_back(op);
    });
    for (Operation* op : ops) {
      if (auto sum = dyn_cast<arith::AddFOp>(op))
        fuseSum(sum);
      else
        fuseDifference(cast<arith::SubFOp>(op));
    }
  }
};
} // namespace
