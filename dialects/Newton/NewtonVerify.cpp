//===- NewtonVerify.cpp - what makes a system well-formed ------------------------------------===//

#include "Newton/Newton.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rnnc::newton;

/// What the tables of the runtime can hold, and the language can say.
static constexpr int64_t kMaxDelay = 1'000'000'000;

LogicalResult SlotAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr,
                               ArrayRef<int64_t> lanes, ArrayRef<int64_t> at, int64_t back) {
  if (lanes.size() != at.size())
    return emitError() << "a slot names a lane axis or an element for every axis of its tensor";
  if (back < 0)
    return emitError() << "a slot cannot read the future";
  if (back > kMaxDelay)
    return emitError() << "a slot reads at most " << kMaxDelay << " steps back";
  for (auto [lane, element] : llvm::zip(lanes, at))
    if (lane < -1 || element < -1 || (lane >= 0 && element < 0))
      return emitError() << "a slot's axis is a lane axis, or -1 and an element";
  return success();
}

LogicalResult StructureAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                    ArrayRef<int64_t> entries, ArrayRef<int64_t> values,
                                    ArrayRef<int64_t> carry, ArrayRef<int64_t> numbers,
                                    ArrayRef<int64_t> blocks, bool linear, bool constant) {
  int64_t k = blocks.size();
  auto isPattern = [&](ArrayRef<int64_t> pairs) {
    if (pairs.size() % 2)
      return false;
    int64_t last = -1;
    for (size_t i = 0; i < pairs.size(); i += 2) {
      int64_t place = pairs[i] * k + pairs[i + 1];
      if (pairs[i] < 0 || pairs[i] >= k || pairs[i + 1] < 0 || pairs[i + 1] >= k || place <= last)
        return false;
      last = place;
    }
    return true;
  };
  if (!isPattern(entries) || !isPattern(carry))
    return emitError() << "a pattern is (row, column) pairs within the block, in row-major order";
  auto areNumbers = [](ArrayRef<int64_t> list, ArrayRef<int64_t> pairs) {
    int64_t known = 0;
    for (int64_t number : list) {
      known += number == known + 1;
      if (number == 0 || std::abs(number) > known)
        return false;
    }
    return list.size() == pairs.size() / 2;
  };
  if (!areNumbers(values, entries) || !areNumbers(numbers, carry))
    return emitError() << "every place of a pattern has a number: 1, 2, ... where it comes first, "
                          "later with either sign";
  if (constant && !linear)
    return emitError() << "a Jacobian that depends on nothing per step depends on no state";
  return success();
}

LogicalResult CellOp::verify() {
  if (getTolerance() && (!getTolerance()->isFinite() || getTolerance()->isNegative()))
    return emitOpError("tolerance is a finite number, 0 or more");
  if (getMaxSweeps() &&
      (static_cast<int64_t>(*getMaxSweeps()) < 1 || (getTolerance() && getTolerance()->isZero())))
    return emitOpError("max_sweeps is at least 1, and needs a tolerance above 0");
  if (getChunk() && static_cast<int64_t>(*getChunk()) < 1)
    return emitOpError("chunk is at least 1");
  return success();
}

LogicalResult TensorOp::verify() {
  if (getDims().size() != getSizes().size())
    return emitOpError("has one size for each dim");
  for (int64_t size : getSizes())
    if (size != -1 && size < 1)
      return emitOpError("sizes are at least 1, or -1 where the caller binds them");
  if (getHidden() && getRole() != Role::State)
    return emitOpError("only a state can be hidden");
  if (!getStart())
    return success();
  if (getRole() != Role::State)
    return emitOpError("only a state starts from a param");
  auto param = dyn_cast_or_null<TensorOp>(
      SymbolTable::lookupSymbolIn(cast<CellOp>((*this)->getParentOp()), getStartAttr()));
  if (!param || param.getRole() != Role::Param)
    return emitOpError() << "starts from @" << *getStart() << ", which is no param";
  size_t rank = param.getSizes().size(), own = getSizes().size();
  for (size_t i = 0; i < rank; ++i) {
    size_t axis = own - rank + i;
    if (rank > own || (param.getSizes()[i] != 1 &&
                       (param.getSizes()[i] != getSizes()[axis] ||
                        (getSizes()[axis] < 0 && param.getDims()[i] != getDims()[axis]))))
      return emitOpError() << "the start @" << *getStart() << " does not broadcast to it";
  }
  return success();
}

/// The slots of a system of either kind. `every`: an axis may stand for all of its elements.
static LogicalResult checkSlots(Operation* op, int64_t laneRank, ArrayAttr slots,
                                ArrayRef<Role> roles, bool every) {
  auto cell = cast<CellOp>(op->getParentOp());
  for (Attribute attr : slots) {
    auto slot = dyn_cast<SlotAttr>(attr);
    if (!slot)
      return op->emitOpError("slots are #newton.slot");
    auto tensor = dyn_cast_or_null<TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()));
    if (!tensor || !llvm::is_contained(roles, tensor.getRole()))
      return op->emitOpError() << slot.getTensor() << " is not " << stringifyRole(roles.front())
                               << " of this cell";
    if (slot.getLanes().size() != tensor.getDims().size())
      return op->emitOpError() << slot.getTensor() << " has rank " << tensor.getDims().size();
    for (auto [lane, at, size] : llvm::zip(slot.getLanes(), slot.getAt(), tensor.getSizes()))
      if (lane >= laneRank || (size >= 0 && at >= size) || (lane < 0 && at < 0 && !every) ||
          (lane >= 0 && at > 0 &&
           (size < 0 || llvm::is_contained({Role::State, Role::Output}, roles.front()))))
        return op->emitOpError() << slot.getTensor() << ": a slot outside the tensor";
  }
  return success();
}

template <typename SystemT>
static LogicalResult checkSystem(SystemT op, bool every) {
  if (!op.getCompute().isF32() && !op.getCompute().isF64())
    return op.emitOpError("computes in f32 or f64");
  int64_t laneRank = op.getLaneAxes().size();
  SmallVector<Role> inputs{Role::Input, Role::Hoisted}, outputs{Role::Output, Role::Hoisted};
  if (auto phase = op.getPhase()) {
    if (!op.getStates().empty())
      return op.emitOpError("has a phase, so it has no states");
    if (*phase == Phase::After)
      inputs.push_back(Role::State);
    if (*phase == Phase::Call)
      outputs = {Role::Derived};
  } else if (op.getStates().empty()) {
    return op.emitOpError("has a state, or a phase");
  }
  return success(
      succeeded(checkSlots(op, laneRank, op.getStates(), Role::State, every)) &&
      succeeded(checkSlots(op, laneRank, op.getInputs(), inputs, every)) &&
      succeeded(checkSlots(op, laneRank, op.getParams(), {Role::Param, Role::Derived}, every)) &&
      succeeded(checkSlots(op, laneRank, op.getOutputs(), outputs, every)));
}

LogicalResult ProductOp::verify() {
  if (!getCompute().isF32() && !getCompute().isF64())
    return emitOpError("computes in f32 or f64");
  if (getBack() < 0 || getBack() > kMaxDelay || getHeads() < 0)
    return emitOpError("`back` and `heads` count");
  if (getWeights().empty() || getWeights().size() != getBiases().size() ||
      getWeights().size() != getResults().size())
    return emitOpError("has a weight, a bias or unit, and a result for each product");
  auto cell = cast<CellOp>((*this)->getParentOp());
  auto rankOf = [&](Attribute name, ArrayRef<Role> roles) -> FailureOr<int64_t> {
    auto ref = dyn_cast<FlatSymbolRefAttr>(name);
    auto tensor =
        ref ? dyn_cast_or_null<TensorOp>(SymbolTable::lookupSymbolIn(cell, ref)) : TensorOp();
    if (!tensor || !llvm::is_contained(roles, tensor.getRole()))
      return emitOpError() << name << " is not " << stringifyRole(roles.front()) << " of this cell";
    return static_cast<int64_t>(tensor.getDims().size());
  };
  bool once = getPhase() == Phase::Call;
  const Role params[] = {Role::Param, Role::Derived};
  SmallVector<Role> sequences{Role::Input, Role::Hoisted, Role::Output, Role::State};
  FailureOr<int64_t> sequence =
      rankOf(getSequenceAttr(), once ? ArrayRef<Role>(params) : ArrayRef<Role>(sequences));
  if (failed(sequence))
    return failure();
  SmallVector<Role> results{Role::Hoisted, Role::Output};
  if (once)
    results = {Role::Derived};
  for (auto [weight, bias, result] : llvm::zip(getWeights(), getBiases(), getResults())) {
    FailureOr<int64_t> w = rankOf(weight, params), r = rankOf(result, results);
    if (failed(w) || failed(r) || (!isa<UnitAttr>(bias) && failed(rankOf(bias, params))))
      return failure();
    int64_t left = getLeft() ? *sequence : *w, right = getLeft() ? *w : *sequence;
    bool oneForAll = getHeads() == 0 && !getLeft() && left > 2 && right == 1 && *r == left - 1;
    if (!oneForAll &&
        (left != getHeads() + 2 || (right != left && right != left - 1) || *r != right))
      return emitOpError() << weight << ": ranks that no product has";
  }
  return success();
}

LogicalResult OuterOp::verify() {
  if (!getCompute().isF32() && !getCompute().isF64())
    return emitOpError("computes in f32 or f64");
  if (getPhase() == Phase::Call)
    return emitOpError("runs over steps");
  SmallVector<Role> sequences{Role::Input, Role::Hoisted};
  if (getPhase() == Phase::After)
    sequences.push_back(Role::State);
  auto list = [&](ArrayRef<Attribute> slots) { return ArrayAttr::get(getContext(), slots); };
  // As many lane axes as the result has axes that are not at one element.
  int64_t axes = llvm::count_if(getResult().getLanes(), [](int64_t lane) { return lane >= 0; });
  if (failed(checkSlots(*this, axes, list({getLeft(), getRight()}), sequences, /*every=*/false)) ||
      failed(checkSlots(*this, axes, list({getResult()}), Role::Gradient, /*every=*/false)))
    return failure();
  for (SlotAttr slot : {getLeft(), getRight(), getResult()})
    if (slot.getBack() != 0)
      return emitOpError() << slot.getTensor() << " is not read or written with a delay";
  bool hasRow = false, hasColumn = false;
  for (int64_t axis = 0; axis < axes; ++axis) {
    auto runs = [&](SlotAttr slot) { return llvm::is_contained(slot.getLanes(), axis); };
    if (!runs(getResult()) || (!runs(getLeft()) && !runs(getRight())))
      return emitOpError() << "lane axis " << axis << " is one of the result, and of a factor";
    hasRow |= !runs(getRight());
    hasColumn |= !runs(getLeft());
  }
  if (!hasRow || !hasColumn)
    return emitOpError("each factor has an axis that the other one lacks");
  for (auto [lane, at] : llvm::zip(getResult().getLanes(), getResult().getAt()))
    if (lane >= 0 && at != 0)
      return emitOpError("an axis of the result is whole, or at one element");
  return success();
}

LogicalResult SystemOp::verify() {
  if (failed(checkSystem(*this, false)) ||
      (getSums() && failed(checkSlots(*this, getLaneAxes().size(), *getSums(), Role::Gradient,
                                      /*every=*/false))))
    return failure();
  if (getStructure() && static_cast<int64_t>(getStructure()->getBlocks().size()) != numStates())
    return emitOpError("structure is of another size than the block");
  if (getDiagonal() && (!getStructure() || getStructure()->numPlaces() != numStates()))
    return emitOpError("a diagonal has one place a state");
  return success();
}

LogicalResult DenseSystemOp::verify() {
  if (failed(checkSystem(*this, true)))
    return failure();
  if (getBlockDims().empty() || getBlockDims().size() != getBlockSizes().size())
    return emitOpError("has block dims, and one size for each");
  for (int64_t size : getBlockSizes())
    if (size != -1 && size < 1)
      return emitOpError("sizes are at least 1, or -1 where the caller binds them");
  for (Attribute attr : getTemporaries()) {
    auto dims = dyn_cast<DenseI64ArrayAttr>(attr);
    if (!dims || llvm::any_of(dims.asArrayRef(), [&](int64_t dim) {
          return dim < 0 || dim >= static_cast<int64_t>(getBlockDims().size());
        }))
      return emitOpError("a temporary lists block dims");
  }
  auto cell = cast<CellOp>((*this)->getParentOp());
  for (ArrayAttr slots : {getStates(), getInputs(), getParams(), getOutputs()})
    for (auto slot : slots.getAsRange<SlotAttr>()) {
      auto tensor = cast<TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()));
      for (int64_t axis : slot.everyAxes()) {
        auto dim = llvm::find(getBlockDims(), tensor.getDims()[axis]);
        if (dim == getBlockDims().end() ||
            getBlockSizes()[dim - getBlockDims().begin()] != tensor.getSizes()[axis])
          return emitOpError() << slot.getTensor() << ": axis " << axis << " is no block dim";
      }
    }
  return success();
}

/// `arrays`: the block dims of each array behind the sizes.
static LogicalResult checkDenseRegion(DenseSystemOp op, Region& region,
                                      ArrayRef<SmallVector<int64_t>> arrays, StringRef what) {
  if (!region.hasOneBlock())
    return op.emitOpError() << what << " is one block";
  SmallVector<Type> types(region.front().getArgumentTypes());
  ArrayRef<Type> all = types;
  size_t sizes = op.getBlockDims().size();
  if (types.size() != sizes + arrays.size())
    return op.emitOpError() << what << " takes the block sizes, then the arrays";
  for (Type type : all.take_front(sizes))
    if (!type.isIndex())
      return op.emitOpError("block sizes are indices");
  for (auto [type, dims] : llvm::zip(all.drop_front(sizes), arrays)) {
    auto array = dyn_cast<MemRefType>(type);
    if (!array || array.getElementType() != op.getCompute() ||
        array.getRank() != static_cast<int64_t>(dims.size()))
      return op.emitOpError() << "an array of the " << what << " has another type than its slot";
  }
  auto walk = region.walk([&](Operation* inner) -> WalkResult {
    StringRef name = inner->getName().getStringRef();
    bool access = name == "memref.load" || name == "memref.store";
    if (access && !isa<BlockArgument>(inner->getOperand(name == "memref.store")))
      return inner->emitOpError() << "accesses what is no array of the " << what;
    StringRef dialect = inner->getName().getDialectNamespace();
    if (access || name == "scf.for" || name == "scf.yield" || dialect == "arith" ||
        dialect == "math" || dialect == "newton")
      return WalkResult::advance();
    return inner->emitOpError() << "has no place in the " << what << " of a dense system";
  });
  if (walk.wasInterrupted())
    return failure();
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  return yield && yield.getNumOperands() == 0
             ? success()
             : op.emitOpError() << "the " << what << " of arrays yields nothing";
}

LogicalResult DenseSystemOp::verifyRegions() {
  SmallVector<SmallVector<int64_t>> arrays = arrayDims();
  if (failed(checkDenseRegion(*this, getStep(), arrays, "step")))
    return failure();
  if (!hasDiagonal())
    return success();
  for (auto slot : getStates().getAsRange<SlotAttr>())
    arrays.push_back(blockDimsOf(slot));
  return checkDenseRegion(*this, getDiagonal(), arrays, "diagonal");
}

LogicalResult SystemOp::verifyRegions() {
  auto check = [&](Region& region, int64_t results, StringRef what) -> LogicalResult {
    if (!region.hasOneBlock())
      return emitOpError() << what << " is one block";
    Block& block = region.front();
    if (static_cast<int64_t>(block.getNumArguments()) != numStates() + numInputs() + numParams())
      return emitOpError() << what << " takes the states, the inputs and the params";
    auto yield = dyn_cast<YieldOp>(block.getTerminator());
    if (!yield || static_cast<int64_t>(yield.getNumOperands()) != results)
      return emitOpError() << what << " yields " << results << " values";
    for (Type type : block.getArgumentTypes())
      if (type != getCompute())
        return emitOpError() << what << " computes in " << getCompute();
    for (Value value : yield.getOperands())
      if (value.getType() != getCompute())
        return emitOpError() << what << " yields " << getCompute();
    return success();
  };
  if (failed(check(getStep(), numStates() + numOutputs() + numSums(), "step")))
    return failure();
  if (!hasJacobian())
    return success();
  if (!getStructure())
    return emitOpError("has a jacobian, so it has a structure");
  return check(getJacobian(), getStructure()->numValues(), "jacobian");
}
