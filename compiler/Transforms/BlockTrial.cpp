//===- BlockTrial.cpp - the search for several unknowns --------------------------------------===//
//
// At the point u, whose residual F has the norm n, Newton's update d solves F' d = -F. The point
// u + d is accepted if its norm is smaller; if not, or if it is not finite, the offset is halved. A
// search that is stuck at a smallest norm which is no solution jumps: it accepts the next point
// that is finite.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/Trial.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;

namespace {

/// Halvings after which a search that is near a solution stops.
constexpr int kHalvingsNear = 3;
/// Halvings after which any other search jumps, or is given up where it has just jumped.
constexpr int kHalvings = 10;

struct BlockTrial : Trial {
  using Trial::Trial;
  LogicalResult build();

private:
  /// What a trial yields.
  struct Search {
    SmallVector<Value> point, offset;
    Value norm, count, verdict;
  };
  Search accepted(ValueRange tried, Value size);
  Search rejected(ValueRange point, ValueRange offset, Value norm, Value count);
};

} // namespace

BlockTrial::Search BlockTrial::accepted(ValueRange tried, Value size) {
  Value isSolved = isWithin(tiny(), update, tried);
  Search next;
  for (auto [value, change] : llvm::zip_equal(tried, update))
    next.point.push_back(select(isSolved, add(value, change), value));
  next.offset = update;
  next.norm = size;
  next.count = number(0);
  next.verdict = select(isSolved, number(1), number(0));
  return next;
}

BlockTrial::Search BlockTrial::rejected(ValueRange point, ValueRange offset, Value norm,
                                        Value count) {
  Value isFirst = is(count, Relation::OLT, number(0));
  count = add(count, number(1));
  // The update itself is the offset before the halvings so far.
  Value isNear = isWithin(near() / (1 << (kHalvingsNear - 1)), offset, point);
  Value stops = both(is(count, Relation::OEQ, number(kHalvingsNear)), isNear);
  Value isStuck = is(count, Relation::OEQ, number(kHalvings));
  Value hasJumped = is(norm, Relation::OEQ, number(INFINITY));

  Search next;
  // Nothing finite to begin with: the sequential loop's NaN, and no failure of the search.
  for (Value value : point)
    next.point.push_back(select(isFirst, number(NAN), value));
  for (Value value : offset)
    next.offset.push_back(select(isStuck, times(1 << (kHalvings - 1), value), times(0.5, value)));
  next.norm = select(isStuck, number(INFINITY), norm);
  next.count = select(isStuck, number(0), count);
  Value givenUp = both(isStuck, hasJumped);
  next.verdict = select(givenUp, number(2), select(stops, number(1), number(0)));
  next.verdict = select(isFirst, number(1), next.verdict);
  return next;
}

LogicalResult BlockTrial::build() {
  ArrayRef<Value> all = carried;
  ArrayRef<Value> point = all.take_front(m), offset = all.slice(m, m);
  Value norm = all[2 * m], count = all[2 * m + 1];
  SmallVector<Value> tried;
  for (auto [from, by] : llvm::zip_equal(point, offset))
    tried.push_back(add(from, by));
  if (failed(evaluate(tried)))
    return failure();
  Value size;
  for (Value value : residual)
    size = size ? add(size, magnitude(value)) : magnitude(value);
  Value isBetter = both(isFinite, is(size, Relation::OLT, norm));

  Search yes = accepted(tried, size), no = rejected(point, offset, norm, count);
  SmallVector<Value> results;
  for (auto [x, y] : llvm::zip_equal(yes.point, no.point))
    results.push_back(select(isBetter, x, y));
  for (auto [x, y] : llvm::zip_equal(yes.offset, no.offset))
    results.push_back(select(isBetter, x, y));
  results.append({select(isBetter, yes.norm, no.norm), select(isBetter, yes.count, no.count),
                  select(isBetter, yes.verdict, no.verdict)});
  newton::YieldOp::create(b, loc, results);
  return success();
}

LogicalResult rnnc::buildBlockTrial(newton::ImplicitOp op) { return BlockTrial(op).build(); }
