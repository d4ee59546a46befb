//===- DeriveJacobian.cpp - the Jacobian of a step, by symbolic differentiation --------------===//

#include "Analysis/JacobianStructure.h"
#include "Transforms/Coupling.h"
#include "Transforms/LinearSolve.h"
#include "Transforms/Passes.h"
#include "Transforms/Simplify.h"
#include "Transforms/Tangents.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace rnnc {
#define GEN_PASS_DEF_DERIVEJACOBIAN
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;

namespace {

/// The solutions u of F(u, c) = 0 and the equation written out behind the op, at u: along any
/// direction F' du = -(dF/dc) dc, the implicit function theorem.
struct Equation {
  newton::ImplicitOp op;
  Linearised linear;
  Factored factors;
  Operation* behind; // what follows
};

/// The ops of a block, with the equations of its implicit ops.
struct Body {
  explicit Body(Block& block) : block(block) {}
  LogicalResult open();
  /// Tangents of the yielded states along state `column`, null where they are zero.
  FailureOr<SmallVector<Value>> tangentsAlong(int64_t column, int64_t states);

  Block& block;
  SmallVector<Operation*> ops; // without those of the equations
  DenseMap<Operation*, Equation> equations;

private:
  LogicalResult solve(Equation& equation, Tangents& tangents);
};

} // namespace

LogicalResult Body::open() {
  for (Operation& op : block.without_terminator())
    ops.push_back(&op);
  for (Operation* op : ops) {
    auto implicit = dyn_cast<newton::ImplicitOp>(op);
    if (!implicit)
      continue;
    Operation* behind = op->getNextNode();
    OpBuilder builder(behind);
    FailureOr<Linearised> linear =
        linearise(implicit, builder, implicit.getSolutions(), implicit.getCaptures());
    if (failed(linear))
      return failure();
    FailureOr<Factored> factors = Factored::create(builder, op->getLoc(), linear->matrix);
    if (failed(factors))
      return op->emitError("has a singular derivative");
    equations.try_emplace(op, Equation{implicit, *linear, *factors, behind});
  }
  return success();
}

LogicalResult Body::solve(Equation& equation, Tangents& tangents) {
  Tangents local;
  for (Value given : equation.op.getCaptures())
    local[given] = tangents.lookup(given);
  if (failed(propagate(equation.linear.ops, local)))
    return failure();
  OpBuilder builder(equation.behind);
  Location loc = equation.op.getLoc();
  SmallVector<Value> right;
  for (Value residual : equation.linear.residuals) {
    Value tangent = local.lookup(residual);
    right.push_back(tangent ? Value(arith::NegFOp::create(builder, loc, tangent)) : Value());
  }
  SmallVector<Value> solution = equation.factors.solve(builder, loc, right);
  for (auto [unknown, tangent] : llvm::zip_equal(equation.op.getSolutions(), solution))
    tangents[unknown] = tangent;
  return success();
}

FailureOr<SmallVector<Value>> Body::tangentsAlong(int64_t column, int64_t states) {
  Tangents tangents;
  OpBuilder builder(&block, block.begin());
  Value direction = block.getArgument(column);
  tangents[direction] = arith::ConstantOp::create(builder, direction.getLoc(),
                                                  builder.getFloatAttr(direction.getType(), 1));
  for (Operation* op : ops) {
    auto equation = equations.find(op);
    if (failed(equation == equations.end() ? propagate(op, tangents)
                                           : solve(equation->second, tangents)))
      return failure();
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands().take_front(states))
    results.push_back(tangents.lookup(value));
  return results;
}

static bool isZero(Value value) {
  FloatAttr number;
  return !value || (matchPattern(value, m_Constant(&number)) && number.getValue().isZero());
}

/// Of entries that are equal or opposite only the first is yielded. Returns the signed value of
/// each.
static SmallVector<int64_t> shareValues(Block& block) {
  Operation* yield = block.getTerminator();
  SmallVector<int64_t> values = numberValues(block, yield->getOperands());
  SmallVector<Value> firsts;
  for (auto [value, entry] : llvm::zip(values, yield->getOperands()))
    if (value == static_cast<int64_t>(firsts.size()) + 1)
      firsts.push_back(entry);
  yield->setOperands(firsts);
  return values;
}

/// The Jacobian as a dense list of entries, then the list of those that are not zero. `diagonal`:
/// its diagonal alone.
static LogicalResult derive(newton::SystemOp system, bool diagonal) {
  int64_t k = system.numStates();
  Region& region = system.getJacobian();
  IRMapping mapping;
  system.getStep().cloneInto(&region, mapping);
  Block& block = region.front();
  SmallVector<SmallVector<Value>> columns;
  Body body(block);
  if (failed(body.open()))
    return failure();
  for (int64_t column = 0; column < k; ++column) {
    FailureOr<SmallVector<Value>> tangents = body.tangentsAlong(column, k);
    if (failed(tangents))
      return failure();
    columns.push_back(*tangents);
  }
  auto yield = [&](SmallVectorImpl<int64_t>& entries, auto keep, auto value) {
    SmallVector<Value> values;
    entries.clear();
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < k; ++column)
        if (keep(row, column)) {
          entries.append({row, column});
          values.push_back(value(row, column));
        }
    block.getTerminator()->setOperands(values);
  };
  SmallVector<int64_t> entries;
  yield(
      entries, [&](int64_t r, int64_t c) { return columns[c][r] && (r == c || !diagonal); },
      [&](int64_t r, int64_t c) { return columns[c][r]; });
  if (failed(simplifyRegion(system, system.getJacobian())))
    return failure();
  SmallVector<Value> simple(block.getTerminator()->getOperands());
  DenseMap<std::pair<int64_t, int64_t>, Value> entry;
  for (size_t i = 0; i < simple.size(); ++i)
    if (!isZero(simple[i]))
      entry[{entries[2 * i], entries[2 * i + 1]}] = simple[i];
  yield(
      entries, [&](int64_t r, int64_t c) { return entry.contains({r, c}); },
      [&](int64_t r, int64_t c) { return entry.lookup({r, c}); });
  eraseUnused(block); // what only a zero entry used
  SmallVector<int64_t> values = shareValues(block);
  eraseUnused(block); // what only an entry used that is another one's equal
  newton::StructureAttr structure = jacobianStructure(k, entries, values, system, block);
  if (diagonal) // of the Jacobian itself nothing is known
    structure = newton::StructureAttr::get(system.getContext(), entries, structure.getValues(),
                                           structure.getCarry(), structure.getNumbers(),
                                           structure.getBlocks(), /*linear=*/false,
                                           /*constant=*/false);
  system.setStructureAttr(structure);
  system.setDiagonal(diagonal);
  return success();
}

/// Operations that a derivative may start from before it is simplified: a full block of 16 states
/// would only be thrown away again.
static constexpr int64_t kMostOperations = 200000;

/// Whether a carry costs no more than that of a full block of `maxBlock` states, to keep and to
/// multiply.
static bool isCheap(newton::StructureAttr structure, int64_t maxBlock) {
  int64_t terms = 0;
  for (const auto& sum : structure.product())
    terms += sum.size();
  return structure.numCarry() <= maxBlock * maxBlock && terms <= maxBlock * maxBlock * maxBlock;
}

/// A block of more than `maxBlock` states: its Jacobian stays where few numbers make it, else its
/// diagonal stands for it.
static LogicalResult deriveLarge(newton::SystemOp system, int64_t maxBlock) {
  int64_t operations = system.stepBlock().getOperations().size();
  if (system.numStates() * operations <= kMostOperations) {
    if (failed(derive(system, /*diagonal=*/false)))
      return failure();
    if (isCheap(*system.getStructure(), maxBlock))
      return success();
    system.removeStructureAttr();
    system.getJacobian().front().erase();
  }
  if (std::optional<Coupling> coupling = Coupling::takeFrom(system))
    coupling->warn();
  return derive(system, /*diagonal=*/true);
}

namespace {
struct DeriveJacobian : rnnc::impl::DeriveJacobianBase<DeriveJacobian> {
  using DeriveJacobianBase::DeriveJacobianBase;

  void runOnOperation() override {
    for (auto system : getOperation().ops<newton::SystemOp>()) {
      if (!system.getPhase() && !system.hasJacobian() &&
          failed(system.numStates() <= maxBlock ? derive(system, /*diagonal=*/false)
                                                : deriveLarge(system, maxBlock)))
        return signalPassFailure();
      Coupling::takeFrom(system);
    }
  }
};
} // namespace
