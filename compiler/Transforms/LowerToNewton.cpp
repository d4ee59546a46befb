//===- LowerToNewton.cpp - arrays become scalars a lane --------------------------------------===//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/Boundary.h"
#include "Transforms/GroupLowering.h"
#include "Transforms/LowerDense.h"
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

static int64_t lane(int64_t axis) { return -1 - axis; }

/// Every element of a tensor along its block axes, row-major.
LogicalResult GroupLowering::listElements(Operation* set, Value value, FlatSymbolRefAttr tensor,
                                          ArrayType type, ArrayRef<int64_t> laneOfAxis) {
  bool isState = isa<SetStateOp>(set);
  Index index(type.getRank(), 0);
  for (unsigned i = 0; i < type.getRank(); ++i)
    if (laneOfAxis[i] >= 0)
      index[i] = lane(laneOfAxis[i]);
  while (true) {
    (isState ? states : outputs)
        .push_back({value, broadcastIndex(value, index, type.getDims()), index, tensor});
    if (static_cast<int64_t>(states.size() + outputs.size()) > limit)
      return emitError(set->getLoc())
             << tensor << " unrolls to more than " << limit << " scalars a lane [RNN0402]";
    int64_t axis = static_cast<int64_t>(type.getRank()) - 1;
    for (; axis >= 0; --axis) {
      if (index[axis] < 0)
        continue;
      if (++index[axis] < type.getDims()[axis].getSize())
        break;
      index[axis] = 0;
    }
    if (axis < 0)
      return success();
  }
}

LogicalResult GroupLowering::listResults() {
  for (StateOp state : group.states)
    for (auto set : cell.getStep().getBody().front().getOps<SetStateOp>())
      if (set.getName() == state.getSymName() &&
          failed(listElements(set, set.getValue(), set.getNameAttr(),
                              cast<ArrayType>(state.getType()), group.axes.lookup(state))))
        return failure();
  for (OutputOp output : group.outputs)
    for (auto set : cell.getStep().getBody().front().getOps<SetOutputOp>()) {
      if (set.getName() != output.getSymName())
        continue;
      SmallVector<int64_t> laneOfAxis;
      if (failed(outputAxes(output, set.getValue(), group, axes, false, laneOfAxis)) ||
          failed(listElements(set, set.getValue(), set.getNameAttr(),
                              cast<ArrayType>(output.getType()), laneOfAxis)))
        return failure();
    }
  return success();
}

/// The index into an operand for an index into the shape `to` that it broadcasts to. Of an axis
/// that is stretched every place reads element 0; an axis of size 1 on both sides may well be a
/// lane axis.
Index GroupLowering::broadcastIndex(Value value, const Index& index, ArrayRef<DimAttr> to) {
  ArrayRef<DimAttr> dims = cast<ArrayType>(value.getType()).getDims();
  size_t offset = to.size() - dims.size();
  Index result(index.begin() + offset, index.end());
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].isOne() && !to[offset + i].isOne())
      result[i] = 0;
  return result;
}

LogicalResult GroupLowering::want(Operation* by, Value value, Index index) {
  if (wanted[value].insert(std::move(index)).second && ++count > limit)
    return emitError(by->getLoc()) << "the cell unrolls to more than " << limit
                                   << " scalar operations a lane; raise it with --limit "
                                      "operations=N [RNN0402]";
  return success();
}

/// The size of the axis that an op contracts, 1 for an element-wise op; kFree where nobody fixed
/// it.
static int64_t contractedSize(Operation* op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getOperand().getType().getDims()[reduce.getAxis()].getSize();
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul)
    return 1;
  ArrayRef<DimAttr> lhs = matmul.getLhs().getType().getDims();
  DimAttr rhs = matmul.getRhs().getType().getDims()[lhs.size() - 2];
  return lhs.back().isFree() ? rhs.getSize() : lhs.back().getSize();
}

/// The elements that one element of an op's result is made of, in the order in which it is built
/// from them: the pairs of a product, what a reduction runs over, the operands of everything else.
SmallVector<Element> GroupLowering::operandElements(Operation* op, const Index& index) {
  SmallVector<Element> elements;
  int64_t size = contractedSize(op);
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    unsigned batch = matmul.getLhs().getType().getRank() - 2;
    for (int64_t j = 0; j < size; ++j) {
      Index left(index.begin(), index.begin() + batch + 1),
          right(index.begin(), index.begin() + batch);
      left.push_back(j);
      right.push_back(j);
      right.insert(right.end(), index.begin() + batch + 1, index.end());
      elements.push_back({matmul.getLhs(), std::move(left)});
      elements.push_back({matmul.getRhs(), std::move(right)});
    }
    return elements;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    for (int64_t j = 0; j < size; ++j) {
      Index from = index;
      if (!reduce.getKeep())
        from.insert(from.begin() + reduce.getAxis(), j);
      from[reduce.getAxis()] = j;
      elements.push_back({reduce.getOperand(), std::move(from)});
    }
    return elements;
  }
  ArrayRef<DimAttr> to = cast<ArrayType>(op->getResult(0).getType()).getDims();
  for (Value operand : op->getOperands())
    elements.push_back({operand, broadcastIndex(operand, index, to)});
  return elements;
}

LogicalResult GroupLowering::demandOperands(Operation* op, const Index& index) {
  if (contractedSize(op) == DimAttr::kFree) {
    auto dims = cast<ArrayType>(op->getOperand(0).getType()).getDims();
    auto reduce = dyn_cast<ReduceOp>(op);
    return emitError(op->getLoc())
           << "not supported yet: a contraction over '"
           << (reduce ? dims[reduce.getAxis()] : dims.back()).str()
           << "' that depends on no state would be moved out of the recurrence; pass "
              "its result as an input [RNN0404]";
  }
  for (Element& element : operandElements(op, index))
    if (failed(want(op, element.first, std::move(element.second))))
      return failure();
  return success();
}

LogicalResult GroupLowering::demand() {
  for (const Result& result : llvm::concat<const Result>(states, outputs))
    if (failed(want(result.value.getDefiningOp(), result.value, result.index)))
      return failure();
  for (Operation& op : llvm::reverse(cell.getStep().getBody().front())) {
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

/// Scalar states a lane; -1 where a size of the block is bound by the caller.
static int64_t statesOf(const StateGroup& group) {
  int64_t count = 0;
  for (StateOp state : group.states) {
    int64_t elements = 1;
    auto dims = cast<ArrayType>(state.getType()).getDims();
    for (auto [axis, lane] : llvm::enumerate(group.axes.lookup(state))) {
      if (lane < 0 && dims[axis].isFree())
        return -1;
      elements *= lane < 0 ? dims[axis].getSize() : 1;
    }
    count += elements;
  }
  return count;
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

/// Says which term makes the block too large for a Jacobian, and what would help.
static void warnDense(const StateGroup& group, int64_t states) {
  if (group.couplings.empty())
    return;
  StateGroup::Coupling coupling = group.couplings.front(); // one term is enough
  std::string axis = cast<ArrayType>(coupling.state.getType()).getDims()[coupling.axis].str();
  StringRef state = coupling.state.getSymName();
  bool forOutput = coupling.by && !feedsState(coupling.by);
  Operation* at = coupling.by ? coupling.by : coupling.state.getOperation();
  auto warning = emitWarning(at->getLoc());
  warning << (coupling.by ? "this term couples" : "nothing separates") << " the axis '" << axis
          << "' of the state '" << state << "'"
          << (forOutput ? " in an output: it is no lane axis but part of a block of "
                        : ": the Jacobian is a dense block of ");
  if (states < 0)
    warning << "free size";
  else
    warning << states << " states";
  warning << ", so the cell runs sequentially [RNN0401]";
  Diagnostic& note = warning.attachNote();
  if (forOutput)
    note << "without this output, its contraction taken from '" << state
         << "' after the run, all steps can be solved at once";
  else
    note << "recurrent weights that are element-wise, or one small block a head as in "
            "R : [heads, 4, 4], let all steps be solved at once";
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
      auto lowered = newton::CellOp::create(builder, cell.getLoc(), cell.getSymName());
      Block& body = lowered.getBody().emplaceBlock();
      declareTensors(cell, body);
      LaneAxes axes(cell);
      for (const StateGroup& group : axes.groups()) {
        int64_t states = statesOf(group);
        bool dense = states < 0 || states > unroll;
        if (dense && failed(checkExplicit(cell, group, states)))
          return signalPassFailure();
        if (states < 0 || states > maxBlock)
          warnDense(group, states);
        LogicalResult result = dense
                                   ? lowerDense(cell, group, axes, type, body)
                                   : GroupLowering(cell, group, axes, type, operations).lower(body);
        if (failed(result))
          return signalPassFailure();
      }
      cell.erase();
    }
  }
};
} // namespace
