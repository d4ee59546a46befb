//===- ScalarTrial.cpp - the search for one unknown ------------------------------------------===//
//
// Newton's method, kept between a point with F > 0 and one with F < 0 once both are known: the
// middle is tried where the update leads out, or is no shorter than half of the step before. While
// only one sign is known, updates that make |F| smaller are taken, others halved; after three slow
// ones in a row the other sign is looked for, on both sides in turn, twice as far each time.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/Trial.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;

namespace {

constexpr int kSlow = 3; // trials in a row before the other sign is looked for
constexpr int kFar = 43; // the count at which that is given up: 40 doublings

struct ScalarTrial : Trial {
  using Trial::Trial;
  LogicalResult build();

private:
  struct Search {
    Value point, offset, norm, count, verdict;
  };
  /// A choice between two, number by number.
  Search choose(Value where, const Search& x, const Search& y) {
    return {select(where, x.point, y.point), select(where, x.offset, y.offset),
            select(where, x.norm, y.norm), select(where, x.count, y.count),
            select(where, x.verdict, y.verdict)};
  }
  Search between(const Search& before, Value above, Value below);
  Search outside(const Search& before);
  Search notFinite(const Search& before);

  Value tried, size;
};

} // namespace

ScalarTrial::Search ScalarTrial::between(const Search& before, Value above, Value below) {
  Value next = add(tried, update[0]);
  Value isInside =
      arith::XOrIOp::create(b, loc, is(next, Relation::OGT, above), is(next, Relation::OGT, below));
  Value isShort = is(times(2, magnitude(update[0])), Relation::OLE, magnitude(before.offset));
  Value middle = add(times(0.5, above), times(0.5, below));
  next = select(both(isInside, isShort), next, middle);
  // A jump over zero is no solution.
  Value width = arith::SubFOp::create(b, loc, above, below);
  Value isClosed = isWithin(tiny(), width, tried);
  Value found = select(isWithin(near(), update, tried), number(1), number(2));
  Value offset = arith::SubFOp::create(b, loc, next, tried);
  return {tried, offset, size, number(0), select(isClosed, found, number(0))};
}

ScalarTrial::Search ScalarTrial::outside(const Search& before) {
  Value isSearching = is(before.count, Relation::OGE, number(kSlow));
  Value isOpen = negate(isSearching);
  Value isBetter = both(is(size, Relation::OLT, before.norm), isOpen);
  Value isFast = both(is(size, Relation::OLE, times(0.5, before.norm)), isOpen);
  Value count = add(before.count, number(1));
  Value point = select(isBetter, tried, before.point);
  Value step = select(isBetter, update[0], times(0.5, before.offset));
  Value isFirst = is(count, Relation::OEQ, number(kSlow));
  Value far = select(isFirst, add(magnitude(point), number(1)), times(-2, before.offset));
  Value looks = both(is(count, Relation::OGE, number(kSlow)), negate(isFast));
  Value offset = select(looks, far, step);

  Value isNear = select(isBetter, isWithin(near(), update, tried),
                        isWithin(near(), before.offset, before.point));
  Value stops = both(both(isOpen, negate(isFast)), isNear);
  Value isFar = is(count, Relation::OGE, number(kFar));
  Value verdict = select(stops, number(1), select(isFar, number(2), number(0)));
  return {point, offset, select(isBetter, size, before.norm), select(isFast, number(0), count),
          verdict};
}

/// Nothing finite to begin with: the sequential loop's NaN, and no failure of the search.
ScalarTrial::Search ScalarTrial::notFinite(const Search& before) {
  Value isFirst = is(before.count, Relation::OLT, number(0));
  return {select(isFirst, number(NAN), before.point), times(0.5, before.offset), before.norm,
          before.count, select(isFirst, number(1), number(0))};
}

LogicalResult ScalarTrial::build() {
  Search before{carried[0], carried[1], carried[2], carried[3], {}};
  tried = add(before.point, before.offset);
  if (failed(evaluate(tried)))
    return failure();
  size = magnitude(residual[0]);
  Value zero = number(0);
  Value above = select(is(residual[0], Relation::OGT, zero), tried, carried[4]);
  Value below = select(is(residual[0], Relation::OLT, zero), tried, carried[5]);
  Value hasBoth = is(above, Relation::ORD, below);
  Search next = choose(hasBoth, between(before, above, below), outside(before));
  Value isSolved = isWithin(tiny(), update, tried);
  next.point = select(isSolved, add(tried, update[0]), next.point);
  next.verdict = select(isSolved, number(1), next.verdict);
  next = choose(isFinite, next, notFinite(before));
  newton::YieldOp::create(b, loc,
                          ValueRange{next.point, next.offset, next.norm, next.count,
                                     select(isFinite, above, carried[4]),
                                     select(isFinite, below, carried[5]), next.verdict});
  return success();
}

LogicalResult rnnc::buildScalarTrial(newton::ImplicitOp op) { return ScalarTrial(op).build(); }
