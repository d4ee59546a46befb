//===- Boundary.cpp - what a cell's caller sees, in the Newton dialect -----------------------===//

#include "Transforms/Boundary.h"

#include "Newton/Newton.h"

#include "mlir/IR/Builders.h"

#include <set>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

LogicalResult rnnc::outputAxes(OutputOp output, Value value, const StateGroup& group,
                               const LaneAxes& axes, bool anyBlockAxis,
                               SmallVectorImpl<int64_t>& laneOfAxis) {
  auto type = cast<ArrayType>(output.getType()), from = cast<ArrayType>(value.getType());
  ArrayRef<int64_t> known = axes.axesOf(value);
  unsigned offset = type.getRank() - from.getRank();
  std::set<int64_t> used;
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
  for (unsigned i = 0; i < type.getRank(); ++i)
    if (!anyBlockAxis && laneOfAxis[i] < 0 && type.getDims()[i].isFree())
      return emitError(output.getLoc())
             << "not supported yet: the output '" << output.getSymName() << "' runs over '"
             << type.getDims()[i].str() << "', which is no lane axis of the states that it reads"
             << " [RNN0403]";
  if (used.size() != group.lanes.size())
    return emitError(output.getLoc())
           << "not supported yet: the output '" << output.getSymName()
           << "' has one value for all lanes; give it the axes of the states that it reads"
           << " [RNN0403]";
  return success();
}

void rnnc::declareTensors(CellOp cell, Block& into) {
  OpBuilder builder = OpBuilder::atBlockEnd(&into);
  for (Operation& decl : cell.getBody().front()) {
    auto typeAttr = decl.getAttrOfType<TypeAttr>("type");
    if (!typeAttr)
      continue;
    newton::Role role = isa<InputOp>(decl)   ? newton::Role::Input
                        : isa<ParamOp>(decl) ? newton::Role::Param
                        : isa<StateOp>(decl) ? newton::Role::State
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
    newton::TensorOp::create(builder, decl.getLoc(),
                             newton::RoleAttr::get(builder.getContext(), role),
                             SymbolTable::getSymbolName(&decl), builder.getArrayAttr(dims),
                             builder.getDenseI64ArrayAttr(sizes), builder.getF64FloatAttr(fill),
                             state && state.getHidden() ? builder.getUnitAttr() : UnitAttr(),
                             state ? state.getStartAttr() : FlatSymbolRefAttr());
  }
}
