//===- LaneAxes.cpp - which axes of the states never meet ------------------------------------===//

#include "Analysis/LaneAxes.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
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
    Block& step = cell.getStep().getBody().front();
    for (Operation& op : step)
      if (!ignore(&op))
        visit(&op);
    coupleTwins();
    for (Operation& op : llvm::reverse(step)) {
      auto set = dyn_cast<SetOutputOp>(op);
      if (!ignore(&op) && !(set && ignore(set.getValue().getDefiningOp())))
        trace(&op);
    }
  }

  CellOp cell;
  SmallVector<StateOp> states;
  DenseMap<Operation*, unsigned> stateIndex;
  DenseMap<Operation*, unsigned> first;        // state -> its first node
  llvm::MapVector<Value, unsigned> valueFirst; // value that depends on a state -> its first node
  DenseMap<Value, unsigned> valueState;        // ... -> one state of its group
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
  static ArrayRef<DimAttr> dimsOf(Value value) {
    return cast<ArrayType>(value.getType()).getDims();
  }
  static unsigned rankOf(Value value) { return dimsOf(value).size(); }
  Operation* declared(FlatSymbolRefAttr name) { return SymbolTable::lookupSymbolIn(cell, name); }
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
      auto state = cast<StateOp>(declared(read.getNameAttr()));
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
      auto state = cast<StateOp>(declared(set.getNameAttr()));
      if (dependent.empty())
        return;
      stateParent[group(stateIndex[state])] = group(valueState[set.getValue()]);
      joinBroadcast(set.getValue(), first[state], cast<ArrayType>(state.getType()).getDims(), op);
      return;
    }
    if (auto set = dyn_cast<SetOutputOp>(op)) {
      if (!dependent.empty())
        outputState[declared(set.getNameAttr())] = valueState[set.getValue()];
      return;
    }
    if (dependent.empty())
      return;
    Value result = op->getResult(0);
    unsigned to = addNodes(cast<ArrayType>(result.getType()).getRank());
    valueFirst[result] = to;
    valueState[result] = valueState[dependent.front()];
    for (OpOperand& operand : op->getOpOperands())
      joinOperand(operand, to);
  }

  /// An axis that no axis of the result runs with is contracted, cut, joined or stretched: it
  /// couples. (What a cut or a joint puts in its place needs nothing: a lane axis is one that every
  /// state has, also the one that was cut.)
  void joinOperand(OpOperand& operand, unsigned to) {
    auto from = valueFirst.find(operand.get());
    if (from == valueFirst.end())
      return;
    for (unsigned axis = 0; axis < rankOf(operand.get()); ++axis) {
      if (int64_t along = axisInResult(operand, axis); along >= 0)
        join(to + along, from->second + axis);
      else
        couple(from->second + axis, operand.getOwner());
    }
  }

  /// Two axes of one value that run together meet, as in outer(h, h): its elements off the diagonal
  /// are of two places of h.
  void coupleTwins() {
    for (auto [value, node] : valueFirst)
      for (unsigned i = 0; i < rankOf(value) && !value.getDefiningOp<StateAtOp>(); ++i)
        for (unsigned j = 0; j < i; ++j)
          if (root(node + i) == root(node + j))
            couple(node + i, value.getDefiningOp());
  }

  /// For a value that depends on no state: the nodes that run with each of its axes, for any user.
  using Runs = SmallVector<llvm::SetVector<unsigned>, 4>;
  DenseMap<Value, Runs> runs;

  llvm::SetVector<unsigned>& runsWith(Value value, unsigned axis) {
    auto [it, fresh] = runs.try_emplace(value);
    if (fresh)
      it->second.resize(rankOf(value));
    return it->second[axis];
  }

  /// Backward: an array that is joined along a lane axis couples it, also where it depends on no
  /// state. A cut of one may run with lanes, beginning at some element.
  void trace(Operation* op) {
    if (auto set = dyn_cast<SetStateOp>(op))
      return traceSet(set.getValue(), cast<StateOp>(declared(set.getNameAttr())));
    if (auto set = dyn_cast<SetOutputOp>(op))
      return traceOutput(set.getValue(), declared(set.getNameAttr()));
    if (op->getNumResults() == 0)
      return;
    Value result = op->getResult(0);
    auto own = valueFirst.find(result);
    if (auto concat = dyn_cast<ConcatOp>(op); concat && own == valueFirst.end())
      for (unsigned node : runsWith(result, concat.getAxis()))
        couple(node, op);
    for (OpOperand& operand : op->getOpOperands()) {
      if (valueFirst.contains(operand.get()))
        continue;
      for (unsigned axis = 0; axis < rankOf(operand.get()); ++axis) {
        int64_t along = axisInResult(operand, axis);
        auto slice = dyn_cast<SliceOp>(op);
        if (slice && !slice.getDrop() && axis == slice.getAxis())
          along = axis;
        if (along < 0)
          continue;
        llvm::SetVector<unsigned> nodes;
        if (own != valueFirst.end())
          nodes.insert(own->second + along);
        else
          nodes = runsWith(result, along);
        runsWith(operand.get(), axis).insert_range(nodes);
      }
    }
  }

  void traceSet(Value value, StateOp state) {
    if (valueFirst.contains(value))
      return;
    ArrayRef<DimAttr> from = dimsOf(value), to = cast<ArrayType>(state.getType()).getDims();
    for (unsigned axis = 0; axis < from.size(); ++axis)
      if (unsigned along = axis + to.size() - from.size(); !from[axis].isOne() || to[along].isOne())
        runsWith(value, axis).insert(first[state] + along);
  }

  /// Such an output runs with lanes of the first group's states, by their dims (see outputAxes).
  void traceOutput(Value value, Operation* output) {
    if (valueFirst.contains(value) || states.empty())
      return;
    ArrayRef<DimAttr> from = dimsOf(value);
    auto to = cast<ArrayType>(output->getAttrOfType<TypeAttr>("type").getValue()).getDims();
    for (StateOp state : states) {
      if (group(stateIndex[state]) != group(0))
        continue;
      for (auto [place, dim] : llvm::enumerate(cast<ArrayType>(state.getType()).getDims()))
        for (unsigned axis = 0; axis < from.size(); ++axis)
          if (to[axis + to.size() - from.size()].matches(dim))
            runsWith(value, axis).insert(first[state] + place);
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
  if (!group.placed.empty()) {
    laneOfAxis = group.placed;
    return true;
  }
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

SmallVector<bool> rnnc::joinedAxes(StageOp stage) {
  auto set = stage.getSet();
  Operation* array = SymbolTable::lookupSymbolIn(stage->getParentOp(), set.getNameAttr());
  unsigned rank = cast<ArrayType>(array->getAttrOfType<TypeAttr>("type").getValue()).getRank();
  SmallVector<bool> joined(rank, false);
  // For each axis of a value, as bits: the axes of the result that run with it.
  DenseMap<Value, SmallVector<uint64_t>> runs;
  auto runsOf = [&](Value value) -> SmallVector<uint64_t>& {
    auto& axes = runs[value];
    axes.resize(cast<ArrayType>(value.getType()).getRank(), 0);
    return axes;
  };
  auto& own = runsOf(set.getValue());
  for (unsigned axis = 0; axis < own.size(); ++axis)
    own[axis] = uint64_t(1) << (axis + rank - own.size());
  for (Operation& op : llvm::reverse(stage.getBody().front())) {
    if (op.getNumResults() == 0)
      continue;
    SmallVector<uint64_t> result = runsOf(op.getResult(0));
    if (auto concat = dyn_cast<ConcatOp>(op))
      for (unsigned axis = 0; axis < rank; ++axis)
        joined[axis] = joined[axis] || (result[concat.getAxis()] >> axis & 1);
    auto slice = dyn_cast<SliceOp>(op);
    for (OpOperand& operand : op.getOpOperands()) {
      auto& axes = runsOf(operand.get());
      for (unsigned axis = 0; axis < axes.size(); ++axis) {
        bool isCut = slice && !slice.getDrop() && axis == slice.getAxis();
        if (int64_t along = isCut ? axis : axisInResult(operand, axis); along >= 0)
          axes[axis] |= result[along];
      }
    }
  }
  return joined;
}
