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

static Operation* declaration(Operation* op, FlatSymbolRefAttr name) {
  auto cell = op->getParentOfType<CellOp>();
  return cell ? SymbolTable::lookupSymbolIn(cell, name) : nullptr;
}

/// The declaration `name` of the enclosing cell, with a diagnostic where it is not one of DeclOp.
template <typename DeclOp>
static DeclOp lookup(Operation* op, FlatSymbolRefAttr name, StringRef what) {
  auto decl = dyn_cast_or_null<DeclOp>(declaration(op, name));
  if (!decl)
    op->emitOpError() << name << " is not " << what << " of this cell";
  return decl;
}

/// The type of the declaration `name`, which is one of DeclOp or a hoisted array that `fits`; null
/// after a diagnostic.
template <typename DeclOp>
static Type lookupType(Operation* op, FlatSymbolRefAttr name, StringRef what,
                       llvm::function_ref<bool(HoistedOp)> fits) {
  if (auto hoisted = dyn_cast_or_null<HoistedOp>(declaration(op, name)); hoisted && fits(hoisted))
    return hoisted.getType();
  auto decl = lookup<DeclOp>(op, name, what);
  return decl ? decl.getType() : Type();
}

LogicalResult CellOp::verifyRegions() {
  if (llvm::range_size(decls<StepOp>()) != 1)
    return emitOpError("has exactly one rnn.step");
  mlir::SymbolTable symbols(*this);
  auto checkDims = [&](Operation* decl, Type type) -> LogicalResult {
    for (DimAttr dim : cast<ArrayType>(type).getDims()) {
      if (dim.getName().empty())
        continue;
      auto declared = dyn_cast_or_null<DimDeclOp>(symbols.lookup(dim.getName()));
      if (!declared)
        return decl->emitOpError()
               << "uses the dim '" << dim.getName().getValue() << "', which is not declared";
      if (static_cast<int64_t>(declared.getSize().value_or(DimAttr::kFree)) != dim.getSize())
        return decl->emitOpError() << "gives the dim '" << dim.getName().getValue()
                                   << "' another size than its declaration";
    }
    return success();
  };
  for (auto input : decls<InputOp>())
    if (cast<ArrayType>(input.getType()).isComplex() && !input.getBefore().isZero())
      return input.emitOpError("of complex numbers is 0 before the first step");
  for (auto state : decls<StateOp>()) {
    if (cast<ArrayType>(state.getType()).isComplex() && !state.getInit().isZero())
      return state.emitOpError("of complex numbers begins at 0, or as a param");
    if (!state.getStart())
      continue;
    auto param = dyn_cast_or_null<ParamOp>(symbols.lookup(*state.getStart()));
    if (!param)
      return state.emitOpError() << "starts from @" << *state.getStart() << ", which is no param";
    auto from = cast<ArrayType>(param.getType()), to = cast<ArrayType>(state.getType());
    if (!broadcastsTo(from.getDims(), to.getDims()))
      return state.emitOpError() << "start " << from.shapeString() << " does not broadcast to "
                                 << to.shapeString();
    if (from.getKind() != to.getKind())
      return state.emitOpError() << "is " << stringifyKind(to.getKind()) << ", its start is "
                                 << stringifyKind(from.getKind());
  }
  for (Operation& op : getBody().front()) {
    if (!isa<DimDeclOp, InputOp, ParamOp, StateOp, OutputOp, HoistedOp, StageOp, StepOp>(op))
      return op.emitOpError("is not a declaration, a stage or a step");
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
  auto cell = getOperation()->getParentOfType<CellOp>();
  for (auto stage : cell.decls<StageOp>())
    for (auto output : stage.getBody().front().getOps<SetOutputOp>())
      set.try_emplace(output.getName(), output);
  for (Operation& op : cell.getBody().front())
    if (isa<StateOp, OutputOp>(op) && !set.contains(SymbolTable::getSymbolName(&op).getValue()))
      return emitOpError() << "never sets @" << SymbolTable::getSymbolName(&op).getValue();
  return success();
}

LogicalResult StageOp::verifyRegions() {
  Block& body = getBody().front();
  if (llvm::range_size(body.getOps<SetOutputOp>()) != 1)
    return emitOpError("sets exactly one array");
  for (Operation& op : body)
    if (isa<StateAtOp, SetStateOp>(op))
      return op.emitOpError("has no place in a stage");
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
  if (getBack() < 0)
    return emitOpError("cannot read the future");
  auto stage = dyn_cast<StageOp>((*this)->getParentOp());
  if (auto state = dyn_cast_or_null<StateOp>(declaration(*this, getNameAttr()));
      state && stage && stage.getPhase() == Phase::After && getBack() == 0)
    return checkRead(*this, state.getType(), getType());
  Type type = lookupType<InputOp>(*this, getNameAttr(), "an input", [&](HoistedOp hoisted) {
    bool isBehind = stage && stage.getPhase() == Phase::After && hoisted.getPhase() == Phase::After;
    return hoisted.getPhase() != Phase::Call && (getBack() == 0 || isBehind);
  });
  return type ? checkRead(*this, type, getType()) : failure();
}

LogicalResult ParamValueOp::verify() {
  Type type = lookupType<ParamOp>(*this, getNameAttr(), "a param", [](HoistedOp hoisted) {
    return hoisted.getPhase() == Phase::Call;
  });
  return type ? checkRead(*this, type, getType()) : failure();
}

/// A value may be set where it broadcasts to the declared shape, and no further.
static LogicalResult checkSet(Operation* op, Type declared, Type value) {
  auto to = cast<ArrayType>(declared), from = cast<ArrayType>(value);
  if (to.getKind() != from.getKind())
    return op->emitOpError() << "value is " << stringifyKind(from.getKind()) << ", declared is "
                             << stringifyKind(to.getKind());
  if (!broadcastsTo(from.getDims(), to.getDims()))
    return op->emitOpError() << "value " << from.shapeString() << " does not broadcast to "
                             << to.shapeString();
  return success();
}

LogicalResult SetStateOp::verify() {
  auto decl = lookup<StateOp>(*this, getNameAttr(), "a state");
  return decl ? checkSet(*this, decl.getType(), getValue().getType()) : failure();
}

LogicalResult SetOutputOp::verify() {
  Type type =
      lookupType<OutputOp>(*this, getNameAttr(), "an output", [](HoistedOp) { return true; });
  return type ? checkSet(*this, type, getValue().getType()) : failure();
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

/// The result is complex where a number among the operands is, and real elsewhere.
static LogicalResult checkKind(Operation* op) {
  bool isComplex = llvm::any_of(op->getOperandTypes(),
                                [](Type type) { return cast<ArrayType>(type).isComplex(); });
  if (cast<ArrayType>(op->getResult(0).getType()).isComplex() != isComplex)
    return op->emitOpError(isComplex ? "of complex numbers gives a complex one"
                                     : "of real numbers gives a real one");
  return success();
}

/// The result has this shape, by name or by size.
static LogicalResult checkResult(Operation* op, ArrayType expected) {
  auto result = cast<ArrayType>(op->getResult(0).getType());
  if (failed(checkKind(op)))
    return failure();
  if (!llvm::equal(result.getDims(), expected.getDims(),
                   [](DimAttr a, DimAttr b) { return a.matches(b); }))
    return op->emitOpError() << "result is " << result.shapeString() << ", not "
                             << expected.shapeString();
  return success();
}

LogicalResult UnaryOp::verify() {
  if (getOperand().getType().isComplex() && getKind() != UnaryKind::Neg &&
      getKind() != UnaryKind::Exp)
    return emitOpError() << stringifyUnaryKind(getKind()) << " takes no complex number";
  return success(succeeded(checkKind(*this)) && succeeded(checkElementwise(*this)));
}

LogicalResult BinaryOp::verify() {
  if (getType().isComplex() && getKind() > BinaryKind::Div)
    return emitOpError() << stringifyBinaryKind(getKind()) << " takes no complex number";
  return success(succeeded(checkKind(*this)) && succeeded(checkElementwise(*this)));
}

LogicalResult ComplexOp::verify() { return checkElementwise(*this); }
LogicalResult PartOp::verify() { return checkElementwise(*this); }
LogicalResult CompareOp::verify() { return checkElementwise(*this); }
LogicalResult LogicOp::verify() { return checkElementwise(*this); }
LogicalResult NotOp::verify() { return checkElementwise(*this); }
LogicalResult WhereOp::verify() {
  return success(succeeded(checkKind(*this)) && succeeded(checkElementwise(*this)));
}

LogicalResult MatmulOp::verify() {
  FailureOr<SmallVector<DimAttr>> dims =
      matmulDims(getLhs().getType().getDims(), getRhs().getType().getDims());
  if (failed(dims))
    return emitOpError() << getLhs().getType().shapeString() << " @ "
                         << getRhs().getType().shapeString() << " does not contract";
  return checkResult(*this, ArrayType::get(getContext(), *dims));
}

LogicalResult ReduceOp::verify() {
  ArrayRef<DimAttr> dims = getOperand().getType().getDims();
  if (getAxis() >= dims.size())
    return emitOpError() << "axis " << getAxis() << " of " << getOperand().getType().shapeString();
  if (getType().isComplex() && getKind() != ReduceKind::Sum && getKind() != ReduceKind::Mean)
    return emitOpError() << stringifyReduceKind(getKind()) << " takes no complex number";
  if (getType() != reducedType(getOperand().getType(), getAxis(), getKeep()))
    return emitOpError(getKeep() ? "result has size 1 along the reduced axis"
                                 : "result drops the reduced axis");
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayType type = getOperand().getType();
  if (getAxis() >= type.getRank())
    return emitOpError() << "axis " << getAxis() << " of " << type.shapeString();
  if (type.getDims()[getAxis()].isFree())
    return emitOpError() << "cuts an axis of free size: " << type.getDims()[getAxis()].str();
  if (getDrop() ? getType().getRank() + 1 != type.getRank()
                : getType().getRank() != type.getRank() || getType().getDims()[getAxis()].isFree())
    return emitOpError(getDrop() ? "result drops the axis" : "result keeps the axis");
  int64_t size = getDrop() ? 1 : getType().getDims()[getAxis()].getSize();
  int64_t from = getFrom(), whole = type.getDims()[getAxis()].getSize();
  if (from < 0 || from > whole - size)
    return emitOpError() << "takes elements " << from << " to " << from + size - 1 << " of "
                         << whole;
  return checkResult(*this, slicedType(type, getAxis(), size, getDrop()));
}

LogicalResult ConcatOp::verify() {
  if (getOperands().empty())
    return emitOpError("has an operand at least");
  SmallVector<DimAttr> dims(cast<ArrayType>(getOperands().front().getType()).getDims());
  if (getAxis() >= dims.size())
    return emitOpError() << "axis " << getAxis() << " of "
                         << cast<ArrayType>(getOperands().front().getType()).shapeString();
  int64_t size = 0;
  for (Value operand : getOperands()) {
    auto type = cast<ArrayType>(operand.getType());
    if (type.getRank() != dims.size())
      return emitOpError("operands have as many axes as each other");
    if (type.getKind() != getType().getKind())
      return emitOpError() << "operands are all " << stringifyKind(getType().getKind());
    for (auto [axis, dim] : llvm::enumerate(type.getDims())) {
      if (axis == getAxis() && dim.isFree())
        return emitOpError() << "joins an axis of free size: " << dim.str();
      if (axis != getAxis() && !dim.matches(dims[axis]))
        return emitOpError() << type.shapeString() << " does not fit along axis " << axis;
    }
    size += type.getDims()[getAxis()].getSize();
  }
  dims[getAxis()] = DimAttr::get(StringAttr::get(getContext(), ""), size);
  return checkResult(*this, ArrayType::get(getContext(), dims));
}

LogicalResult TransposeOp::verify() {
  if (getOperand().getType().getRank() < 2)
    return emitOpError() << getOperand().getType().shapeString() << " has no two axes to swap";
  return checkResult(*this, transposedType(getOperand().getType()));
}

LogicalResult ExpandOp::verify() {
  if (getAxis() > getOperand().getType().getRank())
    return emitOpError() << "axis " << getAxis() << " of a result of rank "
                         << getOperand().getType().getRank() + 1;
  return checkResult(*this, expandedType(getOperand().getType(), getAxis()));
}
