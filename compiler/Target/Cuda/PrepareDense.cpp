//===- PrepareDense.cpp - a dense system made ready for printing -----------------------------===//

#include "Target/Cuda/Dense.h"
#include "Target/Cuda/Expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::cuda;

/// Where the loops stand and what they read: index arithmetic, loops, elements of arrays.
static bool isStructure(Operation* op) {
  if (isa<scf::ForOp, scf::YieldOp, memref::LoadOp, memref::StoreOp, newton::YieldOp>(op))
    return true;
  bool onPlaces = op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
  return onPlaces && isa<arith::ConstantOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
                         arith::RemUIOp, arith::DivUIOp>(op);
}

static LogicalResult checkPrintable(newton::DenseSystemOp system) {
  bool fine = true;
  system.getStep().walk([&](Operation* op) {
    if (isStructure(op))
      return;
    std::string why = whyNotPrintable(op, system.getCompute());
    if (why.empty())
      return;
    emitError(op->getLoc()) << "'" << op->getName() << "' cannot be printed as CUDA: it is " << why
                            << " [RNN0501]";
    fine = false;
  });
  return success(fine);
}

namespace {
class DenseNamer {
public:
  DenseNamer(newton::DenseSystemOp system, llvm::DenseMap<Value, std::string>& names)
      : system(system), names(names) {}

  void run() {
    nameArguments();
    nameBlock(system.stepBlock(), 0);
  }

private:
  void nameArguments();
  void nameBlock(Block& block, unsigned depth);
  void nameLoop(scf::ForOp loop, unsigned depth);
  void nameResult(Operation* op);

  newton::DenseSystemOp system;
  llvm::DenseMap<Value, std::string>& names;
  llvm::DenseMap<Value, int> size; // operations of the expression that stands for a value
  NameScope scope;
  int nameless = 0;
};
} // namespace

static StringRef userName(Location loc) {
  auto named = dyn_cast<NameLoc>(loc);
  return named ? named.getName().getValue() : StringRef();
}

void DenseNamer::nameArguments() {
  Block& block = system.stepBlock();
  unsigned next = 0;
  scope.reserve("lane");
  auto name = [&](StringRef wanted) { names[block.getArgument(next++)] = scope.unique(wanted); };
  auto slots = [&](ArrayAttr list, int64_t back) {
    for (auto slot : list.getAsRange<newton::SlotAttr>())
      name(slotName(slot, slot.getBack() + back));
  };
  for (Attribute dim : system.getBlockDims()) {
    StringRef text = cast<StringAttr>(dim).getValue();
    name(llvm::all_of(text, llvm::isDigit) ? "size" : text);
  }
  slots(system.getStates(), 1); // a step reads the states of the step before
  slots(system.getInputs(), 0);
  slots(system.getParams(), 0);
  slots(system.getStates(), 0);
  slots(system.getOutputs(), 0);
  while (next < block.getNumArguments()) {
    StringRef wanted = userName(block.getArgument(next).getLoc());
    name(wanted.empty() ? "t" : wanted);
  }
}

/// Names end with the loop, so that its neighbours can have them too. Recursion is as deep as loops
/// nest.
void DenseNamer::nameLoop(scf::ForOp loop, unsigned depth) {
  static constexpr StringRef kIndices = "ijklmn";
  for (auto [arg, result, next] :
       llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getYieldedValues())) {
    bool isChoice = isa_and_nonnull<arith::SelectOp>(next.getDefiningOp());
    std::string name = scope.unique(isChoice ? "extreme" : "sum");
    names[arg] = name;
    names[result] = name;
  }
  NameScope outside = scope;
  int before = nameless;
  names[loop.getInductionVar()] = scope.unique(kIndices.substr(depth % kIndices.size(), 1));
  nameBlock(*loop.getBody(), depth + 1);
  scope = std::move(outside);
  nameless = before;
}

void DenseNamer::nameBlock(Block& block, unsigned depth) {
  for (Operation& op : block.without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      nameLoop(loop, depth);
    else
      nameResult(&op);
  }
}

/// An expression may have a few operations, as in a scalar step. What is read gets a name at once:
/// the array may change before its use.
void DenseNamer::nameResult(Operation* op) {
  constexpr int kOperationsOfExpression = 6;
  if (op->getNumResults() != 1 || isa<arith::ConstantOp>(op))
    return;
  Value value = op->getResult(0);
  int count = 1;
  for (Value operand : op->getOperands())
    count += size.lookup(operand);
  bool inPlace = value.hasOneUse() && (*value.user_begin())->getBlock() == op->getBlock() &&
                 !isa<memref::LoadOp>(op) && count <= kOperationsOfExpression;
  if (inPlace) {
    size[value] = count;
    return;
  }
  StringRef wanted = isa<memref::LoadOp>(op) ? StringRef() : userName(op->getLoc());
  names[value] =
      scope.unique(wanted.empty() ? "v" + std::to_string(++nameless) : (wanted + "_at").str());
}

FailureOr<PreparedDense> rnnc::cuda::prepareDense(newton::DenseSystemOp system, NameScope& unit) {
  if (failed(checkPrintable(system)))
    return failure();
  PreparedDense prepared;
  prepared.arrays = system.arrayDims();
  prepared.reads = readsOf(cast<newton::CellOp>(system->getParentOp()), system.getInputs());
  size_t callers = prepared.arrays.size() - system.getTemporaries().size();
  for (size_t i = 0; i < callers; ++i)
    prepared.blockAxes = std::max<int64_t>(prepared.blockAxes, prepared.arrays[i].size());
  prepared.op = cast<newton::DenseSystemOp>(system->clone());
  newton::DenseSystemOp op = *prepared.op;
  IRRewriter rewriter(op.getContext());
  DominanceInfo dominance(op);
  eliminateCommonSubExpressions(rewriter, dominance, op);
  DenseNamer(op, prepared.names).run();
  prepared.name = unit.unique(op.getSymName());
  prepared.instance = unit.unique(prepared.name + "_cell");
  prepared.arguments = unit.unique(prepared.name + "_args");
  prepared.entry = unit.unique(prepared.name + "_forward");
  return prepared;
}

int64_t rnnc::cuda::denseArgumentBytes(PreparedDense& system) {
  newton::DenseSystemOp op = *system.op;
  auto some = [](int64_t n) { return std::max<int64_t>(n, 1); };
  int64_t rank = op.getLaneAxes().size(), element = 8 * some(system.blockAxes);
  auto slot = [&](int64_t axes) { return 8 + 8 * some(axes) + element; };
  int64_t states = op.getStates().size(), inputs = op.getInputs().size(),
          params = op.getParams().size(), outputs = op.getOutputs().size();
  return 8 * (2 + some(rank) + some(op.getBlockDims().size()) + 2) +
         some(states) * (2 * slot(1 + rank) + slot(2 + rank) + 8) + some(inputs) * slot(2 + rank) +
         some(params) * slot(rank) + some(outputs) * slot(2 + rank);
}
