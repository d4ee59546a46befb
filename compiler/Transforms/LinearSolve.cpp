//===- LinearSolve.cpp - small systems of linear equations, written out as scalars -----------===//

#include "Transforms/LinearSolve.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace rnnc;

namespace {

/// Arithmetic where null is zero.
struct Sparse {
  OpBuilder& b;
  Location loc;

  /// a - x * y
  Value minus(Value a, Value x, Value y) const {
    if (!x || !y)
      return a;
    Value product = arith::MulFOp::create(b, loc, x, y);
    if (!a)
      return arith::NegFOp::create(b, loc, product);
    return arith::SubFOp::create(b, loc, a, product);
  }
  Value over(Value a, Value pivot) const {
    return a ? Value(arith::DivFOp::create(b, loc, a, pivot)) : Value();
  }
  Value choose(Value where, Value a, Value b) const {
    if (a == b)
      return a;
    Value zero;
    for (Value some : {a, b})
      if (some)
        zero = arith::ConstantOp::create(this->b, loc, this->b.getFloatAttr(some.getType(), 0));
    return arith::SelectOp::create(this->b, loc, where, a ? a : zero, b ? b : zero);
  }
  void exchange(Value where, Value& x, Value& y) const {
    if (!where)
      return std::swap(x, y);
    Value first = choose(where, y, x);
    y = choose(where, x, y);
    x = first;
  }
  Value isLarger(Value a, Value b) const {
    Value left = math::AbsFOp::create(this->b, loc, a),
          right = math::AbsFOp::create(this->b, loc, b);
    return arith::CmpFOp::create(this->b, loc, arith::CmpFPredicate::OGT, left, right);
  }
};

} // namespace

FailureOr<Factored> Factored::create(OpBuilder& builder, Location loc, Matrix a) {
  Sparse sparse{builder, loc};
  Factored result;
  unsigned size = a.size();
  for (unsigned c = 0; c < size; ++c) {
    Column& column = result.columns.emplace_back();
    auto exchange = [&](unsigned row, Value where) {
      for (unsigned j = c; j < size; ++j)
        sparse.exchange(where, a[c][j], a[row][j]);
      column.exchanges.push_back({row, where});
    };
    for (unsigned row = c + 1; row < size && !a[c][c]; ++row)
      if (a[row][c])
        exchange(row, {});
    if (!a[c][c])
      return failure();
    for (unsigned row = c + 1; row < size; ++row)
      if (a[row][c])
        exchange(row, sparse.isLarger(a[row][c], a[c][c]));
    for (unsigned row = c + 1; row < size; ++row) {
      Value multiple = sparse.over(a[row][c], a[c][c]);
      if (!multiple)
        continue;
      column.multiples.push_back({row, multiple});
      for (unsigned j = c + 1; j < size; ++j)
        a[row][j] = sparse.minus(a[row][j], multiple, a[c][j]);
    }
  }
  result.upper = std::move(a);
  return result;
}

SmallVector<Value> Factored::solve(OpBuilder& builder, Location loc, SmallVector<Value> b) const {
  Sparse sparse{builder, loc};
  for (auto [c, column] : llvm::enumerate(columns)) {
    for (const Exchange& exchange : column.exchanges)
      sparse.exchange(exchange.where, b[c], b[exchange.row]);
    for (const auto& [row, multiple] : column.multiples)
      b[row] = sparse.minus(b[row], multiple, b[c]);
  }
  for (unsigned c = columns.size(); c-- > 0;) {
    for (unsigned j = c + 1; j < columns.size(); ++j)
      b[c] = sparse.minus(b[c], upper[c][j], b[j]);
    b[c] = sparse.over(b[c], upper[c][c]);
  }
  return b;
}
