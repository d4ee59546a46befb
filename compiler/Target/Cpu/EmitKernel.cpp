//===- EmitKernel.cpp - a system's step as a vector kernel -----------------------------------===//

#include "Target/Cpu/EmitKernel.h"

#include "Target/Cpu/KernelParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace rnnc;

namespace {

/// Values by part of the width.
using Parts = SmallVector<SmallVector<Value>>;

class KernelEmitter : KernelParts {
public:
  KernelEmitter(newton::SystemOp system, StringRef name, KernelShape shape)
      : KernelParts(system.getLoc(), system.getCompute(), shape), system(system), name(name),
        carries(shape.jacobian ? system.getStructure()->numCarry() : 0) {}

  OwningOpRef<ModuleOp> emit();

private:
  Parts inlineBlock(Block& block, ArrayRef<SmallVector<Value>> arguments);
  SmallVector<Value> multiply(ArrayRef<Value> values, ValueRange carry);
  SmallVector<Value> readOnce();
  SmallVector<Value> emitStep(Value step, ValueRange before);
  void storeEnd(ValueRange end);

  newton::SystemOp system;
  StringRef name;
  int64_t carries; // numbers of the carry; 0 without the Jacobian

  SmallVector<Value> inputBase, inputStride, outputBase, outputStride;
  Parts params;
};

} // namespace

/// The scalar ops of a region, on vectors; of every op all parts next to each other, so that they
/// hide each other's latency.
Parts KernelEmitter::inlineBlock(Block& block, ArrayRef<SmallVector<Value>> arguments) {
  SmallVector<IRMapping> mappings(arguments.size());
  for (auto [mapping, values] : llvm::zip_equal(mappings, arguments))
    mapping.map(block.getArguments(), values);
  for (Operation& op : block.without_terminator())
    for (IRMapping& mapping : mappings)
      widen(op, mapping);
  Parts results;
  for (IRMapping& mapping : mappings) {
    SmallVector<Value>& values = results.emplace_back();
    for (Value value : block.getTerminator()->getOperands())
      values.push_back(mapping.lookup(value));
  }
  return results;
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
/// first step, part by part: states, carry, finite.
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
    start.push_back(splat(0));
  }
  return start;
}

/// One step: from what the loop carries in to what it carries on.
SmallVector<Value> KernelEmitter::emitStep(Value step, ValueRange before) {
  int64_t k = system.numStates(), carried = k + carries + 1;
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
    for (auto [value, base, stride] : llvm::zip_equal(values, outputBase, outputStride))
      store(value, placeOf(base, stride, part));
    ArrayRef<Value> states = ArrayRef(values).take_front(k);
    llvm::append_range(next, states);
    if (shape.jacobian) {
      Parts jacobian =
          inlineBlock(system.getJacobian().front(), ArrayRef(arguments).slice(part, 1));
      ValueRange carry = before.slice(part * carried + k, carries);
      llvm::append_range(next, multiply(jacobian.front(), carry));
    }
    // 0 * s is 0, or NaN where s is not finite; it never touches the states.
    Value finite = before[part * carried + carried - 1];
    for (Value state : states)
      finite = multiplyAdd(state, nothing, finite);
    next.push_back(finite);
  }
  return next;
}

void KernelEmitter::storeEnd(ValueRange end) {
  int64_t k = system.numStates(), carried = k + carries + 1;
  Value stateBase = field(kState, pointer), finiteBase = field(kFinite, pointer);
  Value carryBase = shape.jacobian ? field(kCarry, pointer) : Value();
  for (size_t part = 0; part < params.size(); ++part) {
    ValueRange values = end.slice(part * carried, carried);
    int64_t column = part * shape.part;
    for (int64_t i = 0; i < k; ++i)
      store(values[i], at(stateBase, i * shape.width + column, scalar));
    for (int64_t i = 0; i < carries; ++i)
      store(values[k + i], at(carryBase, i * shape.width + column, scalar));
    store(values.back(), at(finiteBase, column, scalar));
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
