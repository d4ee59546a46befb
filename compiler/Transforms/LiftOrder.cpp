//===- LiftOrder.cpp - h[t-n] becomes a state of order one ------------------------------------===//
//
// A state of order n is a companion block: beside h it holds hidden states that carry h from step
// to step, h_back1[t] = h[t-1], h_back2[t] = h_back1[t-1], ...; h[t-n] is h_back(n-1)[t-1].
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace rnnc {
#define GEN_PASS_DEF_LIFTORDER
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

/// Declares and sets the states that carry `state` for order - 1 steps.
static LogicalResult addShifts(CellOp cell, StateOp state, int64_t order) {
  Block& step = cell.getStep().getBody().front();
  OpBuilder decls(state), equations = OpBuilder::atBlockEnd(&step);
  decls.setInsertionPointAfter(state);
  Location loc = state.getLoc();
  std::string previous = state.getSymName().str();
  for (int64_t back = 1; back < order; ++back) {
    std::string name = shiftName(state.getSymName(), back);
    if (SymbolTable::lookupSymbolIn(cell, name))
      return emitError(loc) << "'" << name << "' is the name of a state that carries '"
                            << state.getSymName() << "' to later steps; call the other something "
                            << "else [RNN0118]";
    StateOp::create(decls, loc, decls.getStringAttr(name), state.getTypeAttr(), state.getInitAttr(),
                    decls.getUnitAttr(), state.getStartAttr());
    auto value = StateAtOp::create(equations, loc, state.getType(), previous, 1);
    SetStateOp::create(equations, loc, name, value);
    previous = std::move(name);
  }
  return success();
}

static LogicalResult lift(CellOp cell) {
  for (StateOp state : llvm::to_vector(cell.decls<StateOp>())) {
    int64_t order = orderOf(state);
    if (order > 1 && failed(addShifts(cell, state, order)))
      return failure();
  }
  for (auto read : cell.getStep().getBody().front().getOps<StateAtOp>())
    if (int64_t back = read.getBack(); back > 1) {
      read.setName(shiftName(read.getName(), back - 1));
      read.setBack(1);
    }
  return success();
}

namespace {
struct LiftOrder : rnnc::impl::LiftOrderBase<LiftOrder> {
  void runOnOperation() override {
    for (CellOp cell : getOperation().getOps<CellOp>())
      if (failed(lift(cell)))
        return signalPassFailure();
  }
};
} // namespace
