//===- NewtonDialect.cpp - attributes and registration ---------------------------------------===//

#include "Newton/Newton.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rnnc::newton;

#include "Newton/Newton_dialect.cpp.inc"
#include "Newton/Newton_enum.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "Newton/Newton_attrdef.cpp.inc"

#define GET_OP_CLASSES
#include "Newton/Newton_op.cpp.inc"

void NewtonDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "Newton/Newton_attrdef.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Newton/Newton_op.cpp.inc"
      >();
}

std::string SlotAttr::display() const {
  std::string text = getTensor().getValue().str(), elements;
  for (auto [lane, at] : llvm::zip(getLanes(), getAt()))
    if ((lane < 0 && at >= 0) || (lane >= 0 && at > 0))
      elements += (elements.empty() ? "" : ", ") + std::to_string(at) + (lane < 0 ? "" : ":");
  return elements.empty() ? text : text + "[" + elements + "]";
}

SmallVector<int64_t> SlotAttr::everyAxes() const {
  SmallVector<int64_t> axes;
  for (auto [axis, at] : llvm::enumerate(getAt()))
    if (getLanes()[axis] < 0 && at < 0)
      axes.push_back(axis);
  return axes;
}

SmallVector<Operation*> CellOp::systems() {
  SmallVector<Operation*> list;
  for (Operation& op : getBody().front())
    if (isa<SystemOp, DenseSystemOp>(op) && !op.hasAttr("phase"))
      list.push_back(&op);
  return list;
}

SmallVector<Operation*> CellOp::stages() {
  SmallVector<Operation*> list;
  for (Operation& op : getBody().front())
    if (op.hasAttr("phase"))
      list.push_back(&op);
  return list;
}

SmallVector<int64_t> DenseSystemOp::blockDimsOf(SlotAttr slot) {
  auto tensor = cast<TensorOp>(
      SymbolTable::lookupSymbolIn(cast<CellOp>((*this)->getParentOp()), slot.getTensor()));
  SmallVector<int64_t> dims;
  for (int64_t axis : slot.everyAxes())
    dims.push_back(llvm::find(getBlockDims(), tensor.getDims()[axis]) - getBlockDims().begin());
  return dims;
}

SmallVector<SmallVector<int64_t>> DenseSystemOp::arrayDims() {
  SmallVector<SmallVector<int64_t>> dims;
  for (ArrayAttr slots : {getStates(), getInputs(), getParams(), getStates(), getOutputs()})
    for (auto slot : slots.getAsRange<SlotAttr>())
      dims.push_back(blockDimsOf(slot));
  for (auto temporary : getTemporaries().getAsRange<DenseI64ArrayAttr>())
    dims.emplace_back(temporary.asArrayRef());
  return dims;
}
