//===- Hoisting.cpp - what can leave the recurrence ------------------------------------------===//
//
// Walks over the equations' order, none is recursive. What depends on no state can be computed
// before the solve, what no state depends on after it; what is cheap enough stays in the step.
//
//===----------------------------------------------------------------------------------------------===//

#include "Analysis/Hoisting.h"

#include "Analysis/Adjoint.h"

#include "llvm/ADT/SetOperations.h"

#include <optional>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

static ArrayRef<DimAttr> dimsOf(Value value) { return cast<ArrayType>(value.getType()).getDims(); }

int64_t rnnc::contractedSize(Operation* op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getOperand().getType().getDims()[reduce.getAxis()].getSize();
  auto matmul = dyn_cast<MatmulOp>(op);
  if (!matmul)
    return 1;
  ArrayRef<DimAttr> lhs = matmul.getLhs().getType().getDims();
  DimAttr rhs = matmul.getRhs().getType().getDims()[matmul.sharedAxes()];
  return lhs.back().isFree() ? rhs.getSize() : lhs.back().getSize();
}

/// A contraction that is better done for all steps at once.
static bool isDear(Operation* op) {
  int64_t size = contractedSize(op);
  return size == DimAttr::kFree || size > kFusedContraction;
}

/// More than a few operations a number: worth computing once a call where only params are in it.
static bool isFunction(Operation* op) {
  if (auto unary = dyn_cast<UnaryOp>(op))
    return !llvm::is_contained({UnaryKind::Neg, UnaryKind::Relu, UnaryKind::HardSigmoid,
                                UnaryKind::HardTanh, UnaryKind::Abs, UnaryKind::Sign,
                                UnaryKind::Floor},
                               unary.getKind());
  auto binary = dyn_cast<BinaryOp>(op);
  return binary && llvm::is_contained({BinaryKind::Pow, BinaryKind::Atan2}, binary.getKind());
}

Hoisting::Hoisting(CellOp cell) : cell(cell), step(cell.getStep().getBody().front()) {
  classify();
  moveContractionsBehind();
  moveOutputs();
  listArrays();
}

bool Hoisting::isLeaf(Value value) const {
  return isa<StateAtOp, InputAtOp, ParamValueOp, ConstantOp>(value.getDefiningOp());
}

/// Forward: what depends on a state, what on params alone and with which functions. Backward: what
/// a new state depends on.
void Hoisting::classify() {
  for (Operation& op : step) {
    if (auto set = dyn_cast<SetStateOp>(op)) {
      auto state = cast<StateOp>(SymbolTable::lookupSymbolIn(cell, set.getNameAttr()));
      if (state.getType() == set.getValue().getType() && onState.contains(set.getValue()))
        newState.try_emplace(set.getValue(), state);
    }
    if (op.getNumResults() == 0)
      continue;
    Value value = op.getResult(0);
    if (auto read = dyn_cast<StateAtOp>(op); read && read.getBack() == 0)
      newState.try_emplace(value,
                           cast<StateOp>(SymbolTable::lookupSymbolIn(cell, read.getNameAttr())));
    auto any = [&](const llvm::DenseSet<Value>& set) {
      return llvm::any_of(op.getOperands(), [&](Value operand) { return set.contains(operand); });
    };
    if (isa<StateAtOp>(op) || any(onState))
      onState.insert(value);
    else if (!isa<InputAtOp>(op) && llvm::all_of(op.getOperands(), [&](Value operand) {
               return ofParams.contains(operand);
             }))
      ofParams.insert(value);
    if (isFunction(&op) || any(functions))
      functions.insert(value);
  }
  for (Operation& op : llvm::reverse(step)) {
    bool feeds = isa<SetStateOp>(op) || (op.getNumResults() && feeding.contains(op.getResult(0)));
    if (feeds)
      feeding.insert(op.operand_begin(), op.operand_end());
  }
}

/// Everything that is computed from `op` follows it.
void Hoisting::markAfter(Operation* first) {
  SmallVector<Operation*> todo{first};
  while (!todo.empty()) {
    Operation* op = todo.pop_back_val();
    if (op->getNumResults() && after.insert(op->getResult(0)).second)
      llvm::append_range(todo, op->getUsers());
  }
}

/// What lets places of an axis meet: contractions, cuts and joints.
static bool mayCouple(Operation* op) { return isa<MatmulOp, ReduceOp, SliceOp, ConcatOp>(op); }

/// The axis that an op contracts, cuts or joins, of an operand that depends on a state.
static int64_t contractedLane(Operation* op, const LaneAxes& axes) {
  if (auto slice = dyn_cast<SliceOp>(op)) {
    ArrayRef<int64_t> lanes = axes.axesOf(slice.getOperand());
    return lanes.empty() ? 0 : lanes[slice.getAxis()];
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    int64_t lane = -1;
    for (Value part : concat.getOperands()) {
      bool isApart = axes.axesOf(part).empty(); // behind the solve already, or of no state
      lane = std::max(lane, isApart ? -1 : axes.axesOf(part)[concat.getAxis()]);
    }
    return lane;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    ArrayRef<int64_t> lanes = axes.axesOf(reduce.getOperand());
    return lanes.empty() ? 0 : lanes[reduce.getAxis()];
  }
  auto product = cast<MatmulOp>(op);
  ArrayRef<int64_t> left = axes.axesOf(product.getLhs()), right = axes.axesOf(product.getRhs());
  int64_t lane = left.empty() ? -1 : left.back();
  if (!right.empty())
    lane = std::max(lane, right[product.sharedAxes()]);
  return left.empty() && right.empty() ? 0 : lane;
}

/// Contractions that no state depends on: long products, and whatever runs over an axis that would
/// be a lane axis without it.
void Hoisting::moveContractionsBehind() {
  llvm::DenseSet<Operation*> apart; // contractions for outputs, and what is computed from them
  auto isForOutput = [&](Operation& op) {
    return op.getNumResults() && onState.contains(op.getResult(0)) &&
           !feeding.contains(op.getResult(0));
  };
  for (Operation& op : step)
    if (isForOutput(op) && (mayCouple(&op) || llvm::any_of(op.getOperands(), [&](Value operand) {
                              return apart.contains(operand.getDefiningOp());
                            })))
      apart.insert(&op);
  if (apart.empty())
    return;
  LaneAxes axes(cell, [&](Operation* op) { return apart.contains(op); });
  for (Operation& op : step) // a block is at hand in the step: reducing it there costs no array
    if (apart.contains(&op) && mayCouple(&op) &&
        ((isa<MatmulOp>(op) && isDear(&op)) || contractedLane(&op, axes) >= 0))
      markAfter(&op);
}

/// A block whose size the caller binds: its outputs may have any axis.
static bool hasFreeBlock(const StateGroup& group) {
  return llvm::any_of(group.couplings, [](const StateGroup::Coupling& coupling) {
    return cast<ArrayType>(StateOp(coupling.state).getType()).getDims()[coupling.axis].isFree();
  });
}

/// Numbers along the axes that are no lane axes; -1 where the caller binds one of their sizes.
static int64_t blockSize(ArrayRef<DimAttr> dims, ArrayRef<int64_t> lanes) {
  int64_t numbers = 1;
  for (auto [dim, lane] : llvm::zip(dims, lanes)) {
    if (lane < 0 && dim.isFree())
      return -1;
    numbers *= lane < 0 ? dim.getSize() : 1;
  }
  return numbers;
}

int64_t rnnc::statesOf(const StateGroup& group) {
  int64_t count = 0;
  for (StateOp state : group.states) {
    int64_t own = blockSize(cast<ArrayType>(state.getType()).getDims(), group.axes.lookup(state));
    if (own < 0)
      return -1;
    count += own;
  }
  return count;
}

/// Sums over all steps that a step keeps for itself a lane, at most: a matrix of more is a product
/// of two sequences, better done for all steps at once.
static constexpr int64_t kMostSums = 64;

/// Whether a step should not sum up `output`: it would keep too many numbers, or its states are so
/// many that it is made of loops.
static bool isBehind(OutputOp output, const StateGroup& group, ArrayRef<int64_t> lanes) {
  int64_t states = statesOf(group);
  int64_t numbers = blockSize(cast<ArrayType>(output.getType()).getDims(), lanes);
  return isSummed(output) &&
         (states < 0 || states > kUnrolledStates || numbers < 0 || numbers > kMostSums);
}

/// Whether both sides of the op are repeated along axes of the other one, as in outer(a, b).
static bool isOuter(Operation* op) {
  auto binary = dyn_cast<BinaryOp>(op);
  auto isStretched = [&](Value side) {
    ArrayRef<DimAttr> own = dimsOf(side), all = dimsOf(op->getResult(0));
    return own.size() < all.size() ||
           llvm::any_of(
               llvm::zip(own, all),
               [](auto pair) { return std::get<0>(pair).isOne() && !std::get<1>(pair).isOne(); });
  };
  return binary && isStretched(binary.getLhs()) && isStretched(binary.getRhs());
}

/// What an output behind the solve is made of, from it up to the states: where `moves` says so a
/// value is behind the solve too from then on. Unless it looks `everywhere` it stops at what stays
/// in the step.
void Hoisting::moveWithin(Value output, bool everywhere,
                          llvm::function_ref<bool(Operation*)> moves) {
  SmallVector<Value> todo{output};
  llvm::DenseSet<Value> seen;
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    if (!onState.contains(next) || feeding.contains(next) || isLeaf(next) ||
        !seen.insert(next).second)
      continue;
    Operation* op = next.getDefiningOp();
    if (!after.contains(next) && moves(op))
      markAfter(op);
    if (everywhere || after.contains(next))
      llvm::append_range(todo, op->getOperands());
  }
}

/// Without what is behind the solve.
LaneAxes Hoisting::axesOfStep() const {
  return LaneAxes(
      cell, [&](Operation* op) { return op->getNumResults() && after.contains(op->getResult(0)); });
}

/// Whether a value has an axis of free size that is no lane axis.
static bool isWide(Value value, const LaneAxes& axes) {
  return llvm::any_of(llvm::zip(dimsOf(value), axes.axesOf(value)), [](auto pair) {
    return std::get<0>(pair).isFree() && std::get<1>(pair) < 0;
  });
}

/// Outputs that their group cannot compute lane by lane.
void Hoisting::moveOutputs() {
  LaneAxes axes = axesOfStep();
  auto groupOf = [&](OutputOp output) -> const StateGroup* {
    for (const StateGroup& group : axes.groups())
      if (llvm::is_contained(group.outputs, output))
        return &group;
    return nullptr;
  };
  for (auto set : step.getOps<SetOutputOp>()) {
    auto output = dyn_cast<OutputOp>(SymbolTable::lookupSymbolIn(cell, set.getNameAttr()));
    if (!output)
      continue;
    Value value = set.getValue();
    const StateGroup* group = groupOf(output);
    SmallVector<int64_t> lanes;
    if (!after.contains(value) && group &&
        axes.place(output.getType(), value, *group, hasFreeBlock(*group), lanes) &&
        !isBehind(output, *group, lanes))
      continue;
    if (!onState.contains(value)) {
      outputs_.insert({set, Phase::Before});
      continue;
    }
    outputs_.insert({set, Phase::After});
    // Of a sum, the products that make it larger than what they are made of, and that themselves.
    moveWithin(value, /*everywhere=*/isSummed(output), [&](Operation* op) {
      auto isPart = [](Operation* user) { return isOuter(user); };
      return isSummed(output) &&
             (isOuter(op) || (isMovement(op) && llvm::all_of(op->getUsers(), isPart)));
    });
    // What runs over an axis that the states lack is computed behind them, from what does not.
    moveWithin(value, /*everywhere=*/false, [&](Operation* op) {
      return group && !hasFreeBlock(*group) && isWide(op->getResult(0), axes);
    });
  }
}

/// A term that is added to a product at once may start its sums: it has the last axes of the
/// result, and these are not the rows of the sequence.
Value Hoisting::biasedSum(ProductForm& form, Operation* product) const {
  Value result = product->getResult(0);
  if (!result.hasOneUse())
    return result;
  auto sum = dyn_cast<BinaryOp>(*result.getUsers().begin());
  if (!sum || sum.getKind() != BinaryKind::Add || sum.getType() != result.getType())
    return result;
  Value bias = sum.getLhs() == result ? sum.getRhs() : sum.getLhs();
  if (!ofParams.contains(bias) || isa<ConstantOp>(bias.getDefiningOp()))
    return result;
  ArrayRef<DimAttr> own = dimsOf(bias), all = dimsOf(result);
  bool matrix = !cast<MatmulOp>(product).isVector();
  bool hasRows = form.sequenceOnTheLeft || matrix;
  if (own.empty() || (hasRows && (own.size() > 1 || !form.sequenceOnTheLeft || !matrix)) ||
      !llvm::equal(own, all.take_back(own.size())))
    return result;
  form.bias = bias;
  form.sum = sum;
  return sum;
}

ProductForm Hoisting::productForm(Operation* op) const {
  ProductForm form;
  auto product = dyn_cast<MatmulOp>(op);
  if (!product)
    return form;
  Value left = product.getLhs(), right = product.getRhs();
  if (ofParams.contains(left))
    return {right, left, false, Value(), BinaryOp()};
  if (ofParams.contains(right))
    return {left, right, true, Value(), BinaryOp()};
  return form;
}

/// What becomes of a reduction without growing: `sqrt(sum(x * x))` is as small as the sum. The one
/// value that everything else reads, the reduction itself where there are several.
Value Hoisting::reducedEnd(Operation* reduction) const {
  Value sum = reduction->getResult(0);
  llvm::SetVector<Value> small;
  small.insert(sum);
  for (Operation* op = reduction->getNextNode(); op; op = op->getNextNode()) {
    if (op->getNumResults() == 0 || isa<MatmulOp, ReduceOp>(op))
      continue;
    Value value = op->getResult(0);
    bool reads = llvm::any_of(op->getOperands(), [&](Value v) { return small.contains(v); });
    if (reads && onState.contains(value) == onState.contains(sum) &&
        ofParams.contains(value) == ofParams.contains(sum) && dimsOf(value) == dimsOf(sum))
      small.insert(value);
  }
  Value end;
  for (Value value : small)
    for (Operation* user : value.getUsers())
      if (user->getNumResults() == 0 || !small.contains(user->getResult(0))) {
        if (end && end != value)
          return sum;
        end = value;
      }
  return end && !cast<ArrayType>(end.getType()).isBool() ? end : sum;
}

void Hoisting::need(Value value, Phase phase, ProductForm product) {
  arrays_.insert({value, {phase, false, product}});
}

Phase Hoisting::phaseOf(Value value) const {
  return ofParams.contains(value)  ? Phase::Call
         : onState.contains(value) ? Phase::After
                                   : Phase::Before;
}

/// What a product multiplies is an array: the caller's, or one of its own.
void Hoisting::addOperand(Value value) {
  if (!isLeaf(value) && !newState.contains(value) && !arrays_.count(value))
    need(value, phaseOf(value));
}

void Hoisting::addContraction(Operation* op) {
  Value value = op->getResult(0);
  Phase phase = phaseOf(value);
  ProductForm form = productForm(op);
  if (form.sequence) {
    value = biasedSum(form, op);
    for (Value operand : {form.sequence, form.weight, form.bias})
      if (operand)
        addOperand(operand);
  }
  need(form.sequence ? value : reducedEnd(op), phase, form);
}

/// What sums, products and truth values are made of: the functions in a value of params.
llvm::DenseSet<Value> Hoisting::functionsIn(Value value) const {
  llvm::DenseSet<Value> found, seen;
  SmallVector<Value> todo{value};
  while (!todo.empty()) {
    Value next = todo.pop_back_val();
    if (!functions.contains(next) || !seen.insert(next).second)
      continue;
    auto unary = next.getDefiningOp<UnaryOp>();
    auto binary = next.getDefiningOp<BinaryOp>();
    if (cast<ArrayType>(next.getType()).isBool() || (unary && unary.getKind() == UnaryKind::Neg) ||
        (binary &&
         llvm::is_contained({BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul}, binary.getKind())))
      llvm::append_range(todo, next.getDefiningOp()->getOperands());
    else
      found.insert(next);
  }
  return found;
}

/// The largest parts that are of params alone, where they hold a function. Of two that are made of
/// the same functions, or one of some of the other's, the functions alone: `-a`, `1 - a` and `a` in
/// the recurrence show what they have in common, three arrays would not. Nor are truth values
/// arrays.
llvm::DenseSet<Value> Hoisting::onceACall() const {
  SmallVector<std::pair<Value, llvm::DenseSet<Value>>> parts;
  for (Operation& op : step)
    if (op.getNumResults() && ofParams.contains(op.getResult(0)) &&
        functions.contains(op.getResult(0)) && llvm::any_of(op.getUsers(), [&](Operation* user) {
          return user->getNumResults() == 0 || !ofParams.contains(user->getResult(0));
        }))
      parts.push_back({op.getResult(0), functionsIn(op.getResult(0))});
  llvm::DenseSet<Value> once;
  for (auto& [value, own] : parts) {
    bool isAlone = !cast<ArrayType>(value.getType()).isBool() &&
                   llvm::none_of(parts, [&, &value = value, &own = own](auto& other) {
                     return other.first != value && (llvm::set_is_subset(own, other.second) ||
                                                     llvm::set_is_subset(other.second, own));
                   });
    if (isAlone)
      once.insert(value);
    else
      once.insert(own.begin(), own.end());
  }
  return once;
}

void Hoisting::listArrays() {
  llvm::DenseSet<Value> once = onceACall();
  for (Operation& op : step) {
    if (op.getNumResults() == 0)
      continue;
    Value value = op.getResult(0);
    bool movable = !onState.contains(value) || after.contains(value);
    if (movable && isa<MatmulOp, ReduceOp>(op) && isDear(&op) && !op.use_empty())
      addContraction(&op);
    if (once.contains(value) && !arrays_.count(value))
      need(value, Phase::Call);
  }
  // What stages behind the step read of it, unless a state holds it.
  auto isOfStep = [&](Value value) {
    return onState.contains(value) && !after.contains(value) && !newState.contains(value);
  };
  // Truth values, and what runs over an axis that the states lack, have no array: what they are
  // made of has.
  SmallVector<Value> read;
  for (Operation& op : step)
    if (op.getNumResults() ? after.contains(op.getResult(0)) : outputs_.count(&op) > 0)
      llvm::append_range(read, op.getOperands());
  std::optional<LaneAxes> axes; // most cells need none
  if (llvm::any_of(read, isOfStep))
    axes = axesOfStep();
  bool anyAxis = axes && llvm::any_of(axes->groups(), hasFreeBlock);
  while (!read.empty()) {
    Value value = read.pop_back_val();
    if (!isOfStep(value) || arrays_.count(value))
      continue;
    if (cast<ArrayType>(value.getType()).isBool() || (!anyAxis && isWide(value, *axes)))
      llvm::append_range(read, value.getDefiningOp()->getOperands());
    else
      need(value, Phase::After);
  }
  for (auto& [value, array] : arrays_)
    array.byStep = isOfStep(value);
  // In the order of the equations: what becomes of a reduction may read another one's array.
  auto ordered = arrays_.takeVector();
  llvm::sort(ordered, [](const auto& a, const auto& b) {
    return a.first.getDefiningOp()->isBeforeInBlock(b.first.getDefiningOp());
  });
  for (auto& entry : ordered)
    arrays_.insert(std::move(entry));
}
