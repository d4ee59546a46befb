//===- LowerToNewton.cpp - arrays become scalars a lane --------------------------------------===//
//===----------------------------------------------------------------------------------------------===//

#include "Analysis/Adjoint.h"
#include "Analysis/Hoisting.h"
#include "Transforms/Boundary.h"
#include "Transforms/Coupling.h"
#include "Transforms/GroupLowering.h"
#include "Transforms/LowerDense.h"
#include "Transforms/LowerOuter.h"
#include "Transforms/LowerProduct.h"
#include "Transforms/Passes.h"
#include "Transforms/Scalars.h"

#include <map>
#include <set>

namespace rnnc {
#define GEN_PASS_DEF_LOWERTONEWTON
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

/// Every element of a tensor along its block axes, row-major.
LogicalResult GroupLowering::listElements(Operation* set, Value value, FlatSymbolRefAttr tensor,
                                          ArrayType type, ArrayRef<int64_t> laneOfAxis,
                                          SmallVectorImpl<Result>& into) {
  Index index(type.getRank());
  for (unsigned i = 0; i < type.getRank(); ++i)
    index[i].lane = laneOfAxis[i];
  while (true) {
    into.push_back({value, broadcastIndex(value, index, type.getDims()), index, tensor});
    if (static_cast<int64_t>(states.size() + outputs.size() + sums.size()) > limit)
      return emitError(set->getLoc())
             << tensor << " unrolls to more than " << limit << " scalars a lane [RNN0402]";
    int64_t axis = static_cast<int64_t>(type.getRank()) - 1;
    for (; axis >= 0; --axis) {
      if (index[axis].isLane())
        continue;
      if (++index[axis].at < type.getDims()[axis].getSize())
        break;
      index[axis].at = 0;
    }
    if (axis < 0)
      return success();
  }
}

LogicalResult GroupLowering::listResults() {
  for (StateOp state : group.states)
    for (auto set : step.getOps<SetStateOp>())
      if (set.getName() == state.getSymName() &&
          failed(listElements(set, set.getValue(), set.getNameAttr(),
                              cast<ArrayType>(state.getType()), group.axes.lookup(state), states)))
        return failure();
  for (Operation* output : group.outputs)
    for (auto set : step.getOps<SetOutputOp>()) {
      if (set.getName() != SymbolTable::getSymbolName(output))
        continue;
      auto type = cast<ArrayType>(output->getAttrOfType<TypeAttr>("type").getValue());
      SmallVector<int64_t> laneOfAxis;
      if (failed(outputAxes(output, type, set.getValue(), group, axes, false, laneOfAxis)) ||
          failed(listElements(set, set.getValue(), set.getNameAttr(), type, laneOfAxis,
                              isSummed(output) ? sums : outputs)))
        return failure();
    }
  return success();
}

LogicalResult GroupLowering::want(Operation* by, Value value, Index index) {
  if (wanted[value].insert(std::move(index)).second && ++count > limit)
    return emitError(by->getLoc()) << "the cell unrolls to more than " << limit
                                   << " scalar operations a lane; raise it with --limit "
                                      "operations=N [RNN0402]";
  return success();
}

LogicalResult GroupLowering::demandOperands(Operation* op, const Index& index) {
  if (contractedSize(op) == DimAttr::kFree) {
    unrollable = op;
    return failure();
  }
  for (Element& element : operandElements(op, index))
    if (failed(want(op, element.first, std::move(element.second))))
      return failure();
  return success();
}

LogicalResult GroupLowering::demand() {
  for (const Result& result : llvm::concat<const Result>(states, outputs, sums))
    if (failed(want(result.value.getDefiningOp(), result.value, result.index)))
      return failure();
  for (Operation& op : llvm::reverse(step)) {
    if (op.getNumResults() == 0)
      continue;
    auto it = wanted.find(op.getResult(0));
    if (it == wanted.end())
      continue;
    std::set<Index> indices = it->second; // `wanted` may grow below
    for (const Index& index : indices)
      if (failed(demandOperands(&op, index)))
        return failure();
  }
  return success();
}

/// Does a new state depend on what `op` computes?
static bool feedsState(Operation* op) {
  SmallVector<Operation*> todo{op};
  llvm::DenseSet<Operation*> seen;
  while (!todo.empty()) {
    Operation* next = todo.pop_back_val();
    if (isa<SetStateOp>(next))
      return true;
    for (Operation* user : next->getUsers())
      if (seen.insert(user).second)
        todo.push_back(user);
  }
  return false;
}

/// Which term makes the block too large for a Jacobian, and what would help.
static std::optional<Coupling> couplingOf(const StateGroup& group, int64_t states) {
  if (group.couplings.empty())
    return std::nullopt;
  StateGroup::Coupling coupling = group.couplings.front(); // one term is enough
  std::string axis = cast<ArrayType>(coupling.state.getType()).getDims()[coupling.axis].str();
  std::string state = coupling.state.getSymName().str();
  bool forOutput = coupling.by && !feedsState(coupling.by);
  Operation* at = coupling.by ? coupling.by : coupling.state.getOperation();
  std::string text = std::string(coupling.by ? "this term couples" : "nothing separates") +
                     " the axis '" + axis + "' of the state '" + state + "'" +
                     (forOutput ? " in an output: it is no lane axis but part of a block of "
                                : ": the Jacobian is a dense block of ") +
                     (states < 0 ? "free size" : std::to_string(states) + " states") +
                     ", so the cell runs sequentially [RNN0401]";
  std::string note =
      forOutput ? "without this output, its contraction taken from '" + state +
                      "' after the run, all steps can be solved at once"
                : "recurrent weights that are element-wise, or one small block a head as in "
                  "R : [heads, 4, 4], let all steps be solved at once";
  return Coupling{at->getLoc(), text, note};
}

/// A contraction in the recurrence over an axis that no state has, of a size that the caller binds.
static void warnLoops(Operation* contraction) {
  auto reduce = dyn_cast<ReduceOp>(contraction);
  auto dims = cast<ArrayType>(contraction->getOperand(0).getType()).getDims();
  auto warning = emitWarning(contraction->getLoc());
  warning << "the recurrence contracts '" << (reduce ? dims[reduce.getAxis()] : dims.back()).str()
          << "', whose size is free, so the cell runs sequentially [RNN0404]";
  warning.attachNote() << "with a size in the file, as in dim k = 4, the contraction is unrolled";
}

/// A dense block is not solved for.
static LogicalResult checkExplicit(CellOp cell, const StateGroup& group, int64_t states) {
  for (auto read : cell.getStep().getBody().front().getOps<StateAtOp>())
    if (read.getBack() == 0 && llvm::any_of(group.states, [&](StateOp state) {
          return state.getSymName() == read.getName();
        }))
      return emitTooManyUnknowns(read.getLoc(), states);
  return success();
}

namespace {
struct LowerToNewton : rnnc::impl::LowerToNewtonBase<LowerToNewton> {
  using LowerToNewtonBase::LowerToNewtonBase;

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    if (compute != "f32" && compute != "f64") {
      getOperation().emitError() << "computes in f32 or f64, not '" << compute << "'";
      return signalPassFailure();
    }
    Type type = compute == "f64" ? Type(builder.getF64Type()) : Type(builder.getF32Type());
    for (CellOp cell : llvm::make_early_inc_range(getOperation().getOps<CellOp>())) {
      builder.setInsertionPoint(cell);
      auto lowered =
          newton::CellOp::create(builder, cell.getLoc(), cell.getSymNameAttr(), cell.getSaveAttr(),
                                 cell.getRecomputeAttr(), cell.getToleranceAttr(),
                                 cell.getMaxSweepsAttr(), cell.getChunkAttr());
      Block& body = lowered.getBody().emplaceBlock();
      declareTensors(cell, body);
      if (failed(lowerStages(cell, Phase::Call, type, body)) ||
          failed(lowerStages(cell, Phase::Before, type, body)) ||
          failed(lowerStep(cell, type, body)) ||
          failed(lowerStages(cell, Phase::After, type, body)))
        return signalPassFailure();
      cell.erase();
    }
  }

  LogicalResult lowerStep(CellOp cell, Type type, Block& body) {
    LaneAxes axes(cell);
    Equations equations{cell, &cell.getStep().getBody().front(), StageOp()};
    for (const StateGroup& group : axes.groups()) {
      int64_t states = statesOf(group);
      bool isDense = states < 0 || states > unroll;
      std::optional<Coupling> coupling;
      if ((isDense || states > maxBlock) && !isAdjoint(cell)) // the cell's own says it
        coupling = couplingOf(group, states);
      if (isDense && failed(checkExplicit(cell, group, states)))
        return failure();
      if (isDense && coupling)
        coupling->warn();
      if (failed(lowerGroup(equations, group, axes, !isDense, type, body)))
        return failure();
      // The Jacobian may have few numbers all the same.
      if (!isDense && coupling && isa<newton::SystemOp>(body.back()))
        coupling->attachTo(&body.back());
    }
    return success();
  }

  LogicalResult lowerGroup(const Equations& equations, const StateGroup& group,
                           const LaneAxes& axes, bool scalars, Type type, Block& body) {
    if (!scalars)
      return lowerDense(equations, group, axes, type, body);
    GroupLowering lowering(equations, group, axes, type, operations);
    if (succeeded(lowering.lower(body)))
      return success();
    Operation* contraction = lowering.needsLoops();
    if (!contraction)
      return failure();
    if (!equations.stage) {
      if (failed(checkExplicit(equations.cell, group, -1)))
        return failure();
      if (!isAdjoint(equations.cell))
        warnLoops(contraction);
    }
    return lowerDense(equations, group, axes, type, body);
  }

  /// All axes are lane axes but those that run along a joint. Returns how many elements a lane has.
  static int64_t placeLanes(StageOp stage, ArrayRef<DimAttr> dims, StateGroup& group) {
    int64_t elements = 1;
    SmallVector<bool> joined = joinedAxes(stage);
    for (auto [dim, isJoined] : llvm::zip(dims, joined)) {
      group.placed.push_back(isJoined ? -1 : static_cast<int64_t>(group.lanes.size()));
      if (isJoined)
        elements *= dim.getSize();
      else
        group.lanes.push_back(dim);
    }
    return elements;
  }

  /// Products that share their sequence become one, over all of their weights; matrices that are
  /// sums over all steps become outer products; of the others every stage is a map: a system whose
  /// lanes are the elements of what it sets.
  LogicalResult lowerStages(CellOp cell, Phase phase, Type type, Block& body) {
    LaneAxes none(cell, [](Operation*) { return true; });
    for (auto stage : cell.decls<StageOp>()) {
      if (stage.getPhase() != phase || lowerProduct(stage, type, body) ||
          lowerOuter(stage, type, body))
        continue;
      StateGroup group;
      Operation* array = SymbolTable::lookupSymbolIn(cell, stage.getSet().getNameAttr());
      group.outputs.push_back(array);
      auto dims = cast<ArrayType>(array->getAttrOfType<TypeAttr>("type").getValue()).getDims();
      int64_t joined = placeLanes(stage, dims, group);
      Block& equations = stage.getBody().front();
      bool scalars = joined <= unroll && llvm::all_of(equations, [&](Operation& op) {
                       int64_t size = contractedSize(&op);
                       return size != DimAttr::kFree && size <= unroll;
                     });
      if (failed(lowerGroup({cell, &equations, stage}, group, none, scalars, type, body)))
        return failure();
    }
    return success();
  }
};
} // namespace
