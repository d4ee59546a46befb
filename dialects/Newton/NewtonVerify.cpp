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
                                    ArrayRef<int64_t> entries, ArrayRef<int64_t> carry,
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
  if (constant && !linear)
    return emitError() << "a Jacobian that depends on nothing per step depends on no state";
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
  return success();
}

/// The slots of a system of either kind. `every`: an axis may stand for all of its elements.
static LogicalResult checkSlots(Operation* op, int64_t laneRank, ArrayAttr slots, Role role,
                                bool every) {
  auto cell = cast<CellOp>(op->getParentOp());
  for (Attribute attr : slots) {
    auto slot = dyn_cast<SlotAttr>(attr);
    if (!slot)
      return op->emitOpError("slots are #newton.slot");
    auto tensor = dyn_cast_or_null<TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()));
    if (!tensor || tensor.getRole() != role)
      return op->emitOpError() << slot.getTensor() << " is not " << stringifyRole(role)
                               << " of this cell";
    if (slot.getLanes().size() != tensor.getDims().size())
      return op->emitOpError() << slot.getTensor() << " has rank " << tensor.getDims().size();
    for (auto [lane, at, size] : llvm::zip(slot.getLanes(), slot.getAt(), tensor.getSizes()))
      if (lane >= laneRank || (size >= 0 && at >= size) || (lane < 0 && at < 0 && !every) ||
          (lane >= 0 && at > 0 && (size < 0 || role == Role::State || role == Role::Output)))
        return op->emitOpError() << slot.getTensor() << ": a slot outside the tensor";
  }
  return success();
}

template <typename SystemT>
static LogicalResult checkSystem(SystemT op, bool every) {
  if (!op.getCompute().isF32() && !op.getCompute().isF64())
    return op.emitOpError("computes in f32 or f64");
  int64_t laneRank = op.getLaneAxes().size();
  return success(succeeded(checkSlots(op, laneRank, op.getStates(), Role::State, every)) &&
                 succeeded(checkSlots(op, laneRank, op.getInputs(), Role::Input, every)) &&
                 succeeded(checkSlots(op, laneRank, op.getParams(), Role::Param, every)) &&
                 succeeded(checkSlots(op, laneRank, op.getOutputs(), Role::Output, every)));
}

LogicalResult SystemOp::verify() {
  if (failed(checkSystem(*this, false)))
    return failure();
  if (getStructure() && static_cast<int64_t>(getStructure()->getBlocks().size()) != numStates())
    return emitOpError("structure is of another size than the block");
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

LogicalResult DenseSystemOp::verifyRegions() {
  if (!getStep().hasOneBlock())
    return emitOpError("step is one block");
  SmallVector<Type> types(stepBlock().getArgumentTypes());
  ArrayRef<Type> all = types;
  size_t sizes = getBlockDims().size();
  SmallVector<SmallVector<int64_t>> arrays = arrayDims();
  if (types.size() != sizes + arrays.size())
    return emitOpError("step takes the block sizes, then the arrays");
  for (Type type : all.take_front(sizes))
    if (!type.isIndex())
      return emitOpError("block sizes are indices");
  for (auto [type, dims] : llvm::zip(all.drop_front(sizes), arrays)) {
    auto array = dyn_cast<MemRefType>(type);
    if (!array || array.getElementType() != getCompute() ||
        array.getRank() != static_cast<int64_t>(dims.size()))
      return emitOpError("an array of the step has another type than its slot");
  }
  auto walk = getStep().walk([&](Operation* op) -> WalkResult {
    StringRef name = op->getName().getStringRef();
    bool access = name == "memref.load" || name == "memref.store";
    if (access && !isa<BlockArgument>(op->getOperand(name == "memref.store")))
      return op->emitOpError("accesses what is no array of the step");
    StringRef dialect = op->getName().getDialectNamespace();
    if (access || name == "scf.for" || name == "scf.yield" || dialect == "arith" ||
        dialect == "math" || dialect == "newton")
      return WalkResult::advance();
    return op->emitOpError("has no place in the step of a dense system");
  });
  if (walk.wasInterrupted())
    return failure();
  auto yield = dyn_cast<YieldOp>(stepBlock().getTerminator());
  return yield && yield.getNumOperands() == 0 ? success()
                                              : emitOpError("the step of arrays yields nothing");
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
  if (failed(check(getStep(), numStates() + numOutputs(), "step")))
    return failure();
  if (!hasJacobian())
    return success();
  if (!getStructure())
    return emitOpError("has a jacobian, so it has a structure");
  return check(getJacobian(), getStructure()->numEntries(), "jacobian");
}
