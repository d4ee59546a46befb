//===- Simplify.cpp - what derived code is put through ---------------------------------------===//

#include "Transforms/Simplify.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

LogicalResult rnnc::simplifyRegion(Operation* op, Region& region) {
  MLIRContext* context = op->getContext();
  RewritePatternSet patterns(context);
  for (Dialect* dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    if (isa<arith::ArithDialect, math::MathDialect>(name.getDialect()))
      name.getCanonicalizationPatterns(patterns, context);
  // There are no branches to clean up, and looking for them costs as much as the patterns.
  auto config =
      GreedyRewriteConfig().setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
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
