//===- DeriveTrial.cpp - Newton's method for an implicit step, one trial at a time ------------===//
//
// The search for G(u) = u, lane by lane: at the point u, whose residual F has the norm n, Newton's
// update d solves F' d = -F. The point u + d is accepted if its norm is smaller; if not, or if it is
// not finite, the offset is halved. A search that is stuck at a smallest norm which is no solution
// jumps: it accepts the next point that is finite. All of it is arithmetic on the operands alone, so
// every schedule and every back end that runs these ops gives the same bits.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/LinearSolve.h"
#include "Transforms/Passes.h"
#include "Transforms/Tangents.h"

#include <cmath>

namespace rnnc {
#define GEN_PASS_DEF_DERIVETRIAL
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;

namespace {

/// Where the update is so small, in units of 1 + |u|, the point with the update added is the result.
constexpr double kTinyUlps = 4;
/// Halvings after which a search that is near a solution (`nearRoots` times the root of an ulp)
/// stops: rounding is all that is left of its residual.
constexpr int kHalvingsNear = 3;
constexpr double kNearRoots = 8;
/// Halvings after which any other search jumps, or is given up where it has just jumped.
constexpr int kHalvings = 10;

class TrialBuilder {
public:
  TrialBuilder(newton::ImplicitOp op)
      : op(op), b(op.getContext()), loc(op.getLoc()), type(op.getStarts().front().getType()),
        m(op.numUnknowns()) {}
  LogicalResult build();

private:
  /// What a trial takes and yields.
  struct Search {
    SmallVector<Value> point, offset;
    Value norm, halvings, verdict;
  };

  LogicalResult evaluate(ValueRange at, ValueRange given);
  Search accepted(ValueRange tried);
  Search rejected(const Search& before);

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value times(double factor, Value x) {
    return arith::MulFOp::create(b, loc, x, number(factor));
  }
  Value magnitude(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value is(Value x, arith::CmpFPredicate relation, Value y) {
    return arith::CmpFOp::create(b, loc, relation, x, y);
  }
  Value both(Value x, Value y) { return x ? Value(arith::AndIOp::create(b, loc, x, y)) : y; }
  Value select(Value where, Value x, Value y) {
    return arith::SelectOp::create(b, loc, where, x, y);
  }
  /// Whether all |x| are at most `bound` * (1 + |at|).
  Value areWithin(double bound, ValueRange x, ValueRange at);

  newton::ImplicitOp op;
  OpBuilder b;
  Location loc;
  Type type;
  int64_t m;
  SmallVector<Value> residual, update; // at the tried point
};

} // namespace

Value TrialBuilder::areWithin(double bound, ValueRange x, ValueRange at) {
  Value all;
  for (auto [number, place] : llvm::zip_equal(x, at)) {
    Value limit = times(bound, add(magnitude(place), this->number(1)));
    all = both(all, is(magnitude(number), arith::CmpFPredicate::OLE, limit));
  }
  return all;
}

/// The residual and Newton's update. Where the matrix is singular the residual itself takes the
/// update's place: the step u = G(u), which leads away from there.
LogicalResult TrialBuilder::evaluate(ValueRange at, ValueRange given) {
  FailureOr<Linearised> linear = linearise(op, b, at, given);
  if (failed(linear))
    return failure();
  FailureOr<Factored> factors = Factored::create(b, loc, linear->matrix);
  if (failed(factors)) {
    std::string names;
    for (auto name : op.getUnknowns().getAsValueRange<StringAttr>())
      names += (names.empty() ? "'" : "', '") + name.str();
    emitError(loc) << "this implicit step does not determine " << names
                   << "': the new value drops out of its equation [RNN0412]";
    return failure();
  }
  residual = linear->residuals;
  SmallVector<Value> minus;
  for (Value value : residual)
    minus.push_back(arith::NegFOp::create(b, loc, value));
  update = factors->solve(b, loc, minus);
  Value finite;
  for (Value value : update)
    finite = both(finite, is(magnitude(value), arith::CmpFPredicate::OLT, number(INFINITY)));
  for (auto [value, instead] : llvm::zip_equal(update, residual))
    value = select(finite, value, instead);
  return success();
}

TrialBuilder::Search TrialBuilder::accepted(ValueRange tried) {
  double ulp = type.isF64() ? 0x1p-52 : 0x1p-23;
  Value isSolved = areWithin(kTinyUlps * ulp, update, tried);
  Search next;
  for (auto [value, change] : llvm::zip_equal(tried, update))
    next.point.push_back(select(isSolved, add(value, change), value));
  next.offset = update;
  next.halvings = number(0);
  next.verdict = select(isSolved, number(1), number(0));
  return next;
}

TrialBuilder::Search TrialBuilder::rejected(const Search& before) {
  using Relation = arith::CmpFPredicate;
  double ulp = type.isF64() ? 0x1p-52 : 0x1p-23;
  Value halvings = add(before.halvings, number(1));
  Value isFirst = is(before.halvings, Relation::OLT, number(0));
  // The update itself is the offset before the halvings so far.
  Value isNear = areWithin(kNearRoots * std::sqrt(ulp) / (1 << (kHalvingsNear - 1)), before.offset,
                           before.point);
  Value stops = both(is(halvings, Relation::OEQ, number(kHalvingsNear)), isNear);
  Value isStuck = is(halvings, Relation::OEQ, number(kHalvings));
  Value hasJumped = is(before.norm, Relation::OEQ, number(INFINITY));

  Search next;
  // Nothing finite to begin with: the sequential loop's NaN, and no failure of the search.
  for (Value value : before.point)
    next.point.push_back(select(isFirst, number(NAN), value));
  for (Value value : before.offset)
    next.offset.push_back(
        select(isStuck, times(1 << (kHalvings - 1), value), times(0.5, value)));
  next.norm = select(isStuck, number(INFINITY), before.norm);
  next.halvings = select(isStuck, number(0), halvings);
  Value givenUp = both(isStuck, hasJumped);
  next.verdict = select(givenUp, number(2), select(stops, number(1), number(0)));
  next.verdict = select(isFirst, number(1), next.verdict);
  return next;
}

LogicalResult TrialBuilder::build() {
  Block& block = op.getTrial().emplaceBlock();
  for (int64_t i = 0; i < op.numCarried(); ++i)
    block.addArgument(type, loc);
  for (BlockArgument given : op.residualBlock().getArguments().drop_front(m))
    block.addArgument(given.getType(), given.getLoc());
  ArrayRef<BlockArgument> arguments = block.getArguments();
  b.setInsertionPointToStart(&block);

  Search before{SmallVector<Value>(arguments.take_front(m)),
                SmallVector<Value>(arguments.slice(m, m)), arguments[2 * m], arguments[2 * m + 1],
                {}};
  SmallVector<Value> tried, given(arguments.drop_front(op.numCarried()));
  for (auto [point, offset] : llvm::zip_equal(before.point, before.offset))
    tried.push_back(add(point, offset));
  if (failed(evaluate(tried, given)))
    return failure();
  // A sum, because it keeps NaN and inf.
  Value norm;
  for (Value value : residual)
    norm = norm ? add(norm, magnitude(value)) : magnitude(value);
  Value isBetter = is(norm, arith::CmpFPredicate::OLT, before.norm);

  Search yes = accepted(tried), no = rejected(before);
  yes.norm = norm;
  SmallVector<Value> results;
  for (auto [x, y] : llvm::zip_equal(yes.point, no.point))
    results.push_back(select(isBetter, x, y));
  for (auto [x, y] : llvm::zip_equal(yes.offset, no.offset))
    results.push_back(select(isBetter, x, y));
  for (auto [x, y] : {std::pair(yes.norm, no.norm), {yes.halvings, no.halvings},
                      {yes.verdict, no.verdict}})
    results.push_back(select(isBetter, x, y));
  newton::YieldOp::create(b, loc, results);
  return success();
}

namespace {
struct DeriveTrial : rnnc::impl::DeriveTrialBase<DeriveTrial> {
  void runOnOperation() override {
    WalkResult walk = getOperation().walk([](newton::ImplicitOp op) {
      return op.hasTrial() || succeeded(TrialBuilder(op).build()) ? WalkResult::advance()
                                                                  : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
