//===- BuildSystem.cpp - the wanted elements of a group, as scalars --------------------------===//

#include "Transforms/Boundary.h"
#include "Transforms/GroupLowering.h"
#include "Transforms/Scalars.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

newton::SlotAttr GroupLowering::slot(FlatSymbolRefAttr tensor, const Index& index, int64_t back) {
  SmallVector<int64_t> lanes, at;
  for (const Place& place : index) {
    lanes.push_back(place.lane);
    at.push_back(place.at);
  }
  return newton::SlotAttr::get(context, tensor, lanes, at, back);
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
    operands.push_back(element(builder, from));
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

/// Inputs and params in the order of their declarations, elements row-major.
void GroupLowering::listLeaves() {
  DenseMap<Attribute, std::set<std::pair<int64_t, Index>>> byTensor;
  for (const auto& [value, index] : elements) {
    if (auto read = value.getDefiningOp<InputAtOp>())
      byTensor[read.getNameAttr()].insert({read.getBack(), index});
    else if (auto read = value.getDefiningOp<ParamValueOp>())
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
}

void GroupLowering::listWanted() {
  for (Operation& op : step)
    if (op.getNumResults() && wanted.contains(op.getResult(0)))
      for (const Index& index : wanted[op.getResult(0)])
        elements.push_back({op.getResult(0), index});
}

ImplicitSteps GroupLowering::findImplicit() {
  std::set<std::pair<const void*, Index>> read;
  for (const auto& [value, index] : elements)
    if (auto state = value.getDefiningOp<StateAtOp>(); state && state.getBack() == 0)
      read.insert({state.getNameAttr().getAsOpaquePointer(), index});
  std::vector<Unknown> unknowns;
  for (const Result& state : states)
    if (read.count({state.tensor.getAsOpaquePointer(), state.slot}))
      unknowns.push_back({state.tensor, state.slot, {state.value, state.index}});
  return {std::move(unknowns), elements,
          [&](const Element& e) { return operandElements(e.first.getDefiningOp(), e.second); }};
}

newton::SystemOp GroupLowering::createSystem(OpBuilder& builder) {
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
      slots(params, ofLeaf), slots(outputs, ofResult), newton::StructureAttr(), equations.phase(),
      /*diagonal=*/UnitAttr(), sums.empty() ? ArrayAttr() : slots(sums, ofResult));
  Block& block = system.getStep().emplaceBlock();
  auto addArgument = [&](Attribute tensor, int64_t back, const Index& index) {
    auto attr = slot(cast<FlatSymbolRefAttr>(tensor), index, back);
    Location loc = NameLoc::get(builder.getStringAttr(attr.display()));
    leaves[{tensor.getAsOpaquePointer(), {back, index}}] = block.addArgument(compute, loc);
  };
  for (const Result& state : states)
    addArgument(state.tensor, 1, state.slot);
  for (const Leaf& leaf : llvm::concat<const Leaf>(inputs, params))
    addArgument(leaf.first, leaf.second.first, leaf.second.second);
  return system;
}

/// An element that is there already: within an implicit step what it gives or is given.
Value GroupLowering::element(OpBuilder& builder, const Element& from) {
  if (!inside)
    return built.at(from);
  if (auto it = inside->built.find(from); it != inside->built.end())
    return it->second;
  if (auto constant = from.first.getDefiningOp<ConstantOp>())
    return buildNumber(builder, constant.getLoc(), compute, constant.getValue().convertToDouble());
  Value outside = built.at(from);
  Value& argument = inside->given[outside];
  if (!argument)
    argument = inside->block.addArgument(outside.getType(), outside.getLoc());
  return argument;
}

Value GroupLowering::buildAny(OpBuilder& builder, const Element& element) {
  const auto& [from, index] = element;
  auto leaf = [&](Attribute tensor, int64_t back) {
    return leaves.at({tensor.getAsOpaquePointer(), {back, index}});
  };
  if (auto read = from.getDefiningOp<StateAtOp>())
    return leaf(read.getNameAttr(), read.getBack());
  if (auto read = from.getDefiningOp<InputAtOp>())
    return leaf(read.getNameAttr(), read.getBack());
  if (auto read = from.getDefiningOp<ParamValueOp>())
    return leaf(read.getNameAttr(), 0);
  return buildNamed(builder, from.getDefiningOp(), index);
}

/// Everything that needs solved unknowns only.
void GroupLowering::buildKnown(OpBuilder& builder, const ImplicitSteps& implicit) {
  for (const Element& element : elements)
    if (!built.count(element) && !implicit.needs(element).test(solved))
      built[element] = buildAny(builder, element);
}

/// Where a search begins: a state that is not finite would leave it nothing to begin with.
static Value finiteOrZero(OpBuilder& builder, Location loc, Value state) {
  Type type = state.getType();
  Value isFinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                         math::AbsFOp::create(builder, loc, state),
                                         buildNumber(builder, loc, type, INFINITY));
  return arith::SelectOp::create(builder, loc, isFinite, state, buildNumber(builder, loc, type, 0));
}

/// Solves for one group of unknowns: a newton.implicit where they need themselves.
void GroupLowering::solve(OpBuilder& builder, const ImplicitSteps& implicit,
                          const llvm::BitVector& unknowns) {
  auto unknown = [&](unsigned i) -> const Unknown& { return implicit.unknowns()[i]; };
  auto place = [&](unsigned i) {
    return std::pair(unknown(i).tensor.getAsOpaquePointer(),
                     std::pair<int64_t, Index>(0, unknown(i).index));
  };
  if (!implicit.isCircular(unknowns)) {
    leaves[place(unknowns.find_first())] = built.at(unknown(unknowns.find_first()).equation);
    solved.set(unknowns.find_first());
    return;
  }
  Location loc = unknown(unknowns.find_first()).equation.first.getLoc();
  if (auto named = dyn_cast<NameLoc>(loc))
    loc = named.getChildLoc();
  Region region;
  Inside residual{region.emplaceBlock(), {}, {}};
  SmallVector<Attribute> names;
  SmallVector<Value> starts;
  SmallVector<unsigned> members(unknowns.set_bits());
  for (unsigned i : members) {
    auto attr = slot(cast<FlatSymbolRefAttr>(unknown(i).tensor), unknown(i).index, 0);
    names.push_back(builder.getStringAttr(attr.display()));
    starts.push_back(finiteOrZero(
        builder, loc, leaves.at({unknown(i).tensor.getAsOpaquePointer(), {1, unknown(i).index}})));
    leaves[place(i)] =
        residual.block.addArgument(compute, NameLoc::get(cast<StringAttr>(names.back())));
  }
  OpBuilder body(context);
  body.setInsertionPointToEnd(&residual.block);
  inside = &residual;
  for (const Element& element : neededBy(implicit, unknowns))
    residual.built[element] = buildAny(body, element);
  SmallVector<Value> residuals;
  for (unsigned i : members)
    residuals.push_back(arith::SubFOp::create(body, loc, this->element(body, unknown(i).equation),
                                              leaves.at(place(i))));
  newton::YieldOp::create(body, loc, residuals);
  inside = nullptr;
  SmallVector<Value> given;
  for (auto& [outside, argument] : residual.given)
    given.push_back(outside);
  auto op = newton::ImplicitOp::create(builder, loc, SmallVector<Type>(members.size(), compute),
                                       builder.getI64IntegerAttr(implicits++),
                                       builder.getArrayAttr(names), starts, given);
  op.getResidual().takeBody(region);
  for (auto [i, solution] : llvm::zip_equal(members, op.getSolutions()))
    leaves[place(i)] = solution;
  solved |= unknowns;
}

/// What the equations of a group of unknowns need that depends on them, operands first.
std::vector<Element> GroupLowering::neededBy(const ImplicitSteps& implicit,
                                             const llvm::BitVector& unknowns) {
  std::set<Element, ElementLess> needed;
  for (unsigned i : unknowns.set_bits())
    needed.insert(implicit.unknowns()[i].equation);
  std::vector<Element> list;
  for (const Element& element : llvm::reverse(elements)) {
    if (!needed.count(element) || !implicit.needs(element).anyCommon(unknowns))
      continue;
    list.push_back(element);
    for (Element& operand : operandElements(element.first.getDefiningOp(), element.second))
      needed.insert(std::move(operand));
  }
  std::reverse(list.begin(), list.end());
  return list;
}

void GroupLowering::buildSystem(newton::SystemOp system, const ImplicitSteps& implicit) {
  OpBuilder builder = OpBuilder::atBlockEnd(&system.stepBlock());
  solved.resize(implicit.unknowns().size());
  buildKnown(builder, implicit);
  for (const llvm::BitVector& unknowns : implicit.groups()) {
    solve(builder, implicit, unknowns);
    buildKnown(builder, implicit);
  }
  std::map<std::pair<const void*, Index>, Value> solutions;
  for (const Unknown& unknown : implicit.unknowns())
    solutions[{unknown.tensor.getAsOpaquePointer(), unknown.index}] =
        leaves.at({unknown.tensor.getAsOpaquePointer(), {0, unknown.index}});
  SmallVector<Value> results;
  for (const Result& result : llvm::concat<const Result>(states, outputs, sums)) {
    auto it = solutions.find({result.tensor.getAsOpaquePointer(), result.slot});
    results.push_back(it != solutions.end() ? it->second : built.at({result.value, result.index}));
  }
  newton::YieldOp::create(builder, cell.getLoc(), results);
}

LogicalResult rnnc::emitTooManyUnknowns(Location loc, int64_t count) {
  InFlightDiagnostic error = emitError(loc);
  error << "an implicit step is solved for in blocks of at most " << kMaxUnknowns
        << " states; this one is in a block of ";
  if (count < 0)
    error << "free size";
  else
    error << count;
  error << " [RNN0411]";
  error.attachNote() << "a contraction over an axis of the state couples it whole: one small block "
                        "a head, as in R : [heads, 4, 4], can be solved for";
  return failure();
}

LogicalResult GroupLowering::checkSizes(const ImplicitSteps& implicit) {
  for (const llvm::BitVector& unknowns : implicit.groups())
    if (implicit.isCircular(unknowns) && unknowns.count() > kMaxUnknowns)
      return emitTooManyUnknowns(implicit.unknowns()[unknowns.find_first()].equation.first.getLoc(),
                                 unknowns.count());
  return success();
}

LogicalResult GroupLowering::lower(Block& into) {
  if (failed(listResults()) || failed(demand()))
    return failure();
  listWanted();
  listLeaves();
  ImplicitSteps implicit = findImplicit();
  if (failed(checkSizes(implicit)))
    return failure();
  OpBuilder builder = OpBuilder::atBlockEnd(&into);
  buildSystem(createSystem(builder), implicit);
  return success();
}
