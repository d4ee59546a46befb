//===- LaneAxes.cpp - which axes of the states never meet ------------------------------------===//

#include "Analysis/LaneAxes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"

#include <numeric>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {

/// Every axis of every state, and of every value that depends on one, is a node; a union-find joins
/// the axes that run together, and remembers who contracts them.
class AxisGraph {
public:
  AxisGraph(CellOp cell, llvm::function_ref<bool(Operation*)> ignore) : cell(cell) {
    for (StateOp state : cell.decls<StateOp>()) {
      stateIndex[state] = states.size();
      states.push_back(state);
      first[state] = addNodes(cast<ArrayType>(state.getType()).getRank());
    }
    stateParent.resize(states.size());
    std::iota(stateParent.begin(), stateParent.end(), 0u);
    for (Operation& op : cell.getStep().getBody().front())
      if (!ignore(&op))
        visit(&op);
  }

  CellOp cell;
  SmallVector<StateOp> states;
  DenseMap<Operation*, unsigned> stateIndex;
  DenseMap<Operation*, unsigned> first; // state -> its first node
  DenseMap<Value, unsigned> valueFirst; // value that depends on a state -> its first node
  DenseMap<Value, unsigned> valueState; // ... -> one state of its group
  llvm::MapVector<Operation*, unsigned> outputState;
  SmallVector<unsigned> parent, stateParent;
  SmallVector<Operation*> coupledBy; // by node: the contraction, null where none

  static unsigned find(SmallVector<unsigned>& parents, unsigned node) {
    while (parents[node] != node)
      node = parents[node] = parents[parents[node]];
    return node;
  }
  unsigned root(unsigned node) { return find(parent, node); }
  unsigned group(unsigned state) { return find(stateParent, state); }

private:
  unsigned addNodes(unsigned count) {
    unsigned firstNode = parent.size();
    for (unsigned i = 0; i < count; ++i) {
      parent.push_back(firstNode + i);
      coupledBy.push_back(nullptr);
    }
    return firstNode;
  }
  void join(unsigned a, unsigned b) {
    a = root(a), b = root(b);
    if (a == b)
      return;
    parent[b] = a;
    if (!coupledBy[a])
      coupledBy[a] = coupledBy[b];
  }
  void couple(unsigned node, Operation* by) {
    if (!coupledBy[root(node)])
      coupledBy[root(node)] = by;
  }
  /// Joins the axes of `value` with those of the shape that it broadcasts to, from the right. An
  /// axis of size 1 that is stretched couples: all places read the one element.
  void joinBroadcast(Value value, unsigned to, ArrayRef<DimAttr> dims, Operation* by) {
    auto type = cast<ArrayType>(value.getType());
    unsigned offset = dims.size() - type.getRank();
    for (unsigned i = 0; i < type.getRank(); ++i) {
      if (type.getDims()[i].isOne() && !dims[offset + i].isOne())
        couple(valueFirst[value] + i, by);
      else
        join(to + offset + i, valueFirst[value] + i);
    }
  }

  void visit(Operation* op) {
    if (auto read = dyn_cast<StateAtOp>(op)) {
      auto state = cast<StateOp>(SymbolTable::lookupSymbolIn(cell, read.getNameAttr()));
      valueFirst[read] = first[state];
      valueState[read] = stateIndex[state];
      return;
    }
    SmallVector<Value> dependent;
    for (Value operand : op->getOperands())
      if (valueFirst.contains(operand))
        dependent.push_back(operand);
    for (Value value : dependent)
      stateParent[group(valueState[value])] = group(valueState[dependent.front()]);

    if (auto set = dyn_cast<SetStateOp>(op)) {
      auto state = cast<StateOp>(SymbolTable::lookupSymbolIn(cell, set.getNameAttr()));
      if (dependent.empty())
        return;
      stateParent[group(stateIndex[state])] = group(valueState[set.getValue()]);
      joinBroadcast(set.getValue(), first[state], cast<ArrayType>(state.getType()).getDims(), op);
      return;
    }
    if (auto set = dyn_cast<SetOutputOp>(op)) {
      if (!dependent.empty())
        outputState[SymbolTable::lookupSymbolIn(cell, set.getNameAttr())] =
            valueState[set.getValue()];
      return;
    }
    if (dependent.empty())
      return;
    Value result = op->getResult(0);
    auto type = cast<ArrayType>(result.getType());
    unsigned to = addNodes(type.getRank());
    valueFirst[result] = to;
    valueState[result] = valueState[dependent.front()];
    if (auto matmul = dyn_cast<MatmulOp>(op))
      return visitMatmul(matmul, to);
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      unsigned from = valueFirst[reduce.getOperand()];
      for (unsigned i = 0, j = 0; i < reduce.getOperand().getType().getRank(); ++i) {
        if (i != reduce.getAxis()) {
          join(to + j++, from + i);
          continue;
        }
        couple(from + i, op);
        j += reduce.getKeep(); // an axis of its own, with one place
      }
      return;
    }
    for (Value value : dependent)
      joinBroadcast(value, to, type.getDims(), op);
  }

  void visitMatmul(MatmulOp op, unsigned to) {
    unsigned rank = op.getLhs().getType().getRank(), batch = rank - 2;
    bool vector = op.getRhs().getType().getRank() + 1 == rank;
    if (auto it = valueFirst.find(op.getLhs()); it != valueFirst.end()) {
      for (unsigned i = 0; i <= batch; ++i)
        join(to + i, it->second + i);
      couple(it->second + rank - 1, op);
    }
    if (auto it = valueFirst.find(op.getRhs()); it != valueFirst.end()) {
      for (unsigned i = 0; i < batch; ++i)
        join(to + i, it->second + i);
      couple(it->second + batch, op);
      if (!vector)
        join(to + rank - 1, it->second + rank - 1);
    }
  }
};

} // namespace

LaneAxes::LaneAxes(CellOp cell, llvm::function_ref<bool(Operation*)> ignore) {
  AxisGraph graph(cell, ignore);
  llvm::MapVector<unsigned, StateGroup> byGroup;
  for (StateOp state : graph.states)
    byGroup[graph.group(graph.stateIndex[state])].states.push_back(state);

  DenseMap<unsigned, int64_t> laneOfRoot; // a class of axes -> the lane axis of its group
  for (auto& [root, group] : byGroup) {
    // A class is a lane axis where nothing contracts it and every state has it exactly once.
    StateOp leader = group.states.front();
    auto leaderDims = cast<ArrayType>(leader.getType()).getDims();
    auto timesIn = [&](StateOp state, unsigned root) {
      unsigned times = 0, rank = cast<ArrayType>(state.getType()).getRank();
      for (unsigned axis = 0; axis < rank; ++axis)
        times += graph.root(graph.first[state] + axis) == root;
      return times;
    };
    for (unsigned axis = 0; axis < leaderDims.size(); ++axis) {
      unsigned node = graph.root(graph.first[leader] + axis);
      bool everywhere =
          llvm::all_of(group.states, [&](StateOp state) { return timesIn(state, node) == 1; });
      if (graph.coupledBy[node] || !everywhere)
        continue;
      laneOfRoot[node] = group.lanes.size();
      group.lanes.push_back(leaderDims[axis]);
    }
    for (StateOp state : group.states) {
      auto& axes = group.axes[state];
      for (unsigned axis = 0; axis < cast<ArrayType>(state.getType()).getRank(); ++axis) {
        unsigned node = graph.root(graph.first[state] + axis);
        auto lane = laneOfRoot.find(node);
        axes.push_back(lane == laneOfRoot.end() ? -1 : lane->second);
        if (axes.back() < 0)
          group.couplings.push_back({state, axis, graph.coupledBy[node]});
      }
    }
  }
  for (auto [value, node] : graph.valueFirst) {
    auto& axes = values_[value];
    for (unsigned axis = 0; axis < cast<ArrayType>(value.getType()).getRank(); ++axis) {
      auto lane = laneOfRoot.find(graph.root(node + axis));
      axes.push_back(lane == laneOfRoot.end() ? -1 : lane->second);
    }
  }
  // An output belongs to the group of the states that it reads, one that reads none to the first.
  llvm::DenseSet<StringAttr> set;
  for (auto output : cell.getStep().getBody().front().getOps<SetOutputOp>())
    set.insert(output.getNameAttr().getAttr());
  for (Operation& output : cell.getBody().front()) {
    if (!isa<OutputOp, HoistedOp>(output) || !set.contains(SymbolTable::getSymbolName(&output)))
      continue;
    auto it = graph.outputState.find(&output);
    unsigned state = it == graph.outputState.end() ? 0 : it->second;
    if (!byGroup.empty())
      byGroup[graph.group(state)].outputs.push_back(&output);
  }
  for (auto& [root, group] : byGroup)
    groups_.push_back(std::move(group));
}

ArrayRef<int64_t> LaneAxes::axesOf(Value value) const {
  auto it = values_.find(value);
  return it == values_.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(it->second);
}

bool LaneAxes::place(Type output, Value value, const StateGroup& group, bool anyBlockAxis,
                     SmallVectorImpl<int64_t>& laneOfAxis) const {
  auto type = cast<ArrayType>(output), from = cast<ArrayType>(value.getType());
  ArrayRef<int64_t> known = axesOf(value);
  unsigned offset = type.getRank() - from.getRank();
  llvm::SmallSet<int64_t, 8> used;
  laneOfAxis.assign(type.getRank(), -1);
  for (unsigned i = offset; i < type.getRank() && !known.empty(); ++i)
    if ((laneOfAxis[i] = known[i - offset]) >= 0)
      used.insert(laneOfAxis[i]);
  for (unsigned i = 0; i < type.getRank(); ++i)
    for (auto [axis, dim] : llvm::enumerate(group.lanes))
      if (laneOfAxis[i] < 0 && !used.contains(axis) && type.getDims()[i].matches(dim)) {
        laneOfAxis[i] = axis;
        used.insert(axis);
      }
  bool isFixed = llvm::all_of(llvm::zip(type.getDims(), laneOfAxis), [](auto pair) {
    return std::get<1>(pair) >= 0 || !std::get<0>(pair).isFree();
  });
  return (anyBlockAxis || isFixed) && used.size() == group.lanes.size();
}
