//===- LowerToNewton.cpp - arrays become scalars a lane --------------------------------------===//
//
// Two walks over the equations, neither recursive. Backward: which elements of every value are
// wanted. An element is an index that is a lane axis or a number for every axis of the value.
// Forward: build each wanted element once.
//
//===----------------------------------------------------------------------------------------------===//

#include "Analysis/Hoisting.h"
#include "Transforms/Boundary.h"
#include "Transforms/Coupling.h"
#include "Transforms/Elements.h"
#include "Transforms/LowerDense.h"
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

namespace {

class GroupLowering {
public:
  GroupLowering(const Equations& equations, const StateGroup& group, const LaneAxes& axes,
                Type compute, int64_t limit)
      : equations(equations), cell(equations.cell), step(*equations.body), group(group), axes(axes),
        compute(compute), limit(limit), context(cell.getContext()) {}

  /// Builds the system at the end of `into`; failure after a diagnostic, or with `needsLoops`.
  LogicalResult lower(Block& into);
  /// A contraction over an axis of free size, which scalars cannot hold.
  Operation* needsLoops() const { return unrollable; }

private:
  struct Result {
    Value value; // in the Rnn dialect
    Index index; // of that value
    Index slot;  // of the tensor that it goes to
    FlatSymbolRefAttr tensor;
  };

  LogicalResult listResults();
  LogicalResult listElements(Operation* set, Value value, FlatSymbolRefAttr tensor, ArrayType type,
                             ArrayRef<int64_t> laneOfAxis);
  LogicalResult demand();
  LogicalResult demandOperands(Operation* op, const Index& index);
  LogicalResult want(Operation* by, Value value, Index index);
  void build(Block& into);
  Value buildElement(OpBuilder& builder, Operation* op, const Index& index, Location loc);
  Value buildNamed(OpBuilder& builder, Operation* op, const Index& index);
  newton::SlotAttr slot(FlatSymbolRefAttr tensor, const Index& index, int64_t back);
  Value element(Value value, const Index& index) {
    return built.at({value.getAsOpaquePointer(), index});
  }
  Location nameElement(Location loc, const Index& index);

  const Equations& equations;
  CellOp cell;
  Block& step;
  const StateGroup& group;
  const LaneAxes& axes;
  Type compute;
  int64_t limit;
  MLIRContext* context;

  SmallVector<Result> states, outputs;
  Operation* unrollable = nullptr;
  llvm::DenseMap<Value, std::set<Index>> wanted;
  int64_t count = 0;
  std::map<std::pair<const void*, Index>, Value> built;
};

} // namespace

newton::SlotAttr GroupLowering::slot(FlatSymbolRefAttr tensor, const Index& index, int64_t back) {
  SmallVector<int64_t> lanes, at;
  for (const Place& place : index) {
    lanes.push_back(place.lane);
    at.push_back(place.at);
  }
  return newton::SlotAttr::get(context, tensor, lanes, at, back);
}

/// Every element of a tensor along its block axes, row-major.
LogicalResult GroupLowering::listElements(Operation* set, Value value, FlatSymbolRefAttr tensor,
                                          ArrayType type, ArrayRef<int64_t> laneOfAxis) {
  bool isState = isa<SetStateOp>(set);
  Index index(type.getRank());
  for (unsigned i = 0; i < type.getRank(); ++i)
    index[i].lane = laneOfAxis[i];
  while (true) {
    (isState ? states : outputs)
        .push_back({value, broadcastIndex(value, index, type.getDims()), index, tensor});
    if (static_cast<int64_t>(states.size() + outputs.size()) > limit)
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
                              cast<ArrayType>(state.getType()), group.axes.lookup(state))))
        return failure();
  for (Operation* output : group.outputs)
    for (auto set : step.getOps<SetOutputOp>()) {
      if (set.getName() != SymbolTable::getSymbolName(output))
        continue;
      auto type = cast<ArrayType>(output->getAttrOfType<TypeAttr>("type").getValue());
      SmallVector<int64_t> laneOfAxis;
      if (failed(outputAxes(output, type, set.getValue(), group, axes, false, laneOfAxis)) ||
          failed(listElements(set, set.getValue(), set.getNameAttr(), type, laneOfAxis)))
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
  for (const Result& result : llvm::concat<const Result>(states, outputs))
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

/// `z` becomes `z[2]` where it is one element of a block.
Location GroupLowering::nameElement(Location loc, const Index& index) {
  auto named = dyn_cast<NameLoc>(loc);
  std::string text;
  for (const Place& place : index)
    if (!place.isLane())
      text += (text.empty() ? "[" : ", ") + std::to_string(place.at);
  if (!named || text.empty())
    return loc;
  return NameLoc::get(StringAttr::get(context, named.getName().getValue() + text + "]"),
                      named.getChildLoc());
}

Value GroupLowering::buildElement(OpBuilder& builder, Operation* op, const Index& index,
                                  Location loc) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return buildNumber(builder, loc, compute, constant.getValue().convertToDouble());
  SmallVector<Value> operands;
  for (const Element& from : operandElements(op, index))
    operands.push_back(element(from.first, from.second));
  if (isMovement(op))
    return operands.front();
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce && !isa<MatmulOp>(op))
    return buildScalar(builder, loc, op, operands, compute);
  BinaryKind kind = reduce ? combining(reduce.getKind()) : BinaryKind::Add;
  size_t stride = reduce ? 1 : 2;
  Value result;
  for (size_t i = 0; i < operands.size(); i += stride) {
    Value term = reduce ? operands[i]
                        : Value(arith::MulFOp::create(builder, loc, operands[i], operands[i + 1]));
    result = result ? buildBinary(builder, loc, kind, result, term) : term;
  }
  if (!reduce || reduce.getKind() != ReduceKind::Mean)
    return result;
  return arith::DivFOp::create(builder, loc, result,
                               buildNumber(builder, loc, compute, operands.size()));
}

/// Only the op that makes the value has its name; what leads to it has the place alone.
Value GroupLowering::buildNamed(OpBuilder& builder, Operation* op, const Index& index) {
  auto named = dyn_cast<NameLoc>(op->getLoc());
  Value value =
      buildElement(builder, op, index, named ? Location(named.getChildLoc()) : op->getLoc());
  Operation* made = value.getDefiningOp();
  if (made && !isMovement(op) && !isa<arith::ConstantOp>(made) &&
      made == &builder.getBlock()->back())
    made->setLoc(nameElement(op->getLoc(), index));
  return value;
}

void GroupLowering::build(Block& into) {
  OpBuilder builder = OpBuilder::atBlockEnd(&into);

  // Inputs and params in the order of their declarations, elements row-major.
  using Leaf = std::pair<Attribute, std::pair<int64_t, Index>>; // tensor, steps back, element
  SmallVector<Leaf> inputs, params;
  DenseMap<Attribute, std::set<std::pair<int64_t, Index>>> byTensor;
  for (Operation& op : step)
    if (op.getNumResults() && wanted.contains(op.getResult(0)))
      for (const Index& index : wanted[op.getResult(0)]) {
        if (auto read = dyn_cast<InputAtOp>(op))
          byTensor[read.getNameAttr()].insert({read.getBack(), index});
        else if (auto read = dyn_cast<ParamValueOp>(op))
          byTensor[read.getNameAttr()].insert({0, index});
      }
  for (Operation& decl : cell.getBody().front()) {
    auto name = decl.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    auto hoisted = dyn_cast<HoistedOp>(decl);
    bool isParam = isa<ParamOp>(decl) || (hoisted && hoisted.getPhase() == Phase::Call);
    if (!isa<InputOp, StateOp>(decl) && !isParam && !hoisted)
      continue;
    auto ref = FlatSymbolRefAttr::get(name);
    for (const auto& element : byTensor[ref])
      (isParam ? params : inputs).push_back({ref, element});
  }
  auto slots = [&](auto& list, auto get) {
    SmallVector<Attribute> attrs;
    for (auto& item : list)
      attrs.push_back(get(item));
    return builder.getArrayAttr(attrs);
  };
  auto ofResult = [&](const Result& r) { return slot(r.tensor, r.slot, 0); };
  auto ofLeaf = [&](const Leaf& leaf) {
    return slot(cast<FlatSymbolRefAttr>(leaf.first), leaf.second.second, leaf.second.first);
  };
  SmallVector<Attribute> laneAxes;
  for (DimAttr dim : group.lanes)
    laneAxes.push_back(builder.getStringAttr(dim.str()));

  auto system = newton::SystemOp::create(
      builder, cell.getLoc(), builder.getStringAttr(equations.name(group)), TypeAttr::get(compute),
      builder.getArrayAttr(laneAxes), slots(states, ofResult), slots(inputs, ofLeaf),
      slots(params, ofLeaf), slots(outputs, ofResult), newton::StructureAttr(), equations.phase());
  Block& block = system.getStep().emplaceBlock();
  std::map<std::pair<const void*, std::pair<int64_t, Index>>, Value> leaves;
  auto addArgument = [&](Attribute tensor, int64_t back, const Index& index) {
    auto attr = slot(cast<FlatSymbolRefAttr>(tensor), index, back);
    Location loc = NameLoc::get(builder.getStringAttr(attr.display()));
    leaves[{tensor.getAsOpaquePointer(), {back, index}}] = block.addArgument(compute, loc);
  };
  for (const Result& state : states)
    addArgument(state.tensor, 1, state.slot);
  for (const Leaf& leaf : llvm::concat<const Leaf>(inputs, params))
    addArgument(leaf.first, leaf.second.first, leaf.second.second);

  builder.setInsertionPointToStart(&block);
  for (Operation& op : step) {
    if (!op.getNumResults() || !wanted.contains(op.getResult(0)))
      continue;
    for (const Index& index : wanted[op.getResult(0)]) {
      Value value;
      if (auto read = dyn_cast<StateAtOp>(op))
        value = leaves.at({read.getNameAttr().getAsOpaquePointer(), {read.getBack(), index}});
      else if (auto read = dyn_cast<InputAtOp>(op))
        value = leaves.at({read.getNameAttr().getAsOpaquePointer(), {read.getBack(), index}});
      else if (auto read = dyn_cast<ParamValueOp>(op))
        value = leaves.at({read.getNameAttr().getAsOpaquePointer(), {0, index}});
      else
        value = buildNamed(builder, &op, index);
      built[{op.getResult(0).getAsOpaquePointer(), index}] = value;
    }
  }
  SmallVector<Value> results;
  for (const Result& result : llvm::concat<const Result>(states, outputs))
    results.push_back(element(result.value, result.index));
  newton::YieldOp::create(builder, cell.getLoc(), results);
}

LogicalResult GroupLowering::lower(Block& into) {
  if (failed(listResults()) || failed(demand()))
    return failure();
  build(into);
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
      if (isDense || states > maxBlock)
        coupling = couplingOf(group, states);
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
    if (!equations.stage)
      warnLoops(contraction);
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

  /// Products that share their sequence become one, over all of their weights; of the others every
  /// stage is a map: a system whose lanes are the elements of what it sets.
  LogicalResult lowerStages(CellOp cell, Phase phase, Type type, Block& body) {
    LaneAxes none(cell, [](Operation*) { return true; });
    for (auto stage : cell.decls<StageOp>()) {
      if (stage.getPhase() != phase || lowerProduct(stage, type, body))
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
