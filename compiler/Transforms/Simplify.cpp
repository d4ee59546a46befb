//===- Simplify.cpp - what derived code is put through ---------------------------------------===//

#include "Transforms/Simplify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace {
/// Of several places the first, which is that of the operation that the pattern was for. Its name
/// goes: of the operations that a pattern makes only one is what the user named.
struct OnePlace : RewriterBase::Listener {
  void notifyOperationInserted(Operation* op, OpBuilder::InsertPoint) override {
    auto fused = dyn_cast<FusedLoc>(op->getLoc());
    if (!fused)
      return;
    Location first = fused.getLocations().front();
    auto named = dyn_cast<NameLoc>(first);
    op->setLoc(named ? named.getChildLoc() : first);
  }
};
} // namespace

GreedyRewriteConfig rnnc::rewriteConfig() {
  static OnePlace onePlace; // has no state
  return GreedyRewriteConfig().setListener(&onePlace);
}

LogicalResult rnnc::simplifyRegion(Operation* op, Region& region) {
  MLIRContext* context = op->getContext();
  RewritePatternSet patterns(context);
  for (Dialect* dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<arith::ArithDialect, math::MathDialect>(name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
  // There are no branches to clean up, and looking for them costs as much as the patterns.
  auto config = rewriteConfig().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(applyPatternsGreedily(region, std::move(patterns), config)))
    return failure();
  IRRewriter rewriter(context);
  DominanceInfo dominance(op);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  return success();
}

void rnnc::eraseUnused(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}
