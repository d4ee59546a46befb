//===- DeriveDiagonal.cpp - the diagonal of a dense system, element by element ---------------===//
//
// For each state loops over its block; in them the tangent of the new state's element along the old
// one's. An element of an array that the step stores is differentiated where it is stored, with the
// indices that are wanted in place of the loops' own. Any diagonal solves to the same answer, so
// what is not seen through counts as constant: at worst a solve takes more sweeps.
//
//===----------------------------------------------------------------------------------------------===//

#include "Newton/Derivatives.h"
#include "Transforms/Passes.h"
#include "Transforms/Simplify.h"

#include "mlir/IR/IRMapping.h"

#include <map>

namespace rnnc {
#define GEN_PASS_DEF_DERIVEDIAGONAL
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;

namespace {

/// Arrays that depend on one another in a row; what comes through more of them is left out.
constexpr int kMostArrays = 64;
/// Operations that are differentiated for one state; what would need more is left out.
constexpr int64_t kMostOperations = 100000;

using Operations = llvm::DenseSet<Operation*>;

/// The numbers of a nest at wanted indices, and their tangents; no tangent: zero.
struct Dual {
  const Operations* needed = nullptr; // of the nest; the others are passed over
  IRMapping value;
  llvm::DenseMap<Value, Value> tangent; // by the step's own values
};

class DiagonalBuilder {
public:
  explicit DiagonalBuilder(newton::DenseSystemOp system)
      : system(system), b(system.getContext()), dims(system.arrayDims()) {}

  LogicalResult build();

private:
  void addArguments();
  void findStores();
  void buildState(unsigned state);
  Value alongArray(Value array, ArrayRef<Value> indices);
  Value alongStore(memref::StoreOp store, ArrayRef<Value> indices);
  void visit(Operation& op, Dual& dual);
  void visitLoad(memref::LoadOp load, Dual& dual);
  void visitLoop(scf::ForOp loop, Dual& dual);
  Value alongTerm(scf::ForOp loop, unsigned result, Value index, const Dual& outside);
  Value ownIndex(scf::ForOp loop);
  std::optional<int64_t> dimOf(scf::ForOp loop);
  ArrayRef<int64_t> dimsOf(Value array) {
    return dims[cast<BlockArgument>(array).getArgNumber() - sizes()];
  }
  size_t sizes() { return system.getBlockDims().size(); }

  newton::DenseSystemOp system;
  OpBuilder b;
  SmallVector<SmallVector<int64_t>> dims;
  llvm::DenseMap<Value, memref::StoreOp> stores; // of an array of the step, at indices of its own
  IRMapping arguments;                           // the step's to the diagonal's
  Value state;                                   // of the step: what is differentiated by
  SmallVector<Value> place;                      // its element
  int depth = 0;
  int64_t operations = 0;
  Block* innermost =
      nullptr; // of the loops over the state: what is known there is known everywhere
  std::map<std::pair<void*, std::vector<void*>>, Value> known; // tangents of arrays' elements
};

} // namespace

void DiagonalBuilder::addArguments() {
  Block &step = system.stepBlock(), &block = system.getDiagonal().emplaceBlock();
  for (BlockArgument argument : step.getArguments())
    arguments.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
  for (size_t i = 0; i < system.getStates().size(); ++i) {
    BlockArgument state = step.getArgument(sizes() + i);
    block.addArgument(state.getType(), state.getLoc());
  }
  b.setInsertionPointToEnd(&block);
}

/// A product is stored by several nests; the one that stores at its loops' own indices computes any
/// element.
void DiagonalBuilder::findStores() {
  system.getStep().walk([&](memref::StoreOp store) {
    llvm::SmallPtrSet<Value, 4> seen;
    if (llvm::all_of(store.getIndices(), [&](Value index) {
          auto argument = dyn_cast<BlockArgument>(index);
          auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : nullptr;
          return loop && loop.getInductionVar() == index && seen.insert(index).second;
        }))
      stores[store.getMemRef()] = store;
  });
}

/// The block dim that a loop runs over, by the first array that it indexes.
std::optional<int64_t> DiagonalBuilder::dimOf(scf::ForOp loop) {
  for (Operation* user : loop.getInductionVar().getUsers())
    if (auto load = dyn_cast<memref::LoadOp>(user))
      for (auto [axis, index] : llvm::enumerate(load.getIndices()))
        if (index == loop.getInductionVar())
          return dimsOf(load.getMemRef())[axis];
  return std::nullopt;
}

/// Where a loop passes the state's own element; null where its dim is none of the state's.
Value DiagonalBuilder::ownIndex(scf::ForOp loop) {
  std::optional<int64_t> dim = dimOf(loop);
  if (!dim)
    return {};
  const auto* own = llvm::find(dimsOf(state), *dim);
  return own == dimsOf(state).end() ? Value() : place[own - dimsOf(state).begin()];
}

void DiagonalBuilder::visitLoad(memref::LoadOp load, Dual& dual) {
  b.clone(*load, dual.value);
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(dual.value.lookup(index));
  if (Value tangent = alongArray(load.getMemRef(), indices))
    dual.tangent[load.getResult()] = tangent;
}

/// The tangent of what a loop adds to its result in the iteration `index`. The accumulators count
/// as constants: right for sums, and the loop's end is as good a number of them as any.
Value DiagonalBuilder::alongTerm(scf::ForOp loop, unsigned result, Value index,
                                 const Dual& outside) {
  Dual inside = outside;
  inside.value.map(loop.getInductionVar(), index);
  for (auto [accumulator, end] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
    inside.value.map(accumulator, outside.value.lookup(end));
  for (Operation& op : loop.getBody()->without_terminator())
    visit(op, inside);
  return inside.tangent.lookup(loop.getYieldedValues()[result]);
}

/// A sum over the state's own axis keeps the term of the state's own element; one over another axis
/// keeps all terms.
void DiagonalBuilder::visitLoop(scf::ForOp loop, Dual& dual) {
  if (loop.getNumResults() == 0)
    return; // its stores are seen through where they are read
  b.clone(*loop, dual.value);
  Value own = ownIndex(loop);
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    auto isNeeded = [&](Operation* user) { return dual.needed->contains(user); };
    if (llvm::none_of(result.getUsers(), isNeeded))
      continue;
    Value tangent;
    if (own) {
      tangent = alongTerm(loop, i, own, dual);
    } else {
      OpBuilder::InsertionGuard guard(b);
      auto type = cast<FloatType>(result.getType());
      Value zero = arith::ConstantOp::create(b, loop.getLoc(), b.getFloatAttr(type, 0));
      auto sum = scf::ForOp::create(b, loop.getLoc(), dual.value.lookup(loop.getLowerBound()),
                                    dual.value.lookup(loop.getUpperBound()),
                                    dual.value.lookup(loop.getStep()), zero);
      b.setInsertionPointToStart(sum.getBody());
      Value term = alongTerm(loop, i, sum.getInductionVar(), dual), total = sum.getRegionIterArg(0);
      if (term) {
        total = arith::AddFOp::create(b, loop.getLoc(), total, term);
        tangent = sum.getResult(0);
      }
      scf::YieldOp::create(b, loop.getLoc(), total); // nothing reads a sum of no terms
    }
    if (tangent)
      dual.tangent[result] = tangent;
  }
}

/// The op at the indices wanted, and its tangents. Recursion is as deep as loops nest.
void DiagonalBuilder::visit(Operation& op, Dual& dual) {
  ++operations;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop, dual);
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return visitLoad(load, dual);
  b.clone(op, dual.value);
  SmallVector<Value> tangents;
  for (Value operand : op.getOperands())
    tangents.push_back(dual.tangent.lookup(operand));
  auto derivable = dyn_cast<newton::DerivativeOpInterface>(op);
  if (!derivable || llvm::none_of(tangents, [](Value v) { return static_cast<bool>(v); }))
    return;
  // The rules take operands from the op they differentiate, so the copy is asked.
  auto copy =
      cast<newton::DerivativeOpInterface>(dual.value.lookup(op.getResult(0)).getDefiningOp());
  if (Value tangent = copy.tangent(b, tangents))
    dual.tangent[op.getResult(0)] = tangent;
}

/// What a store's value is computed from: its operations and those around its loops.
static Operations neededFor(memref::StoreOp store) {
  Operations needed{store};
  SmallVector<Value> todo{store.getValueToStore()};
  while (!todo.empty()) {
    Operation* op = todo.pop_back_val().getDefiningOp();
    if (!op || !needed.insert(op).second)
      continue;
    op->walk([&](Operation* inner) { // of a loop all of it
      needed.insert(inner);
      llvm::append_range(todo, inner->getOperands());
    });
  }
  return needed;
}

/// The tangent of an array's element along the state's; null where it is zero or not seen.
Value DiagonalBuilder::alongArray(Value array, ArrayRef<Value> indices) {
  if (array == state)
    return indices == ArrayRef<Value>(place)
               ? Value(arith::ConstantOp::create(b, array.getLoc(),
                                                 b.getFloatAttr(system.getCompute(), 1)))
               : Value();
  memref::StoreOp store = stores.lookup(array);
  if (!store || depth == kMostArrays || operations > kMostOperations)
    return {};
  std::pair<void*, std::vector<void*>> key{array.getAsOpaquePointer(), {}};
  for (Value index : indices)
    key.second.push_back(index.getAsOpaquePointer());
  if (auto found = known.find(key); found != known.end())
    return found->second;
  ++depth;
  Value tangent = alongStore(store, indices);
  --depth;
  if (b.getInsertionBlock() == innermost)
    known[key] = tangent;
  return tangent;
}

/// The same from where the array is stored.
Value DiagonalBuilder::alongStore(memref::StoreOp store, ArrayRef<Value> indices) {
  Operations needed = neededFor(store);
  Dual dual;
  dual.needed = &needed;
  dual.value = arguments;
  SmallVector<Block*> nest; // the store's block and those around it, outermost first
  for (Block* block = store->getBlock(); block; block = block->getParentOp()->getBlock()) {
    nest.insert(nest.begin(), block);
    if (block == &system.stepBlock())
      break;
  }
  for (auto [index, wanted] : llvm::zip(store.getIndices(), indices))
    dual.value.map(index, wanted);
  for (auto [i, block] : llvm::enumerate(nest)) {
    Operation* until = i + 1 < nest.size() ? nest[i + 1]->getParentOp() : store.getOperation();
    for (Operation& op : llvm::make_range(block->begin(), until->getIterator()))
      if (needed.contains(&op))
        visit(op, dual);
  }
  return dual.tangent.lookup(store.getValueToStore());
}

void DiagonalBuilder::buildState(unsigned number) {
  OpBuilder::InsertionGuard guard(b);
  Block &step = system.stepBlock(), &block = system.getDiagonal().front();
  Location loc = system.getLoc();
  state = step.getArgument(sizes() + number);
  size_t callers =
      sizes() + system.getStates().size() + system.getInputs().size() + system.getParams().size();
  Value next = step.getArgument(callers + number);
  Value into = block.getArgument(step.getNumArguments() + number);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  place.clear();
  known.clear();
  operations = 0;
  for (int64_t dim : dimsOf(state)) {
    auto loop = scf::ForOp::create(b, loc, zero, block.getArgument(dim), one);
    place.push_back(loop.getInductionVar());
    b.setInsertionPoint(loop.getBody()->getTerminator());
  }
  innermost = b.getInsertionBlock();
  Value tangent = alongArray(next, place);
  if (!tangent)
    tangent = arith::ConstantOp::create(b, loc, b.getFloatAttr(system.getCompute(), 0));
  memref::StoreOp::create(b, loc, tangent, into, place);
}

LogicalResult DiagonalBuilder::build() {
  addArguments();
  findStores();
  for (size_t i = 0; i < system.getStates().size(); ++i)
    buildState(i);
  newton::YieldOp::create(b, system.getLoc(), ValueRange());
  return simplifyRegion(system, system.getDiagonal());
}

namespace {
struct DeriveDiagonal : rnnc::impl::DeriveDiagonalBase<DeriveDiagonal> {
  void runOnOperation() override {
    for (auto system : getOperation().ops<newton::DenseSystemOp>())
      if (!system.getPhase() && !system.hasDiagonal() && failed(DiagonalBuilder(system).build()))
        return signalPassFailure();
  }
};
} // namespace
