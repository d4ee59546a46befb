//===- NewtonVerify.cpp - what makes a system well-formed ------------------------------------===//

#include "Newton/Newton.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rnnc::newton;

LogicalResult SlotAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr,
                               ArrayRef<int64_t> lanes, ArrayRef<int64_t> at, int64_t back) {
  if (lanes.size() != at.size())
    return emitError() << "a slot names a lane axis or an element for every axis of its tensor";
  if (back < 0)
    return emitError() << "a slot cannot read the future";
  for (auto [lane, element] : llvm::zip(lanes, at))
    if (lane < -1 || element < 0)
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

LogicalResult SystemOp::verify() {
  if (!getCompute().isF32() && !getCompute().isF64())
    return emitOpError("computes in f32 or f64");
  auto cell = cast<CellOp>((*this)->getParentOp());
  int64_t laneRank = getLaneAxes().size();
  auto check = [&](ArrayAttr slots, Role role) -> LogicalResult {
    for (Attribute attr : slots) {
      auto slot = dyn_cast<SlotAttr>(attr);
      if (!slot)
        return emitOpError("slots are #newton.slot");
      auto tensor = dyn_cast_or_null<TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()));
      if (!tensor || tensor.getRole() != role)
        return emitOpError() << slot.getTensor() << " is not " << stringifyRole(role)
                             << " of this cell";
      if (slot.getLanes().size() != tensor.getDims().size())
        return emitOpError() << slot.getTensor() << " has rank " << tensor.getDims().size();
      for (auto [lane, at, size] : llvm::zip(slot.getLanes(), slot.getAt(), tensor.getSizes()))
        if (lane >= laneRank || (lane < 0 && size >= 0 && at >= size))
          return emitOpError() << slot.getTensor() << ": a slot outside the tensor";
    }
    return success();
  };
  if (failed(check(getStates(), Role::State)) || failed(check(getInputs(), Role::Input)) ||
      failed(check(getParams(), Role::Param)) || failed(check(getOutputs(), Role::Output)))
    return failure();
  if (getStructure() && static_cast<int64_t>(getStructure()->getBlocks().size()) != numStates())
    return emitOpError("structure is of another size than the block");
  return success();
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
