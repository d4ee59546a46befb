//===- DeriveTrial.cpp - Newton's method for an implicit step, one trial at a time ------------===//

#include "Transforms/LinearSolve.h"
#include "Transforms/Passes.h"
#include "Transforms/Tangents.h"
#include "Transforms/Trial.h"

#include <cmath>

namespace rnnc {
#define GEN_PASS_DEF_DERIVETRIAL
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;

Trial::Trial(newton::ImplicitOp op)
    : op(op), b(op.getContext()), loc(op.getLoc()), type(op.getStarts().front().getType()),
      ulp(type.isF64() ? 0x1p-52 : 0x1p-23), m(op.numUnknowns()) {
  Block& block = op.getTrial().emplaceBlock();
  for (int64_t i = 0; i < op.numCarried(); ++i)
    carried.push_back(block.addArgument(type, loc));
  for (BlockArgument capture : op.residualBlock().getArguments().drop_front(m))
    given.push_back(block.addArgument(capture.getType(), capture.getLoc()));
  b.setInsertionPointToStart(&block);
}

double Trial::near() const { return 8 * std::sqrt(ulp); }

Value Trial::isWithin(double bound, ValueRange x, ValueRange at) {
  Value all;
  for (auto [change, place] : llvm::zip_equal(x, at)) {
    Value limit = times(bound, add(magnitude(place), number(1)));
    all = both(all, is(magnitude(change), Relation::OLE, limit));
  }
  return all;
}

/// Where the matrix is singular the residual itself takes the update's place: the step u = G(u),
/// which leads away from there.
LogicalResult Trial::evaluate(ValueRange at) {
  FailureOr<Linearised> linear = linearise(op, b, at, given);
  if (failed(linear))
    return failure();
  FailureOr<Factored> factors = Factored::create(b, loc, linear->matrix);
  if (failed(factors)) {
    std::string names;
    for (auto name : op.getUnknowns().getAsValueRange<StringAttr>())
      names += (names.empty() ? "'" : "', '") + name.str();
    return emitError(loc) << "this implicit step does not determine " << names
                          << "': the new value drops out of its equation [RNN0412]";
  }
  residual = linear->residuals;
  SmallVector<Value> minus;
  for (Value value : residual)
    minus.push_back(arith::NegFOp::create(b, loc, value));
  update = factors->solve(b, loc, minus);
  Value infinity = number(INFINITY), isRegular;
  for (Value value : update)
    isRegular = both(isRegular, is(magnitude(value), Relation::OLT, infinity));
  for (auto [value, instead] : llvm::zip_equal(update, residual))
    value = select(isRegular, value, instead);
  isFinite = {};
  for (Value value : residual)
    isFinite = both(isFinite, is(magnitude(value), Relation::OLT, infinity));
  for (ArrayRef<Value> row : linear->matrix)
    for (Value entry : row)
      if (entry)
        isFinite = both(isFinite, is(magnitude(entry), Relation::OLT, infinity));
  return success();
}

namespace {
struct DeriveTrial : rnnc::impl::DeriveTrialBase<DeriveTrial> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk([](newton::ImplicitOp op) {
      if (op.hasTrial())
        return WalkResult::advance();
      bool isScalar = op.numUnknowns() == 1;
      return succeeded(isScalar ? buildScalarTrial(op) : buildBlockTrial(op))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
