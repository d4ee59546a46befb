//===- Hoist.cpp - what depends on no state leaves the step ----------------------------------===//
//
// Analysis/Hoisting says what goes where; here every array that it lists gets a declaration and a
// stage, and the step reads it instead of computing it.
//
//===----------------------------------------------------------------------------------------------===//

#include "Analysis/ArrayFormula.h"
#include "Analysis/Hoisting.h"
#include "Transforms/Boundary.h"
#include "Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace rnnc {
#define GEN_PASS_DEF_HOIST
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {

class Hoister {
public:
  explicit Hoister(CellOp cell)
      : cell(cell), step(cell.getStep().getBody().front()), plan(cell), b(cell.getContext()) {}

  void run();

private:
  std::string leafName(Value value);
  std::string nameOf(Value value);
  void declare();
  Value read(OpBuilder& builder, Value value);
  Value readIn(OpBuilder& builder, Value value, Phase phase, bool itself);
  void addStage(Value value, FlatSymbolRefAttr target, Phase phase, bool itself, Location loc);
  void rewriteStep();

  CellOp cell;
  Block& step;
  Hoisting plan;
  OpBuilder b;
  llvm::StringMap<int> lastNumber; // of the names made so far, so that no number is tried twice
  llvm::MapVector<Value, HoistedOp> arrays;
  llvm::MapVector<Value, Operation*> soleOutput; // what only an output wants goes straight there
};

} // namespace

/// Of what is declared, or of a part of that where it is complex; else nothing.
std::string Hoister::leafName(Value value) {
  if (StateOp state = plan.stateSetTo(value))
    return state.getSymName().str();
  if (StringRef part = complexPart(value); !part.empty()) {
    std::string whole = leafName(value.getDefiningOp()->getOperand(0));
    return whole.empty() ? whole : whole + "_" + part.str();
  }
  auto name = value.getDefiningOp()->getAttrOfType<FlatSymbolRefAttr>("name");
  return name ? name.getValue().str() : std::string();
}

/// After the equation that gives the value, else after what it is made of: `W_x`, `sum_h`.
std::string Hoister::nameOf(Value value) {
  Operation* op = value.getDefiningOp();
  std::string name;
  if (auto named = dyn_cast<NameLoc>(op->getLoc())) {
    name = named.getName().str();
  } else {
    auto of = plan.arrays().lookup(value).product;
    auto reduce = dyn_cast<ReduceOp>(op);
    auto unary = dyn_cast<UnaryOp>(op);
    std::string first = of.sequence ? leafName(of.weight)
                        : reduce    ? stringifyReduceKind(reduce.getKind()).str()
                        : unary     ? stringifyUnaryKind(unary.getKind()).str()
                                    : leafName(value);
    std::string second = of.sequence       ? leafName(of.sequence)
                         : reduce || unary ? leafName(op->getOperand(0))
                                           : std::string();
    name = first + (first.empty() || second.empty() ? "" : "_") + second;
  }
  if (name.empty())
    name = "hoisted";
  std::string unique = name;
  for (int& n = lastNumber.try_emplace(name, 1).first->second;
       SymbolTable::lookupSymbolIn(cell, unique);)
    unique = name + "_" + std::to_string(++n);
  return unique;
}

void Hoister::declare() {
  for (auto [set, phase] : plan.outputs()) {
    Value value = cast<SetOutputOp>(set).getValue();
    auto it = plan.arrays().find(value);
    auto output = SymbolTable::lookupSymbolIn(cell, cast<SetOutputOp>(set).getNameAttr());
    if (it != plan.arrays().end() && !it->second.byStep && phase == it->second.phase &&
        value.hasOneUse() && output->getAttrOfType<TypeAttr>("type").getValue() == value.getType())
      soleOutput.insert({value, set});
  }
  b.setInsertionPoint(cell.getStep());
  auto known = [&](Value value) { // what the step leaves behind
    if (StateOp state = plan.stateSetTo(value))
      return (state.getSymName() + "[t]").str();
    auto array = plan.arrays().find(value);
    bool isLeft = array != plan.arrays().end() && array->second.byStep && arrays.contains(value);
    return isLeft ? (arrays.lookup(value).getSymName() + "[t]").str() : std::string();
  };
  for (auto& [value, array] : plan.arrays())
    if (!soleOutput.count(value))
      arrays[value] =
          HoistedOp::create(b, value.getLoc(), array.phase, nameOf(value),
                            cast<ArrayType>(value.getType()), arrayFormula(value, known));
  for (auto& [set, phase] : plan.outputs()) {
    auto output = cast<SetOutputOp>(set);
    SymbolTable::lookupSymbolIn(cell, output.getNameAttr())
        ->setAttr(kHoldsAttr, b.getStringAttr(arrayFormula(output.getValue(), known)));
  }
}

/// The hoisted array instead of the value.
Value Hoister::read(OpBuilder& builder, Value value) {
  HoistedOp array = arrays.lookup(value);
  if (array.getPhase() == Phase::Call)
    return ParamValueOp::create(builder, value.getLoc(), value.getType(), array.getSymName());
  return InputAtOp::create(builder, value.getLoc(), value.getType(), array.getSymName(), 0);
}

/// What a stage need not compute: null where it must.
Value Hoister::readIn(OpBuilder& builder, Value value, Phase phase, bool itself) {
  StateOp state = plan.stateSetTo(value);
  if (!itself && arrays.contains(value))
    return read(builder, value);
  if (phase == Phase::After && state && plan.dependsOnState(value))
    return InputAtOp::create(builder, value.getLoc(), value.getType(), state.getSymName(), 0);
  return Value();
}

/// `itself`: compute the value although it is an array.
void Hoister::addStage(Value value, FlatSymbolRefAttr target, Phase phase, bool itself,
                       Location loc) {
  OpBuilder::InsertionGuard guard(b);
  auto stage = StageOp::create(b, loc, phase);
  OpBuilder inside = OpBuilder::atBlockEnd(&stage.getBody().emplaceBlock());
  IRMapping mapping;
  llvm::SetVector<Operation*> needed;
  SmallVector<Value> todo{value};
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    Operation* op = next.getDefiningOp();
    if (mapping.contains(next) || needed.contains(op))
      continue;
    if (Value stored = readIn(inside, next, phase, itself && next == value)) {
      mapping.map(next, stored);
      continue;
    }
    needed.insert(op);
    llvm::append_range(todo, op->getOperands());
  }
  SmallVector<Operation*> ordered(needed.begin(), needed.end());
  llvm::sort(ordered, [](Operation* x, Operation* y) { return x->isBeforeInBlock(y); });
  for (Operation* op : ordered)
    inside.clone(*op, mapping);
  SetOutputOp::create(inside, loc, target, mapping.lookup(value));
}

void Hoister::rewriteStep() {
  for (auto& [set, phase] : plan.outputs()) // they may be sole ones: erased last
    if (!soleOutput.count(cast<SetOutputOp>(set).getValue()))
      set->erase();
  for (auto [value, set] : soleOutput)
    set->erase();
  for (auto& [value, array] : plan.arrays()) {
    OpBuilder at(value.getDefiningOp());
    at.setInsertionPointAfter(value.getDefiningOp());
    if (array.byStep)
      SetOutputOp::create(at, value.getLoc(), arrays.lookup(value).getSymName(), value);
    else if (array.phase != Phase::After && arrays.contains(value))
      Value(value).replaceAllUsesWith(read(at, value));
  }
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(step)))
    if (op.getNumResults() && op.use_empty())
      op.erase();
}

void Hoister::run() {
  if (plan.arrays().empty() && plan.outputs().empty())
    return;
  declare();
  Operation* after = cell.getStep();
  for (auto& [value, array] : plan.arrays()) {
    if (array.byStep || soleOutput.count(value))
      continue;
    if (array.phase != Phase::After)
      b.setInsertionPoint(cell.getStep());
    else
      b.setInsertionPointAfter(after);
    auto target = FlatSymbolRefAttr::get(arrays.lookup(value).getSymNameAttr());
    addStage(value, target, array.phase, true, value.getLoc());
    if (array.phase == Phase::After)
      after = after->getNextNode();
  }
  for (auto& [set, phase] : plan.outputs()) {
    auto output = cast<SetOutputOp>(set);
    if (phase == Phase::Before)
      b.setInsertionPoint(cell.getStep());
    else
      b.setInsertionPointAfter(after);
    addStage(output.getValue(), output.getNameAttr(), phase, soleOutput.count(output.getValue()),
             output.getLoc());
    if (phase == Phase::After)
      after = after->getNextNode();
  }
  rewriteStep();
}

namespace {
struct Hoist : rnnc::impl::HoistBase<Hoist> {
  void runOnOperation() override {
    for (CellOp cell : getOperation().getOps<CellOp>())
      if (cell.decls<StageOp>().empty()) // not hoisted yet
        Hoister(cell).run();
  }
};
} // namespace
