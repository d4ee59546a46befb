//===- RnnVerify.cpp - what makes a cell well-formed -----------------------------------------===//

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rnnc::rnn;

std::string rnnc::rnn::shiftName(StringRef state, int64_t back) {
  return (state + "_back" + Twine(back)).str();
}

int64_t rnnc::rnn::orderOf(StateOp state) {
  int64_t order = 0;
  auto cell = state->getParentOfType<CellOp>();
  for (auto read : cell.getStep().getBody().front().getOps<StateAtOp>())
    if (read.getName() == state.getSymName())
      order = std::max<int64_t>(order, read.getBack());
  return order;
}

StepOp CellOp::getStep() { return *decls<StepOp>().begin(); }

/// The declaration `name` of the enclosing cell, with a diagnostic where it is not one of DeclOp.
template <typename DeclOp>
static DeclOp lookup(Operation* op, FlatSymbolRefAttr name, StringRef what) {
  auto cell = op->getParentOfType<CellOp>();
  Operation* found = cell ? SymbolTable::lookupSymbolIn(cell, name) : nullptr;
  auto decl = dyn_cast_or_null<DeclOp>(found);
  if (!decl)
    op->emitOpError() << name << " is not " << what << " of this cell";
  return decl;
}

LogicalResult CellOp::verifyRegions() {
  if (llvm::range_size(decls<StepOp>()) != 1)
    return emitOpError("has exactly one rnn.step");
  auto checkDims = [&](Operation* decl, Type type) -> LogicalResult {
    for (DimAttr dim : cast<ArrayType>(type).getDims()) {
      if (dim.getName().empty())
        continue;
      auto declared =
          dyn_cast_or_null<DimDeclOp>(mlir::SymbolTable::lookupSymbolIn(*this, dim.getName()));
      if (!declared)
        return decl->emitOpError()
               << "uses the dim '" << dim.getName().getValue() << "', which is not declared";
      if (static_cast<int64_t>(declared.getSize().value_or(DimAttr::kFree)) != dim.getSize())
        return decl->emitOpError() << "gives the dim '" << dim.getName().getValue()
                                   << "' another size than its declaration";
    }
    return success();
  };
  for (Operation& op : getBody().front()) {
    if (!isa<DimDeclOp, InputOp, ParamOp, StateOp, OutputOp, StepOp>(op))
      return op.emitOpError("is not a declaration or a step");
    if (auto type = op.getAttrOfType<TypeAttr>("type"))
      if (failed(checkDims(&op, type.getValue())))
        return failure();
  }
  return success();
}

LogicalResult DimDeclOp::verify() {
  if (getSize() && *getSize() < 1)
    return emitOpError("size is at least 1");
  return success();
}

LogicalResult StepOp::verifyRegions() {
  llvm::StringMap<Operation*> set;
  for (Operation& op : getBody().front()) {
    StringRef name;
    if (auto state = dyn_cast<SetStateOp>(op))
      name = state.getName();
    else if (auto output = dyn_cast<SetOutputOp>(op))
      name = output.getName();
    else
      continue;
    if (!set.try_emplace(name, &op).second)
      return op.emitOpError() << "@" << name << " is set twice";
  }
  for (Operation& op : getOperation()->getParentOfType<CellOp>().getBody().front())
    if (isa<StateOp, OutputOp>(op) && !set.contains(SymbolTable::getSymbolName(&op).getValue()))
      return emitOpError() << "never sets @" << SymbolTable::getSymbolName(&op).getValue();
  return success();
}

/// A read gives the declared type.
static LogicalResult checkRead(Operation* op, Type declared, Type result) {
  if (declared != result)
    return op->emitOpError() << "gives " << result << ", declared is " << declared;
  return success();
}

LogicalResult StateAtOp::verify() {
  auto decl = lookup<StateOp>(*this, getNameAttr(), "a state");
  if (!decl)
    return failure();
  if (getBack() > kMaxOrder)
    return emitOpError() << "reads at most " << kMaxOrder << " steps back";
  return checkRead(*this, decl.getType(), getType());
}

LogicalResult InputAtOp::verify() {
  auto decl = lookup<InputOp>(*this, getNameAttr(), "an input");
  if (!decl)
    return failure();
  if (getBack() < 0)
    return emitOpError("cannot read the future");
  return checkRead(*this, decl.getType(), getType());
}

LogicalResult ParamValueOp::verify() {
  auto decl = lookup<ParamOp>(*this, getNameAttr(), "a param");
  return decl ? checkRead(*this, decl.getType(), getType()) : failure();
}

/// A value may be set where it broadcasts to the declared shape, and no further.
static LogicalResult checkSet(Operation* op, Type declared, Type value) {
  auto to = cast<ArrayType>(declared), from = cast<ArrayType>(value);
  FailureOr<SmallVector<DimAttr>> dims = broadcast(from.getDims(), to.getDims());
  if (failed(dims) ||
      !llvm::all_of(llvm::zip(*dims, to.getDims()),
                    [](auto pair) { return std::get<0>(pair).matches(std::get<1>(pair)); }) ||
      dims->size() != to.getRank())
    return op->emitOpError() << "value " << from.shapeString() << " does not broadcast to "
                             << to.shapeString();
  return success();
}

LogicalResult SetStateOp::verify() {
  auto decl = lookup<StateOp>(*this, getNameAttr(), "a state");
  return decl ? checkSet(*this, decl.getType(), getValue().getType()) : failure();
}

LogicalResult SetOutputOp::verify() {
  auto decl = lookup<OutputOp>(*this, getNameAttr(), "an output");
  return decl ? checkSet(*this, decl.getType(), getValue().getType()) : failure();
}

/// The result has the operands' broadcast dims.
static LogicalResult checkElementwise(Operation* op) {
  SmallVector<DimAttr> dims;
  for (Value operand : op->getOperands()) {
    FailureOr<SmallVector<DimAttr>> next =
        broadcast(dims, cast<ArrayType>(operand.getType()).getDims());
    if (failed(next))
      return op->emitOpError() << "operands do not broadcast: "
                               << cast<ArrayType>(op->getOperand(0).getType()).shapeString()
                               << " and " << cast<ArrayType>(operand.getType()).shapeString();
    dims = *next;
  }
  auto result = cast<ArrayType>(op->getResult(0).getType());
  if (!llvm::equal(result.getDims(), dims, [](DimAttr a, DimAttr b) { return a.matches(b); }))
    return op->emitOpError() << "result is " << result.shapeString() << ", operands broadcast to "
                             << ArrayType::get(op->getContext(), dims).shapeString();
  return success();
}

LogicalResult UnaryOp::verify() { return checkElementwise(*this); }
LogicalResult BinaryOp::verify() { return checkElementwise(*this); }
LogicalResult CompareOp::verify() { return checkElementwise(*this); }
LogicalResult LogicOp::verify() { return checkElementwise(*this); }
LogicalResult NotOp::verify() { return checkElementwise(*this); }
LogicalResult WhereOp::verify() { return checkElementwise(*this); }

LogicalResult MatmulOp::verify() {
  FailureOr<SmallVector<DimAttr>> dims =
      matmulDims(getLhs().getType().getDims(), getRhs().getType().getDims());
  if (failed(dims))
    return emitOpError() << getLhs().getType().shapeString() << " @ "
                         << getRhs().getType().shapeString() << " does not contract";
  if (!llvm::equal(getType().getDims(), *dims, [](DimAttr a, DimAttr b) { return a.matches(b); }))
    return emitOpError() << "result is " << getType().shapeString() << ", not "
                         << ArrayType::get(getContext(), *dims).shapeString();
  return success();
}

LogicalResult ReduceOp::verify() {
  ArrayRef<DimAttr> dims = getOperand().getType().getDims();
  if (getAxis() >= dims.size())
    return emitOpError() << "axis " << getAxis() << " of " << getOperand().getType().shapeString();
  if (getType() != reducedType(getOperand().getType(), getAxis(), getKeep()))
    return emitOpError(getKeep() ? "result has size 1 along the reduced axis"
                                 : "result drops the reduced axis");
  return success();
}
