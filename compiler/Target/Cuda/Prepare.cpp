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
  for (Operation& op : step.without_terminator())
    b.clone(op, mapping);
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
  for (Operation& op : block.without_terminator())
    if (std::string why = whyNotPrintable(&op, compute); !why.empty()) {
      emitError(op.getLoc()) << "'" << op.getName() << "' cannot be printed as CUDA: it is " << why
                             << " [RNN0501]";
      fine = false;
    }
  return success(fine);
}

/// Gives names to the values of one function.
class Namer {
public:
  Namer(newton::SystemOp system, llvm::DenseMap<Value, std::string>& names)
      : system(system), names(names) {}

  void run(Block& block);

private:
  void give(Value value, const std::string& wanted);
  void nameArguments(Block& block);
  bool isNameless(Operation& op) const;

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

void Namer::run(Block& block) {
  nameArguments(block);
  for (Operation& op : block.without_terminator()) {
    Value value = op.getResult(0);
    SmallVector<Expression> operands;
    for (Value operand : op.getOperands())
      operands.push_back(text.lookup(operand));
    Expression written = express(&op, operands);
    auto named = dyn_cast<NameLoc>(op.getLoc());
    bool isShort = !named && value.hasOneUse() && written.text.size() <= kInlineText;
    if (isNameless(op) || isShort)
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
    Namer(op, prepared.names).run(region->front());
  }
  prepared.name = unit.unique(op.getSymName());
  prepared.policy = unit.unique(prepared.name + "_policy");
  prepared.instance = unit.unique(prepared.name + "_cell");
  prepared.arguments = unit.unique(prepared.name + "_args");
  prepared.entry = unit.unique(prepared.name + "_forward");
  return prepared;
}
