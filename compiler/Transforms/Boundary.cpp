//===- Boundary.cpp - what a cell's caller sees, in the Newton dialect -----------------------===//

#include "Transforms/Boundary.h"

#include "Analysis/Adjoint.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

std::string Equations::name(const StateGroup& group) const {
  StringRef first = group.states.empty()
                        ? SymbolTable::getSymbolName(group.outputs.front()).getValue()
                        : StateOp(group.states.front()).getSymName();
  return (CellOp(cell).getSymName() + "_" + first).str();
}

newton::PhaseAttr Equations::phase() const {
  StageOp of = stage;
  return of ? newton::PhaseAttr::get(of.getContext(), static_cast<newton::Phase>(of.getPhase()))
            : newton::PhaseAttr();
}

LogicalResult rnnc::outputAxes(Operation* output, Type type, Value value, const StateGroup& group,
                               const LaneAxes& axes, bool anyBlockAxis,
                               SmallVectorImpl<int64_t>& laneOfAxis) {
  if (axes.place(type, value, group, anyBlockAxis, laneOfAxis))
    return success();
  return emitError(output->getLoc())
         << SymbolTable::getSymbolName(output)
         << " cannot be computed lane by lane; the hoist pass moves it behind the solve [RNN0403]";
}

void rnnc::declareTensors(CellOp cell, Block& into) {
  OpBuilder builder = OpBuilder::atBlockEnd(&into);
  for (Operation& decl : cell.getBody().front()) {
    auto typeAttr = decl.getAttrOfType<TypeAttr>("type");
    if (!typeAttr)
      continue;
    auto hoisted = dyn_cast<HoistedOp>(decl);
    bool once = hoisted && hoisted.getPhase() == Phase::Call;
    newton::Role role = once                 ? newton::Role::Derived
                        : hoisted            ? newton::Role::Hoisted
                        : isa<InputOp>(decl) ? newton::Role::Input
                        : isa<ParamOp>(decl) ? newton::Role::Param
                        : isa<StateOp>(decl) ? newton::Role::State
                        : isSummed(&decl)    ? newton::Role::Gradient
                                             : newton::Role::Output;
    SmallVector<Attribute> dims;
    SmallVector<int64_t> sizes;
    for (DimAttr dim : cast<ArrayType>(typeAttr.getValue()).getDims()) {
      dims.push_back(builder.getStringAttr(dim.str()));
      sizes.push_back(dim.getSize());
    }
    double fill = 0;
    if (auto state = dyn_cast<StateOp>(decl))
      fill = state.getInit().convertToDouble();
    if (auto input = dyn_cast<InputOp>(decl))
      fill = input.getBefore().convertToDouble();
    auto state = dyn_cast<StateOp>(decl);
    auto tensor = newton::TensorOp::create(
        builder, decl.getLoc(), newton::RoleAttr::get(builder.getContext(), role),
        SymbolTable::getSymbolName(&decl), builder.getArrayAttr(dims),
        builder.getDenseI64ArrayAttr(sizes), builder.getF64FloatAttr(fill),
        state && state.getHidden() ? builder.getUnitAttr() : UnitAttr(),
        state ? state.getStartAttr() : FlatSymbolRefAttr(),
        hoisted ? hoisted.getHoldsAttr() : decl.getAttrOfType<StringAttr>(kHoldsAttr));
    if (Attribute of = decl.getAttr(kOfAttr))
      tensor->setAttr(kOfAttr, of);
  }
}
