//===- LowerDense.cpp - a large block becomes loops ------------------------------------------===//
//
// Every value that needs a place of its own (a *root*) becomes one nest of loops over its block
// axes; lane axes have no loop. Walks are over the equations' order, none is recursive.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/LowerDense.h"

#include "Transforms/Boundary.h"
#include "Transforms/DenseLowering.h"
#include "Transforms/Passes.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

bool rnnc::isLeaf(Value value) {
  return isa<StateAtOp, InputAtOp, ParamValueOp, ConstantOp>(value.getDefiningOp());
}

Lanes rnnc::lanesWithin(Value value, ArrayRef<DimAttr> dims, const Lanes& lanes) {
  Lanes result = broadcastIndex(value, lanes, dims);
  for (Place& place : result)
    if (!place.isLane())
      place = {};
  return result;
}

/// Whether a nest over `dims` would compute one element of `value` several times.
static bool isStretched(Value value, ArrayRef<DimAttr> dims, const Lanes& lanes) {
  ArrayRef<DimAttr> own = dimsOf(value);
  size_t offset = dims.size() - own.size();
  for (size_t i = 0; i < dims.size(); ++i)
    if (!lanes[i].isLane() && !dims[i].isOne() && (i < offset || own[i - offset].isOne()))
      return true;
  return false;
}

static Lanes lanesOf(ArrayRef<int64_t> axes) {
  Lanes lanes;
  for (int64_t axis : axes)
    lanes.push_back({axis, 0});
  return lanes;
}

LogicalResult DenseLowering::listResults() {
  for (StateOp state : group.states)
    for (auto set : step.getOps<SetStateOp>())
      if (set.getName() == state.getSymName()) {
        Lanes along = lanesOf(group.axes.lookup(state));
        nextStates.push_back({set.getValue(),
                              {slot(set.getNameAttr(), along, 0),
                               SmallVector<DimAttr>(cast<ArrayType>(state.getType()).getDims()),
                               along, state.getLoc()}});
      }
  for (Operation* output : group.outputs)
    for (auto set : step.getOps<SetOutputOp>())
      if (set.getName() == SymbolTable::getSymbolName(output)) {
        auto type = cast<ArrayType>(output->getAttrOfType<TypeAttr>("type").getValue());
        SmallVector<int64_t> lanes;
        if (failed(outputAxes(output, type, set.getValue(), group, axes, true, lanes)))
          return failure();
        Lanes along = lanesOf(lanes);
        outputs.push_back({set.getValue(),
                           {slot(set.getNameAttr(), along, 0), SmallVector<DimAttr>(type.getDims()),
                            along, output->getLoc()}});
      }
  return success();
}

/// Tells the operands of `op`, seen with `lanes`, which nests need them.
void DenseLowering::demandOperands(Operation* op, const Lanes& lanes, const std::set<int>& nests) {
  auto want = [&](Value value, Lanes seenLanes, bool place) {
    Seen seen{value, std::move(seenLanes)};
    nestsOf[seen].insert(nests.begin(), nests.end());
    if (place && !isLeaf(value) && !cast<ArrayType>(value.getType()).isBool())
      roots.insert(seen);
  };
  if (auto product = dyn_cast<MatmulOp>(op)) {
    size_t rows = product.getLhs().getType().getRank() - 1;
    Lanes left(lanes.begin(), lanes.begin() + rows),
        right(lanes.begin(), lanes.begin() + product.sharedAxes());
    left.push_back({});
    right.push_back({});
    right.insert(right.end(), lanes.begin() + rows, lanes.end());
    want(product.getLhs(), left, true); // every element is used for many
    want(product.getRhs(), right, true);
    return;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Lanes from = lanes;
    if (!reduce.getKeep())
      from.insert(from.begin() + reduce.getAxis(), Place());
    from[reduce.getAxis()] = {};
    want(reduce.getOperand(), from, false);
    return;
  }
  if (isMovement(op)) { // from a place of its own, since its axes run otherwise than the result's
    SmallVector<Value> parts(op->getOperands());
    for (Value part : parts) {
      Lanes from = movedElement(op, lanes).second;
      for (Place& place : from)
        if (!place.isLane())
          place = {};
      want(part, from, true);
    }
    return;
  }
  ArrayRef<DimAttr> dims = dimsOf(op->getResult(0));
  for (Value operand : op->getOperands())
    want(operand, lanesWithin(operand, dims, lanes), isStretched(operand, dims, lanes));
}

/// What a nest of its own computes: sums, and what loops over each part write.
static bool needsPlace(Operation* op) { return isa<MatmulOp, ReduceOp, ConcatOp>(op); }

/// Backward: which values are needed, by which nests, and which of them are roots.
void DenseLowering::demand() {
  int nests = 0;
  for (const Result& result : llvm::concat<const Result>(nextStates, outputs)) {
    Value value = result.value;
    Seen seen{value, lanesWithin(value, result.to.dims, result.to.lanes)};
    nestsOf[seen].insert(nests++);
    if (!isLeaf(value) && !cast<ArrayType>(value.getType()).isBool() &&
        isStretched(value, result.to.dims, result.to.lanes))
      roots.insert(seen);
  }
  for (Operation& op : llvm::reverse(step)) {
    if (op.getNumResults() == 0 || isLeaf(op.getResult(0)))
      continue;
    Value value = op.getResult(0);
    std::vector<std::pair<Seen, std::set<int>>> wanted; // nestsOf may grow below
    for (auto it = nestsOf.lower_bound({value, {}});
         it != nestsOf.end() && it->first.first == value; ++it)
      wanted.push_back(*it);
    for (auto& [seen, needing] : wanted) {
      bool isBool = cast<ArrayType>(value.getType()).isBool();
      if (needsPlace(&op) || (needing.size() > 1 && !isBool))
        roots.insert(seen);
      demandOperands(&op, seen.second, roots.contains(seen) ? std::set<int>{nests++} : needing);
    }
  }
}

newton::SlotAttr DenseLowering::slot(FlatSymbolRefAttr tensor, const Lanes& lanes, int64_t back) {
  SmallVector<int64_t> axes, at;
  for (const Place& place : lanes) {
    axes.push_back(place.lane);
    at.push_back(place.isLane() ? place.at : -1);
  }
  return newton::SlotAttr::get(b.getContext(), tensor, axes, at, back);
}

/// The array of a state, an input or a param as the step reads it.
void DenseLowering::addLeaf(Operation& op, const Seen& seen) {
  if (isa<ConstantOp>(op))
    return;
  auto read = dyn_cast<InputAtOp>(op);
  SmallVector<Array>& list = isa<StateAtOp>(op) ? states : read ? inputs : params;
  auto name = op.getAttrOfType<FlatSymbolRefAttr>("name");
  Attribute where = slot(name, seen.second, read ? read.getBack() : 0);
  auto known = llvm::find_if(list, [&](const Array& array) { return array.slot == where; });
  if (known == list.end()) {
    list.push_back({where, SmallVector<DimAttr>(dimsOf(seen.first)), seen.second, op.getLoc()});
    known = &list.back();
  }
  arrayOf[seen] = {&list, known - list.begin()};
}

/// Every array of the step: states in the order of the group, the others in that of the equations.
void DenseLowering::listArrays() {
  for (const Result& state : nextStates)
    states.push_back(state.to);
  for (Operation& op : step) {
    if (op.getNumResults() == 0)
      continue;
    Value value = op.getResult(0);
    for (auto it = nestsOf.lower_bound({value, {}});
         it != nestsOf.end() && it->first.first == value; ++it) {
      if (isLeaf(value)) {
        addLeaf(op, it->first);
      } else if (roots.contains(it->first)) {
        arrayOf[it->first] = {&temporaries, temporaries.size()};
        temporaries.push_back(
            {Attribute(), SmallVector<DimAttr>(dimsOf(value)), it->first.second, op.getLoc()});
      }
    }
  }
}

int64_t DenseLowering::blockDim(DimAttr dim) {
  for (auto [i, known] : llvm::enumerate(blockDims))
    if (known.str() == dim.str())
      return i;
  blockDims.push_back(dim);
  return blockDims.size() - 1;
}

void DenseLowering::createSystem(Block& into) {
  SmallVector<Type> types;
  SmallVector<Array*> arrays;
  SmallVector<Attribute> slots[4], temporaryDims, laneAxes, dimNames;
  SmallVector<int64_t> dimSizes;
  auto add = [&](Array& array, SmallVectorImpl<Attribute>* to) {
    SmallVector<int64_t> shape, dims;
    for (auto [dim, place] : llvm::zip(array.dims, array.lanes))
      if (!place.isLane()) {
        dims.push_back(blockDim(dim));
        shape.push_back(dim.isFree() ? ShapedType::kDynamic : dim.getSize());
      }
    types.push_back(MemRefType::get(shape, compute));
    arrays.push_back(&array);
    if (to)
      to->push_back(array.slot);
    else if (!array.slot)
      temporaryDims.push_back(b.getDenseI64ArrayAttr(dims));
  };
  for (Array& array : states)
    add(array, &slots[0]);
  for (Array& array : inputs)
    add(array, &slots[1]);
  for (Array& array : params)
    add(array, &slots[2]);
  for (Result& state : nextStates)
    add(state.to, nullptr);
  for (Result& output : outputs)
    add(output.to, &slots[3]);
  for (Array& array : temporaries)
    add(array, nullptr);
  for (const auto& [seen, nests] : nestsOf) // loops over what no array has, as a sum of ones
    for (auto [dim, place] : llvm::zip(dimsOf(seen.first), seen.second))
      if (!place.isLane() && dim.isFree())
        blockDim(dim);
  for (DimAttr dim : group.lanes)
    laneAxes.push_back(b.getStringAttr(dim.str()));
  for (DimAttr dim : blockDims) {
    dimNames.push_back(b.getStringAttr(dim.str()));
    dimSizes.push_back(dim.getSize());
  }
  b.setInsertionPointToEnd(&into);
  auto system = newton::DenseSystemOp::create(
      b, loc, b.getStringAttr(equations.name(group)), TypeAttr::get(compute),
      b.getArrayAttr(laneAxes), b.getArrayAttr(dimNames), b.getDenseI64ArrayAttr(dimSizes),
      b.getArrayAttr(slots[0]), b.getArrayAttr(slots[1]), b.getArrayAttr(slots[2]),
      b.getArrayAttr(slots[3]), b.getArrayAttr(temporaryDims), equations.phase());
  Block& block = system.getStep().emplaceBlock();
  for (size_t i = 0; i < blockDims.size(); ++i)
    sizes.push_back(block.addArgument(b.getIndexType(), loc));
  for (auto [type, array] : llvm::zip(types, arrays))
    array->memref = block.addArgument(type, array->loc);
  b.setInsertionPointToStart(&block);
}

LogicalResult DenseLowering::lower(Block& into) {
  if (failed(listResults()))
    return failure();
  demand();
  listArrays();
  createSystem(into);
  buildStep();
  return success();
}

LogicalResult rnnc::lowerDense(const Equations& equations, const StateGroup& group,
                               const LaneAxes& axes, Type compute, Block& into) {
  return DenseLowering(equations, group, axes, compute).lower(into);
}
