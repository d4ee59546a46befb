//===- Prepare.cpp - a system made ready for printing ----------------------------------------===//

#include "Target/Cuda/Prepare.h"
#include "Target/Cuda/Expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::cuda;

namespace {

/// Characters of an expression that is printed inside another: a longer one gets a name, so that
/// lines can be read and no compiler meets a deep expression.
constexpr size_t kInlineText = 52;

/// Puts the step in front of the Jacobian and shares what both compute. Sharing changes no value.
void joinStepAndJacobian(newton::SystemOp system) {
  Block &step = system.stepBlock(), &joint = system.getJacobian().front();
  OpBuilder b(&joint, joint.begin());
  IRMapping mapping;
  mapping.map(step.getArguments(), joint.getArguments());
  // The Jacobian's copy of an implicit op finds what the step's does.
  llvm::DenseMap<int64_t, newton::ImplicitOp> copies;
  for (auto implicit : joint.getOps<newton::ImplicitOp>())
    copies[implicit.getNumber()] = implicit;
  for (Operation& op : step.without_terminator()) {
    Operation* clone = b.clone(op, mapping);
    auto implicit = dyn_cast<newton::ImplicitOp>(clone);
    if (newton::ImplicitOp copy = implicit ? copies.lookup(implicit.getNumber()) : implicit) {
      copy->replaceAllUsesWith(implicit.getSolutions());
      copy->erase();
    }
  }
  SmallVector<Value> results;
  for (Value value : step.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  llvm::append_range(results, joint.getTerminator()->getOperands());
  joint.getTerminator()->setOperands(results);
}

/// A Jacobian that is identically zero (h[t] = x[t]) gets one entry that says so: arrays have at
/// least one element.
void keepOneEntry(newton::SystemOp system) {
  newton::StructureAttr structure = *system.getStructure();
  if (structure.numEntries() > 0)
    return;
  Operation* yield = system.getJacobian().front().getTerminator();
  OpBuilder b(yield);
  Value zero =
      arith::ConstantOp::create(b, system.getLoc(), b.getFloatAttr(system.getCompute(), 0));
  yield->insertOperands(yield->getNumOperands(), zero);
  system.setStructureAttr(newton::StructureAttr::get(
      system.getContext(), {0, 0}, {1}, structure.getCarry(), structure.getNumbers(),
      structure.getBlocks(), structure.getLinear(), structure.getConstant()));
}

/// Removes what nothing reads; last ops first.
void removeUnused(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

LogicalResult checkPrintable(Block& block, Type compute) {
  bool fine = true;
  for (Operation& op : block.without_terminator()) {
    if (auto implicit = dyn_cast<newton::ImplicitOp>(op); implicit && implicit.hasTrial()) {
      fine &= succeeded(checkPrintable(implicit.trialBlock(), compute));
      continue;
    }
    if (std::string why = whyNotPrintable(&op, compute); !why.empty()) {
      emitError(op.getLoc()) << "'" << op.getName() << "' cannot be printed as CUDA: it is " << why
                             << " [RNN0501]";
      fine = false;
    }
  }
  return success(fine);
}

/// Gives names to the values of one function.
class Namer {
public:
  explicit Namer(PreparedSystem& prepared)
      : prepared(prepared), system(*prepared.op), names(prepared.names) {}

  void run(Block& block);

private:
  void nameStatements(Block& block);
  void nameSearch(newton::ImplicitOp op);
  void give(Value value, const std::string& wanted);
  void nameArguments(Block& block);
  bool isNameless(Operation& op) const;

  PreparedSystem& prepared;
  newton::SystemOp system;
  llvm::DenseMap<Value, std::string>& names;
  llvm::DenseMap<Value, Expression> text; // what stands for a value where it is used
  NameScope scope;
  int nameless = 0;
};

} // namespace

void Namer::give(Value value, const std::string& wanted) {
  names[value] = scope.unique(wanted);
  text[value] = {names[value], Binding::Primary};
}

void Namer::nameArguments(Block& block) {
  size_t next = 0;
  auto name = [&](ArrayAttr slots, int64_t back) {
    for (auto slot : slots.getAsRange<newton::SlotAttr>())
      give(block.getArgument(next++), slotName(slot, slot.getBack() + back));
  };
  name(system.getStates(), 1); // a step reads the states of the step before
  name(system.getInputs(), 0);
  name(system.getParams(), 0);
}

/// Numbers, and a minus before a name, are printed wherever they are used.
bool Namer::isNameless(Operation& op) const {
  return isa<arith::ConstantOp>(op) ||
         (isa<arith::NegFOp>(op) && !isa<NameLoc>(op.getLoc()) && names.contains(op.getOperand(0)));
}

/// Whether a search is given the value, or yields it: such a value has a name.
static bool isOfSearch(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation* user) {
    return isa<newton::ImplicitOp>(user) || isa<newton::ImplicitOp>(user->getParentOp());
  });
}

/// The variables of a search, which are assigned to, and what its trials compute.
void Namer::nameSearch(newton::ImplicitOp op) {
  Block& trial = op.trialBlock();
  size_t m = op.numUnknowns(), carried = op.numCarried();
  std::vector<std::string>& variables = prepared.searches[op];
  auto add = [&](StringRef unknown, const char* what) {
    variables.push_back(scope.unique((unknown + what).str()));
    if (variables.size() > carried)
      return;
    Value argument = trial.getArgument(variables.size() - 1);
    names[argument] = variables.back();
    text[argument] = {variables.back(), Binding::Primary};
  };
  SmallVector<StringRef> unknowns(op.getUnknowns().getAsValueRange<StringAttr>());
  for (StringRef unknown : unknowns)
    add(unknown, "");
  for (StringRef unknown : unknowns)
    add(unknown, "_offset");
  for (const char* what : {"_norm", "_count", "_above", "_below"})
    if (variables.size() < carried)
      add(unknowns[0], what);
  add(unknowns[0], "_verdict");
  for (size_t i = 0; i < m; ++i) {
    names[op.getResult(i)] = variables[i];
    text[op.getResult(i)] = {variables[i], Binding::Primary};
  }
  for (auto [argument, value] :
       llvm::zip_equal(trial.getArguments().drop_front(carried), op.getCaptures())) {
    names[argument] = names.lookup(value);
    text[argument] = text.lookup(value);
  }
  nameStatements(trial);
}

void Namer::run(Block& block) {
  nameArguments(block);
  nameStatements(block);
}

void Namer::nameStatements(Block& block) {
  for (Operation& op : block.without_terminator()) {
    if (auto implicit = dyn_cast<newton::ImplicitOp>(op)) {
      nameSearch(implicit);
      continue;
    }
    Value value = op.getResult(0);
    SmallVector<Expression> operands;
    for (Value operand : op.getOperands())
      operands.push_back(text.lookup(operand));
    Expression written = express(&op, operands);
    auto named = dyn_cast<NameLoc>(op.getLoc());
    bool isShort = !named && value.hasOneUse() && written.text.size() <= kInlineText;
    if ((isNameless(op) || isShort) && !isOfSearch(value))
      text[value] = std::move(written);
    else
      give(value, named ? named.getName().str() : "v" + std::to_string(++nameless));
  }
}

FailureOr<PreparedSystem> rnnc::cuda::prepare(newton::SystemOp system, std::vector<int64_t> stored,
                                              bool jacobian, NameScope& unit) {
  PreparedSystem prepared;
  prepared.stored = std::move(stored);
  prepared.reads = readsOf(cast<newton::CellOp>(system->getParentOp()), system.getInputs());
  prepared.op = cast<newton::SystemOp>(system->clone());
  newton::SystemOp op = *prepared.op;
  if (!jacobian)
    op.getJacobian().getBlocks().clear();
  if (op.hasJacobian()) {
    keepOneEntry(op);
    joinStepAndJacobian(op);
  }
  IRRewriter rewriter(op.getContext());
  DominanceInfo dominance(op);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  for (Region* region : {&op.getStep(), &op.getJacobian()}) {
    if (region->empty())
      continue;
    removeUnused(region->front());
    if (failed(checkPrintable(region->front(), op.getCompute())))
      return failure();
    Namer(prepared).run(region->front());
  }
  prepared.name = unit.unique(op.getSymName());
  prepared.policy = unit.unique(prepared.name + "_policy");
  prepared.instance = unit.unique(prepared.name + "_cell");
  prepared.arguments = unit.unique(prepared.name + "_args");
  prepared.entry = unit.unique(prepared.name + "_forward");
  return prepared;
}
