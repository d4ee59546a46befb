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

class KernelEmitter : KernelParts {
public:
  KernelEmitter(newton::SystemOp system, StringRef name, KernelShape shape)
      : KernelParts(system.getLoc(), system.getCompute(), shape), system(system), name(name) {}

  OwningOpRef<ModuleOp> emit();

private:
  SmallVector<Value> inlineBlock(Block& block, ValueRange arguments, IRMapping& shared);
  SmallVector<Value> multiply(ArrayRef<Value> entries, ValueRange carry);

  newton::SystemOp system;
  StringRef name;
};

} // namespace

/// The scalar ops of a region, on vectors. `shared` keeps what the step computed, by its op, so
/// that the Jacobian reuses it through CSE; values are the same whatever surrounds them.
SmallVector<Value> KernelEmitter::inlineBlock(Block& block, ValueRange arguments,
                                              IRMapping& mapping) {
  mapping.map(block.getArguments(), arguments);
  for (Operation& op : block.without_terminator())
    widen(op, mapping);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

/// J times the carry, over the entries that can be there.
SmallVector<Value> KernelEmitter::multiply(ArrayRef<Value> entries, ValueRange carry) {
  newton::StructureAttr structure = *system.getStructure();
  ArrayRef<int64_t> j = structure.getEntries(), a = structure.getCarry();
  SmallVector<Value> product;
  for (int64_t to = 0; to < structure.numCarry(); ++to) {
    Value sum;
    for (int64_t left = 0; left < structure.numEntries(); ++left)
      for (int64_t right = 0; right < structure.numCarry(); ++right) {
        if (j[2 * left] != a[2 * to] || a[2 * right + 1] != a[2 * to + 1] ||
            j[2 * left + 1] != a[2 * right])
          continue;
        sum = sum ? multiplyAdd(entries[left], carry[right], sum)
                  : Value(arith::MulFOp::create(b, loc, entries[left], carry[right]));
      }
    product.push_back(sum ? sum : splat(0));
  }
  return product;
}

OwningOpRef<ModuleOp> KernelEmitter::emit() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, name);
  b.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(b, loc, name, b.getFunctionType({pointer}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  Value args = function.getArgument(0);
  int64_t k = system.numStates(), inputs = system.numInputs(), outputs = system.numOutputs();
  int64_t carries = shape.jacobian ? system.getStructure()->numCarry() : 0;

  // Whatever does not change from step to step is read once.
  SmallVector<Value> inputBase, inputStride, outputBase, outputStride, params, start;
  Value inputPointers = field(args, kInputs, pointer),
        inputStrides = field(args, kInputStrides, pointer),
        outputPointers = field(args, kOutputs, pointer),
        outputStrides = field(args, kOutputStrides, pointer);
  for (int64_t i = 0; i < inputs; ++i) {
    inputBase.push_back(load(at(inputPointers, i, pointer), pointer));
    inputStride.push_back(load(at(inputStrides, i, b.getI64Type()), b.getI64Type()));
  }
  for (int64_t i = 0; i < k + outputs; ++i) {
    outputBase.push_back(load(at(outputPointers, i, pointer), pointer));
    outputStride.push_back(load(at(outputStrides, i, b.getI64Type()), b.getI64Type()));
  }
  Value paramBase = field(args, kParams, pointer), stateBase = field(args, kState, pointer);
  for (int64_t i = 0; i < system.numParams(); ++i)
    params.push_back(load(at(paramBase, i * shape.width, scalar), vector));
  for (int64_t i = 0; i < k; ++i)
    start.push_back(load(at(stateBase, i * shape.width, scalar), vector));
  if (shape.jacobian) {
    ArrayRef<int64_t> place = system.getStructure()->getCarry();
    for (int64_t i = 0; i < carries; ++i)
      start.push_back(splat(place[2 * i] == place[2 * i + 1] ? 1 : 0));
  }
  start.push_back(splat(0));

  auto number = [&](int64_t n) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n)).getResult();
  };
  Value zero = number(0), one = number(1), nothing = splat(0);
  auto body = [&](OpBuilder& inner, Location, Value step, ValueRange carried) {
    OpBuilder::InsertionGuard guard(b);
    b = inner;
    SmallVector<Value> arguments(carried.take_front(k));
    for (int64_t i = 0; i < inputs; ++i) {
      Value offset = arith::MulIOp::create(b, loc, step, inputStride[i]);
      arguments.push_back(load(at(inputBase[i], offset, scalar), vector));
    }
    llvm::append_range(arguments, params);
    IRMapping stepMapping, jacobianMapping;
    SmallVector<Value> results = inlineBlock(system.stepBlock(), arguments, stepMapping);
    for (auto [i, value] : llvm::enumerate(results)) {
      Value offset = arith::MulIOp::create(b, loc, step, outputStride[i]);
      store(value, at(outputBase[i], offset, scalar));
    }
    SmallVector<Value> next(ArrayRef(results).take_front(k));
    if (shape.jacobian) {
      SmallVector<Value> entries =
          inlineBlock(system.getJacobian().front(), arguments, jacobianMapping);
      llvm::append_range(next, multiply(entries, carried.slice(k, carries)));
    }
    // 0 * s is 0, or NaN where s is not finite; it never touches the states.
    Value finite = carried.back();
    for (int64_t i = 0; i < k; ++i)
      finite = multiplyAdd(results[i], nothing, finite);
    next.push_back(finite);
    scf::YieldOp::create(b, loc, next);
  };
  auto loop =
      scf::ForOp::create(b, loc, zero, field(args, kSteps, b.getI64Type()), one, start, body);
  for (int64_t i = 0; i < k; ++i)
    store(loop.getResult(i), at(stateBase, i * shape.width, scalar));
  if (shape.jacobian) {
    Value carryBase = field(args, kCarry, pointer);
    for (int64_t i = 0; i < carries; ++i)
      store(loop.getResult(k + i), at(carryBase, i * shape.width, scalar));
  }
  store(loop.getResults().back(), field(args, kFinite, pointer));
  func::ReturnOp::create(b, loc);
  return module;
}

OwningOpRef<ModuleOp> rnnc::emitKernel(newton::SystemOp system, StringRef name, KernelShape shape) {
  return KernelEmitter(system, name, shape).emit();
}
