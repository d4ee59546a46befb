//===- DeriveAdjoint.cpp - the cell of a cell's gradients ------------------------------------===//
//
// For a loss with upstream derivatives g of every state and output, the adjoint of h[t] is
//
//   l[t] = g[t] + (dh[t+1]/dh[t])^T l[t+1],
//
// and through it, by the chain rule, what each step owes to its inputs and params: a recurrence
// from the last step to the first. Here it becomes a cell whose time runs backwards, so that
// everything that solves a cell solves it too.
//
//===----------------------------------------------------------------------------------------------===//

#include "Analysis/Adjoint.h"
#include "Transforms/Passes.h"
#include "Transforms/Pullbacks.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

namespace rnnc {
#define GEN_PASS_DEF_DERIVEADJOINT
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {

/// A tensor so many steps ago.
using Read = std::pair<StringAttr, int64_t>;

/// What adds up to an adjoint, of different shapes: one for each.
using Terms = SmallVector<Adjoint, 1>;

class AdjointBuilder {
public:
  explicit AdjointBuilder(CellOp forward)
      : forward(forward), context(forward.getContext()), decls(context), b(context) {}

  void build();

private:
  void listProgram();
  void open();
  void clonePrimal();
  Value readPrimal(Operation& op);
  Value readValue(StringAttr name, int64_t back, Type type);
  void reverse();
  void reverseSet(Operation& op);
  void reverseOp(Operation& op);
  void give(Value value, Adjoint adjoint);
  void giveTo(Terms& terms, Value value, Adjoint adjoint);
  void setStates();
  void setGradients();
  void setGradient(OfAttr of, ArrayExpr value, Type type);
  void eraseUnused();

  StringAttr named(const llvm::Twine& name) { return StringAttr::get(context, name); }
  Operation* declarationOf(StringAttr name) { return SymbolTable::lookupSymbolIn(forward, name); }
  template <typename DeclOp>
  void declare(StringAttr name, Type type, OfAttr of);
  ArrayExpr expr(Value value, Location loc) { return {&b, loc, value}; }
  ArrayExpr stateRead(const llvm::Twine& name, int64_t back, Type type, Location loc);

  CellOp forward, adjoint;
  MLIRContext* context;
  OpBuilder decls, b;
  llvm::StringSet<> declared;

  SmallVector<Operation*> program;     // the equations in the order in which they are computed
  DenseMap<Attribute, Value> setTo;    // by name of an array, what the program sets it to
  llvm::DenseSet<StringAttr> implicit; // states that the step reads at [0]
  IRMapping primal;
  llvm::DenseSet<Value> ofParams; // values that params alone make
  DenseMap<Value, Terms> adjoints;
  llvm::MapVector<Read, Terms> byState, byInput, byParam;
};

} // namespace

/// Without the name that the user gave the value: what is derived is another value.
static Location place(Operation* op) {
  auto named = dyn_cast<NameLoc>(op->getLoc());
  return named ? named.getChildLoc() : op->getLoc();
}

static StringAttr nameOf(Operation& op) {
  return op.getAttrOfType<FlatSymbolRefAttr>("name").getAttr();
}

static Type typeOf(Operation* decl) { return decl->getAttrOfType<TypeAttr>("type").getValue(); }

template <typename DeclOp>
void AdjointBuilder::declare(StringAttr name, Type type, OfAttr of) {
  if (!declared.insert(name.getValue()).second)
    return;
  Operation* decl;
  if constexpr (std::is_same_v<DeclOp, StateOp>)
    decl = StateOp::create(decls, forward.getLoc(), name, TypeAttr::get(type),
                           decls.getF64FloatAttr(0), decls.getUnitAttr(), FlatSymbolRefAttr());
  else if constexpr (std::is_same_v<DeclOp, InputOp>)
    decl = InputOp::create(decls, forward.getLoc(), name, TypeAttr::get(type),
                           decls.getF64FloatAttr(0));
  else
    decl = DeclOp::create(decls, forward.getLoc(), name, TypeAttr::get(type));
  if (of)
    decl->setAttr(kOfAttr, of);
}

ArrayExpr AdjointBuilder::stateRead(const llvm::Twine& name, int64_t back, Type type,
                                    Location loc) {
  return expr(StateAtOp::create(b, loc, type, named(name), back), loc);
}

void AdjointBuilder::listProgram() {
  auto list = [&](Block& block) {
    for (Operation& op : block) {
      program.push_back(&op);
      if (auto set = dyn_cast<SetOutputOp>(op))
        setTo[set.getNameAttr().getAttr()] = set.getValue();
      if (auto read = dyn_cast<StateAtOp>(op); read && read.getBack() == 0)
        implicit.insert(read.getNameAttr().getAttr());
      if (op.getNumResults() && !isa<StateAtOp, InputAtOp>(op) &&
          llvm::all_of(op.getOperands(), [&](Value v) { return ofParams.contains(v); }))
        ofParams.insert(op.getResult(0));
    }
  };
  auto listStages = [&](Phase phase) {
    for (auto stage : forward.decls<StageOp>())
      if (stage.getPhase() == phase)
        list(stage.getBody().front());
  };
  listStages(Phase::Call);
  listStages(Phase::Before);
  list(forward.getStep().getBody().front());
  listStages(Phase::After);
}

void AdjointBuilder::open() {
  OpBuilder behind(forward);
  behind.setInsertionPointAfter(forward);
  adjoint = CellOp::create(behind, forward.getLoc(), named(forward.getSymName() + kAdjointSuffix),
                           ArrayAttr(), ArrayAttr(), forward.getToleranceAttr(),
                           forward.getMaxSweepsAttr(), forward.getChunkAttr());
  decls.setInsertionPointToEnd(&adjoint.getBody().emplaceBlock());
  for (auto dim : forward.decls<DimDeclOp>())
    decls.clone(*dim);
  auto step = StepOp::create(decls, forward.getStep().getLoc());
  decls.setInsertionPoint(step);
  b.setInsertionPointToEnd(&step.getBody().emplaceBlock());
}

Value AdjointBuilder::readValue(StringAttr name, int64_t back, Type type) {
  StringAttr own = back == 0 ? name : named(name.getValue() + ".back" + llvm::Twine(back));
  declare<InputOp>(own, type, OfAttr::get(context, Relation::Value, name, back));
  return InputAtOp::create(b, forward.getLoc(), type, own.getValue(), 0);
}

/// What the solve left behind or was given is read; null where the adjoint computes the value.
Value AdjointBuilder::readPrimal(Operation& op) {
  if (auto read = dyn_cast<StateAtOp>(op))
    return readValue(nameOf(op), read.getBack(), read.getType());
  auto hoisted = isa<InputAtOp, ParamValueOp>(op) ? dyn_cast<HoistedOp>(declarationOf(nameOf(op)))
                                                  : HoistedOp();
  if (hoisted && hoisted.getPhase() != Phase::Before)
    return primal.lookup(setTo.lookup(nameOf(op)));
  if (auto read = dyn_cast<ParamValueOp>(op)) {
    declare<ParamOp>(nameOf(op), read.getType(),
                     OfAttr::get(context, Relation::Value, nameOf(op), 0));
    return ParamValueOp::create(b, op.getLoc(), read.getType(), read.getName());
  }
  auto read = dyn_cast<InputAtOp>(op);
  if (!read)
    return {};
  return readValue(nameOf(op), read.getBack(), read.getType());
}

void AdjointBuilder::clonePrimal() {
  for (Operation* op : program) {
    if (op->getNumResults() == 0)
      continue;
    if (Value read = readPrimal(*op))
      primal.map(op->getResult(0), read);
    else
      b.clone(*op, primal);
  }
}

/// Of what params alone make, sums over axes that it lacks are left to whoever sums over the steps.
void AdjointBuilder::giveTo(Terms& terms, Value value, Adjoint adjoint) {
  ArrayRef<DimAttr> dims = cast<ArrayType>(value.getType()).getDims();
  SmallVector<DimAttr> all(dims);
  if (ofParams.contains(value))
    all = *broadcast(dims, adjoint.expr.dims());
  adjoint.expr = adjoint.expr.sumTo(all);
  for (Adjoint& term : terms)
    if (term.expr.dims() == adjoint.expr.dims() || !ofParams.contains(value)) {
      term.expr = term.expr + adjoint.expr;
      term.masked |= adjoint.masked;
      return;
    }
  terms.push_back(adjoint);
}

void AdjointBuilder::give(Value value, Adjoint adjoint) { giveTo(adjoints[value], value, adjoint); }

/// What a caller, a later step, or what reads it owes to a result.
void AdjointBuilder::reverseSet(Operation& op) {
  StringAttr name = nameOf(op);
  Value value = op.getOperand(0);
  Operation* decl = declarationOf(name);
  Type type = typeOf(decl);
  auto upstream = [&] {
    StringAttr own = named("d." + name.getValue());
    declare<InputOp>(own, type, OfAttr::get(context, Relation::Upstream, name, 0));
    return expr(InputAtOp::create(b, place(&op), type, own.getValue(), 0), place(&op));
  };
  if (isa<OutputOp>(decl))
    return give(value, {upstream()});
  if (isa<HoistedOp>(decl)) {
    for (Adjoint term : byInput.lookup({name, 0}))
      give(value, term);
    return;
  }
  declare<StateOp>(named("c." + name.getValue()), type,
                   OfAttr::get(context, Relation::Carried, name, 0));
  Adjoint sum{stateRead("c." + name.getValue(), 1, type, place(&op))};
  if (!cast<StateOp>(decl).getHidden())
    sum.expr = sum.expr + upstream();
  for (Adjoint term : byState.lookup({name, 0})) {
    sum.expr = term.expr + sum.expr;
    sum.masked |= term.masked;
  }
  byState[{name, 0}] = {sum};
  if (!implicit.contains(name))
    return give(value, sum);
  // What the state owes to itself is part of the sum: an implicit equation again.
  declare<StateOp>(named("i." + name.getValue()), type, OfAttr());
  give(value, {stateRead("i." + name.getValue(), 0, type, place(&op))});
}

/// Ops that work element by element pass sums on as they are; others take them whole.
void AdjointBuilder::reverseOp(Operation& op) {
  Value value = op.getResult(0);
  auto it = adjoints.find(value);
  if (it == adjoints.end())
    return;
  Terms given = it->second;
  for (Adjoint& term : given)
    term.expr.loc = place(&op);
  if (auto read = dyn_cast<StateAtOp>(op))
    return giveTo(byState[{nameOf(op), read.getBack()}], value, given.front());
  if (isa<InputAtOp, ParamValueOp>(op)) {
    auto input = dyn_cast<InputAtOp>(op);
    Operation* decl = declarationOf(nameOf(op));
    auto& sums = isa<StateOp>(decl) ? byState : isa<ParamOp>(decl) ? byParam : byInput;
    for (Adjoint term : given)
      giveTo(sums[{nameOf(op), input ? input.getBack() : 0}], value, term);
    return;
  }
  if (!isa<UnaryOp, BinaryOp, WhereOp>(op)) {
    Adjoint whole = given.front();
    whole.expr = whole.expr.sumTo(cast<ArrayType>(value.getType()).getDims());
    for (Adjoint term : ArrayRef(given).drop_front()) {
      whole.expr = whole.expr + term.expr.sumTo(whole.expr.dims());
      whole.masked |= term.masked;
    }
    given = {whole};
  }
  Operation* here = primal.lookup(value).getDefiningOp();
  for (Adjoint term : given)
    pullBack(here, term, [&](OpOperand& operand, Adjoint adjoint) {
      give(op.getOperand(operand.getOperandNumber()), adjoint);
    });
}

void AdjointBuilder::reverse() {
  for (Operation* op : llvm::reverse(program))
    op->getNumResults() == 0 ? reverseSet(*op) : reverseOp(*op);
}

void AdjointBuilder::setStates() {
  for (auto state : forward.decls<StateOp>()) {
    StringAttr name = state.getSymNameAttr();
    Location loc = state.getLoc();
    if (implicit.contains(name))
      SetStateOp::create(b, loc, ("i." + name.getValue()).str(),
                         byState.lookup({name, 0}).front().expr.value);
    Terms before = byState.lookup({name, 1});
    Value carried =
        before.empty() ? expr(Value(), loc).constant(0).value : before.front().expr.value;
    SetStateOp::create(b, loc, ("c." + name.getValue()).str(), carried);
  }
}

void AdjointBuilder::setGradient(OfAttr of, ArrayExpr value, Type type) {
  std::string first = ("d." + of.getName().getValue()).str();
  if (of.getBack() > 0)
    first += ".back" + std::to_string(of.getBack());
  std::string name = first;
  for (int n = 2; declared.contains(name); ++n) // of params, one for each shape
    name = first + "." + std::to_string(n);
  declare<OutputOp>(named(name), type, of);
  SetOutputOp::create(b, value.loc, name, value.value);
}

void AdjointBuilder::setGradients() {
  for (auto& [read, terms] : byInput)
    if (isa<InputOp>(declarationOf(read.first)))
      setGradient(OfAttr::get(context, Relation::Gradient, read.first, read.second),
                  terms.front().expr, typeOf(declarationOf(read.first)));
  for (auto& [read, terms] : byParam)
    for (Adjoint& term : terms)
      setGradient(OfAttr::get(context, Relation::Sum, read.first, 0), term.expr, term.expr.type());
}

/// What no gradient needs, and what nobody reads then.
void AdjointBuilder::eraseUnused() {
  llvm::DenseSet<StringAttr> read;
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(*b.getInsertionBlock()))) {
    if (op.getNumResults() && op.use_empty())
      op.erase();
    else if (isa<InputAtOp, ParamValueOp>(op))
      read.insert(nameOf(op));
  }
  for (Operation& decl : llvm::make_early_inc_range(adjoint.getBody().front()))
    if (isa<InputOp, ParamOp>(decl) && !read.contains(SymbolTable::getSymbolName(&decl)))
      decl.erase();
}

void AdjointBuilder::build() {
  listProgram();
  open();
  clonePrimal();
  reverse();
  setStates();
  setGradients();
  eraseUnused();
}

namespace {
struct DeriveAdjoint : rnnc::impl::DeriveAdjointBase<DeriveAdjoint> {
  void runOnOperation() override {
    for (CellOp cell : llvm::to_vector(getOperation().getOps<CellOp>()))
      AdjointBuilder(cell).build();
  }
};
} // namespace
