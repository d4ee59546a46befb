//===- EmitKernel.cpp - a system's step as a vector kernel -----------------------------------===//

#include "Target/Cpu/EmitKernel.h"

#include "Target/Cpu/KernelParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include <map>

using namespace mlir;
using namespace rnnc;

namespace {

/// Values by part of the width.
using Parts = SmallVector<SmallVector<Value>>;

class KernelEmitter : KernelParts {
public:
  KernelEmitter(newton::SystemOp system, StringRef name, KernelShape shape)
      : KernelParts(system.getLoc(), system.getCompute(), shape), system(system), name(name),
        carries(shape.jacobian ? system.getStructure()->numCarry() : 0),
        carried(system.numStates() + carries + 1 + system.numSums()) {}

  OwningOpRef<ModuleOp> emit();

private:
  Parts inlineBlock(Block& block, ArrayRef<SmallVector<Value>> arguments, size_t firstPart = 0);
  void solve(newton::ImplicitOp op, IRMapping& mapping, size_t part);
  SmallVector<Value> trial(newton::ImplicitOp op, ValueRange before, ValueRange given);
  Value isAny(Value where);
  void noteUnsolved(Value where, size_t part);
  SmallVector<Value> multiply(ArrayRef<Value> values, ValueRange carry);
  SmallVector<Value> readOnce();
  SmallVector<Value> emitStep(Value step, ValueRange before);
  void storeEnd(ValueRange end);

  newton::SystemOp system;
  StringRef name;
  int64_t carries; // numbers of the carry; 0 without the Jacobian
  int64_t carried; // what the loop carries, of each part: states, carry, finite, sums

  SmallVector<Value> inputBase, inputStride, outputBase, outputStride;
  Parts params;
  Value unsolved; // where the first unsolved step of each column goes; null: no implicit step
  Value step;     // that is being emitted
  /// Of the step that is being emitted: by the number of an implicit op and the part.
  std::map<std::pair<int64_t, size_t>, SmallVector<Value>> solutions;
};

} // namespace

/// The scalar ops of a region, on vectors; of every op all parts next to each other, so that they
/// hide each other's latency.
Parts KernelEmitter::inlineBlock(Block& block, ArrayRef<SmallVector<Value>> arguments,
                                 size_t firstPart) {
  SmallVector<IRMapping> mappings(arguments.size());
  for (auto [mapping, values] : llvm::zip_equal(mappings, arguments))
    mapping.map(block.getArguments(), values);
  for (Operation& op : block.without_terminator())
    for (auto [part, mapping] : llvm::enumerate(mappings)) {
      if (auto implicit = dyn_cast<newton::ImplicitOp>(op))
        solve(implicit, mapping, firstPart + part);
      else
        widen(op, mapping);
    }
  Parts results;
  for (IRMapping& mapping : mappings) {
    SmallVector<Value>& values = results.emplace_back();
    for (Value value : block.getTerminator()->getOperands())
      values.push_back(mapping.lookup(value));
  }
  return results;
}

/// The search of an implicit step: trials until every column has its verdict. A column is left
/// alone from then on, so that its neighbours cannot change it. The Jacobian takes what the step
/// found.
void KernelEmitter::solve(newton::ImplicitOp op, IRMapping& mapping, size_t part) {
  SmallVector<Value>& found = solutions[{op.getNumber(), part}];
  if (!found.empty())
    return mapping.map(op.getSolutions(), found);
  SmallVector<Value> given, start;
  for (Value value : op.getCaptures())
    given.push_back(mapping.lookup(value));
  for (Value value : op.getStarts())
    start.push_back(mapping.lookup(value));
  for (double number : op.searchStart())
    start.push_back(splat(number));
  start.push_back(splat(0));
  auto integer = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n));
  };
  Value none = splat(0), most = integer(newton::ImplicitOp::kMaxTrials), one = integer(1);
  start.push_back(integer(0));
  auto isOpen = [&](Value verdict) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, verdict, none);
  };
  auto before = [&](OpBuilder& inner, Location, ValueRange all) {
    OpBuilder::InsertionGuard guard(b);
    b = inner;
    Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, all.back(), most);
    Value goesOn = arith::AndIOp::create(b, loc, isAny(isOpen(all.drop_back().back())), more);
    scf::ConditionOp::create(b, loc, goesOn, all);
  };
  auto after = [&](OpBuilder& inner, Location, ValueRange all) {
    OpBuilder::InsertionGuard guard(b);
    b = inner;
    Value open = isOpen(all.drop_back().back());
    SmallVector<Value> next = trial(op, all.take_front(op.numCarried()), given);
    for (auto [value, old] : llvm::zip_equal(next, all.drop_back()))
      value = arith::SelectOp::create(b, loc, open, value, old);
    next.push_back(arith::AddIOp::create(b, loc, all.back(), one));
    scf::YieldOp::create(b, loc, next);
  };
  auto loop = scf::WhileOp::create(b, loc, ValueRange(start).getTypes(), start, before, after);
  ValueRange end = loop.getResults();
  llvm::append_range(found, end.take_front(op.numUnknowns()));
  mapping.map(op.getSolutions(), found);
  noteUnsolved(
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, end.drop_back().back(), splat(1)),
      part);
}

SmallVector<Value> KernelEmitter::trial(newton::ImplicitOp op, ValueRange before,
                                        ValueRange given) {
  IRMapping mapping;
  Block& block = op.trialBlock();
  mapping.map(block.getArguments().take_front(before.size()), before);
  mapping.map(block.getArguments().drop_front(before.size()), given);
  for (Operation& inner : block.without_terminator())
    widen(inner, mapping);
  SmallVector<Value> next;
  for (Value value : block.getTerminator()->getOperands())
    next.push_back(mapping.lookup(value));
  return next;
}

Value KernelEmitter::isAny(Value where) {
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, where);
}

/// Keeps the first step of each column. Rare, so that memory is the place for it.
void KernelEmitter::noteUnsolved(Value where, size_t part) {
  auto then = [&](OpBuilder& inner, Location) {
    OpBuilder::InsertionGuard guard(b);
    b = inner;
    auto type = VectorType::get({shape.part}, b.getI64Type());
    auto splatInteger = [&](int64_t n) {
      return arith::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, n)).getResult();
    };
    Value place = at(unsolved, part * shape.part, b.getI64Type());
    Value old = LLVM::LoadOp::create(b, loc, type, place, 8);
    Value isNew = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, old, splatInteger(0));
    Value now = vector::BroadcastOp::create(b, loc, type, step);
    Value first =
        arith::SelectOp::create(b, loc, arith::AndIOp::create(b, loc, where, isNew), now, old);
    LLVM::StoreOp::create(b, loc, first, place, 8);
    scf::YieldOp::create(b, loc);
  };
  scf::IfOp::create(b, loc, isAny(where), then);
}

/// J times the carry: of the numbers of the carry, each computed once, wherever it stands.
SmallVector<Value> KernelEmitter::multiply(ArrayRef<Value> values, ValueRange carry) {
  SmallVector<Value> product;
  for (const auto& terms : system.getStructure()->product()) {
    Value sum;
    for (auto [value, number, times] : terms) {
      Value factor = values[value];
      if (times == -1)
        factor = arith::NegFOp::create(b, loc, factor);
      else if (times != 1)
        factor = arith::MulFOp::create(b, loc, splat(static_cast<double>(times)), factor);
      sum = sum ? multiplyAdd(factor, carry[number], sum)
                : Value(arith::MulFOp::create(b, loc, factor, carry[number]));
    }
    product.push_back(sum ? sum : splat(0));
  }
  return product;
}

/// Whatever does not change from step to step is read once. Returns what the loop carries into the
/// first step, part by part.
SmallVector<Value> KernelEmitter::readOnce() {
  Value inputPointers = field(kInputs, pointer), inputStrides = field(kInputStrides, pointer),
        outputPointers = field(kOutputs, pointer), outputStrides = field(kOutputStrides, pointer);
  for (int64_t i = 0; i < system.numInputs(); ++i) {
    inputBase.push_back(load(at(inputPointers, i, pointer), pointer));
    inputStride.push_back(load(at(inputStrides, i, b.getI64Type()), b.getI64Type()));
  }
  for (int64_t i = 0; i < system.numStates() + system.numOutputs(); ++i) {
    outputBase.push_back(load(at(outputPointers, i, pointer), pointer));
    outputStride.push_back(load(at(outputStrides, i, b.getI64Type()), b.getI64Type()));
  }
  if (system.hasImplicit()) {
    unsolved = field(kUnsolved, pointer);
    auto type = VectorType::get({shape.width}, b.getI64Type());
    LLVM::StoreOp::create(
        b, loc, arith::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, int64_t(-1))),
        unsolved, 8);
  }
  Value paramBase = field(kParams, pointer), stateBase = field(kState, pointer);
  SmallVector<Value> start;
  params.resize(shape.width / shape.part);
  for (auto [part, values] : llvm::enumerate(params)) {
    int64_t column = part * shape.part;
    for (int64_t i = 0; i < system.numParams(); ++i)
      values.push_back(load(at(paramBase, i * shape.width + column, scalar), vector));
    for (int64_t i = 0; i < system.numStates(); ++i)
      start.push_back(load(at(stateBase, i * shape.width + column, scalar), vector));
    if (shape.jacobian)
      for (bool one : system.getStructure()->identity())
        start.push_back(splat(one ? 1 : 0));
    start.append(1 + system.numSums(), splat(0));
  }
  return start;
}

/// One step: from what the loop carries in to what it carries on.
SmallVector<Value> KernelEmitter::emitStep(Value index, ValueRange before) {
  step = index;
  int64_t k = system.numStates();
  auto placeOf = [&](Value base, Value stride, size_t part) {
    Value row = at(base, arith::MulIOp::create(b, loc, step, stride), scalar);
    return at(row, part * shape.part, scalar);
  };
  Parts arguments(params.size());
  for (auto [part, values] : llvm::enumerate(arguments)) {
    llvm::append_range(values, before.slice(part * carried, k));
    for (auto [base, stride] : llvm::zip_equal(inputBase, inputStride))
      values.push_back(load(placeOf(base, stride, part), vector));
    llvm::append_range(values, params[part]);
  }
  Parts results = inlineBlock(system.stepBlock(), arguments);
  SmallVector<Value> next;
  Value nothing = splat(0);
  for (auto [part, values] : llvm::enumerate(results)) {
    ArrayRef<Value> sums = ArrayRef(values).take_back(system.numSums());
    for (auto [value, base, stride] :
         llvm::zip_equal(ArrayRef(values).drop_back(sums.size()), outputBase, outputStride))
      store(value, placeOf(base, stride, part));
    ArrayRef<Value> states = ArrayRef(values).take_front(k);
    llvm::append_range(next, states);
    if (shape.jacobian) {
      Parts jacobian =
          inlineBlock(system.getJacobian().front(), ArrayRef(arguments).slice(part, 1), part);
      ValueRange carry = before.slice(part * carried + k, carries);
      llvm::append_range(next, multiply(jacobian.front(), carry));
    }
    // 0 * s is 0, or NaN where s is not finite; it never touches the states.
    ValueRange own = before.slice(part * carried, carried);
    Value finite = own[k + carries];
    for (Value state : states)
      finite = multiplyAdd(state, nothing, finite);
    next.push_back(finite);
    for (auto [value, sum] : llvm::zip_equal(sums, own.take_back(sums.size())))
      next.push_back(arith::AddFOp::create(b, loc, sum, value));
  }
  return next;
}

void KernelEmitter::storeEnd(ValueRange end) {
  int64_t k = system.numStates(), sums = system.numSums();
  Value stateBase = field(kState, pointer), finiteBase = field(kFinite, pointer);
  Value carryBase = shape.jacobian ? field(kCarry, pointer) : Value();
  Value sumBase = sums > 0 ? field(kSums, pointer) : Value();
  for (size_t part = 0; part < params.size(); ++part) {
    ValueRange values = end.slice(part * carried, carried);
    int64_t column = part * shape.part;
    for (int64_t i = 0; i < k; ++i)
      store(values[i], at(stateBase, i * shape.width + column, scalar));
    for (int64_t i = 0; i < carries; ++i)
      store(values[k + i], at(carryBase, i * shape.width + column, scalar));
    store(values[k + carries], at(finiteBase, column, scalar));
    for (int64_t i = 0; i < sums; ++i)
      store(values[k + carries + 1 + i], at(sumBase, i * shape.width + column, scalar));
  }
}

OwningOpRef<ModuleOp> KernelEmitter::emit() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, name);
  b.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(b, loc, name, b.getFunctionType({pointer}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  args = function.getArgument(0);
  SmallVector<Value> start = readOnce();
  auto number = [&](int64_t n) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n)).getResult();
  };
  auto body = [&](OpBuilder& inner, Location, Value step, ValueRange before) {
    OpBuilder::InsertionGuard guard(b);
    b = inner;
    scf::YieldOp::create(b, loc, emitStep(step, before));
  };
  auto loop =
      scf::ForOp::create(b, loc, number(0), field(kSteps, b.getI64Type()), number(1), start, body);
  storeEnd(loop.getResults());
  func::ReturnOp::create(b, loc);
  return module;
}

OwningOpRef<ModuleOp> rnnc::emitKernel(newton::SystemOp system, StringRef name, KernelShape shape) {
  return KernelEmitter(system, name, shape).emit();
}
