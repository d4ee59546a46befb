//===- EmitDenseKernel.cpp - a dense system's step as loops over vectors ---------------------===//

#include "Target/Cpu/EmitKernel.h"

#include "Target/Cpu/KernelParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace rnnc;

namespace {

class DenseKernelEmitter : KernelParts {
public:
  DenseKernelEmitter(newton::DenseSystemOp system, StringRef name, KernelShape shape)
      : KernelParts(system.getLoc(), system.getCompute(), shape), system(system), name(name) {}

  OwningOpRef<ModuleOp> emit();

private:
  enum Kind {
    Rows,   // a pointer and a stride an element: inputs and outputs
    Column, // one vector an element: states, params of a lane, temporaries
    Shared, // one number an element, for all lanes: params without a lane axis
    Carry,  // as a column; what is written is multiplied onto what is there
  };
  /// Where the elements of a memref lie.
  struct Place {
    Kind kind;
    Value base;               // Rows: the first element's pointer in the table
    Value strides;            // Rows: likewise
    SmallVector<Value> sizes; // i64, of its axes
  };

  Value number(int64_t n) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value times(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value elements(const Place& place);
  void placeArrays();
  void placeDiagonal();
  Value address(const Place& place, ValueRange indices, IRMapping& mapping);
  void emitBlock(Block& block, IRMapping& mapping);
  void emitOp(Operation& op, IRMapping& mapping);
  void emitLoop(scf::ForOp loop, IRMapping& mapping);
  Value publish(Value finite);

  newton::DenseSystemOp system;
  StringRef name;
  llvm::DenseMap<Value, Place> places;
  SmallVector<Value> sizes; // i64, of the block dims
  Value step, states, state, next, results,
      resultStrides; // `states`: how many; the others pointers
};

} // namespace

Value DenseKernelEmitter::elements(const Place& place) {
  Value count = number(1);
  for (Value size : place.sizes)
    count = times(count, size);
  return count;
}

/// Gives every array its place: elements of a kind follow one another in the order of the slots.
void DenseKernelEmitter::placeArrays() {
  auto i64 = b.getI64Type();
  Value sizeBase = field(kBlockSizes, pointer);
  for (size_t i = 0; i < system.getBlockDims().size(); ++i)
    sizes.push_back(load(at(sizeBase, i, i64), i64));
  SmallVector<SmallVector<int64_t>> dims = system.arrayDims();
  unsigned argument = system.getBlockDims().size(), array = 0;
  Value width = number(shape.width), shared = field(kShared, pointer);
  int64_t sharedCount = 0;
  state = field(kState, pointer);
  results = field(kOutputs, pointer);
  resultStrides = field(kOutputStrides, pointer);
  auto take = [&](Kind kind, Value& base, Value* strides = nullptr) {
    Place place{kind, base, strides ? *strides : Value(), {}};
    for (int64_t dim : dims[array++])
      place.sizes.push_back(sizes[dim]);
    Value count = elements(place);
    if (kind == Rows) {
      base = at(base, count, pointer);
      *strides = at(*strides, count, i64);
    } else if (kind == Column) {
      base = at(base, times(count, width), scalar);
    }
    places[system.stepBlock().getArgument(argument++)] = place;
    return count;
  };
  Value states_ = state, params = field(kParams, pointer), inputs = field(kInputs, pointer),
        inputStrides = field(kInputStrides, pointer), scratch = field(kScratch, pointer);
  states = number(0);
  for (size_t i = 0; i < system.getStates().size(); ++i)
    states = add(states, take(Column, states_));
  for (size_t i = 0; i < system.getInputs().size(); ++i)
    take(Rows, inputs, &inputStrides);
  for (auto slot : system.getParams().getAsRange<newton::SlotAttr>()) {
    if (llvm::any_of(slot.getLanes(), [](int64_t lane) { return lane >= 0; })) {
      take(Column, params);
    } else {
      Value base = load(at(shared, sharedCount++, pointer), pointer);
      take(Shared, base);
    }
  }
  next = scratch;
  for (size_t i = 0; i < system.getStates().size(); ++i)
    take(Column, scratch);
  Value outputs = at(results, states, pointer), outputStrides = at(resultStrides, states, i64);
  for (size_t i = 0; i < system.getOutputs().size(); ++i)
    take(Rows, outputs, &outputStrides);
  for (size_t i = 0; i < system.getTemporaries().size(); ++i)
    take(Column, scratch);
}

/// The arrays of the diagonal are the step's, and the carry, which begins as the identity.
void DenseKernelEmitter::placeDiagonal() {
  if (!shape.jacobian)
    return;
  Block& diagonal = system.getDiagonal().front();
  unsigned next = 0, first = system.getBlockDims().size();
  for (BlockArgument argument : system.stepBlock().getArguments().drop_front(first))
    places[diagonal.getArgument(first + next++)] = Place(places.at(argument));
  Value base = field(kCarry, pointer);
  for (size_t i = 0; i < system.getStates().size(); ++i) {
    Place place = places.at(system.stepBlock().getArgument(first + i));
    place.kind = Carry;
    place.base = base;
    base = at(base, times(elements(place), number(shape.width)), scalar);
    places[diagonal.getArgument(first + next++)] = place;
  }
  Value one = splat(1);
  auto loop = scf::ForOp::create(b, loc, number(0), states, number(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value offset = times(loop.getInductionVar(), number(shape.width));
  store(one, at(field(kCarry, pointer), offset, scalar));
}

/// Of an element in this step; elements of an array are row-major.
Value DenseKernelEmitter::address(const Place& place, ValueRange indices, IRMapping& mapping) {
  auto i64 = b.getI64Type();
  Value element = number(0);
  for (auto [index, size] : llvm::zip(indices, place.sizes)) {
    Value i = arith::IndexCastOp::create(b, loc, i64, mapping.lookup(index));
    element = add(times(element, size), i);
  }
  if (place.kind == Shared)
    return at(place.base, element, scalar);
  if (place.kind == Column || place.kind == Carry)
    return at(place.base, times(element, number(shape.width)), scalar);
  Value row = load(at(place.base, element, pointer), pointer);
  Value stride = load(at(place.strides, element, i64), i64);
  return at(row, times(step, stride), scalar);
}

void DenseKernelEmitter::emitLoop(scf::ForOp loop, IRMapping& mapping) {
  SmallVector<Value> init;
  for (Value value : loop.getInitArgs())
    init.push_back(mapping.lookup(value));
  auto made = scf::ForOp::create(b, loop.getLoc(), mapping.lookup(loop.getLowerBound()),
                                 mapping.lookup(loop.getUpperBound()),
                                 mapping.lookup(loop.getStep()), init);
  mapping.map(loop.getInductionVar(), made.getInductionVar());
  mapping.map(loop.getRegionIterArgs(), made.getRegionIterArgs());
  mapping.map(loop.getResults(), made.getResults());
  OpBuilder::InsertionGuard guard(b);
  if (init.empty()) {
    b.setInsertionPoint(made.getBody()->getTerminator());
    emitBlock(*loop.getBody(), mapping);
    return;
  }
  b.setInsertionPointToEnd(made.getBody());
  emitBlock(*loop.getBody(), mapping);
  SmallVector<Value> yielded;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookup(value));
  scf::YieldOp::create(b, loop.getLoc(), yielded);
}

void DenseKernelEmitter::emitOp(Operation& op, IRMapping& mapping) {
  loc = op.getLoc();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return emitLoop(loop, mapping);
  if (auto read = dyn_cast<memref::LoadOp>(op)) {
    const Place& place = places.at(read.getMemRef());
    Value from = address(place, read.getIndices(), mapping);
    Value value =
        place.kind == Shared
            ? Value(vector::BroadcastOp::create(
                  b, loc, vector,
                  LLVM::LoadOp::create(b, loc, scalar, from, scalar.getIntOrFloatBitWidth() / 8)))
            : load(from, vector);
    mapping.map(read.getResult(), value);
    return;
  }
  if (auto write = dyn_cast<memref::StoreOp>(op)) {
    Value value = mapping.lookup(write.getValueToStore());
    const Place& place = places.at(write.getMemRef());
    Value to = address(place, write.getIndices(), mapping);
    if (place.kind == Carry)
      value = arith::MulFOp::create(b, loc, value, load(to, vector));
    return store(value, to);
  }
  bool isPlaceOnly = llvm::all_of(op.getResultTypes(), [](Type type) { return type.isIndex(); });
  if (isPlaceOnly)
    b.clone(op, mapping);
  else
    widen(op, mapping);
}

/// Recursion is as deep as loops nest: one level for each axis of an array.
void DenseKernelEmitter::emitBlock(Block& block, IRMapping& mapping) {
  for (Operation& op : block.without_terminator())
    emitOp(op, mapping);
}

/// Takes the new states to where the next step and the caller read them. Returns `finite`, NaN
/// where one of them is not finite: 0 * s is 0, or NaN.
Value DenseKernelEmitter::publish(Value finite) {
  loc = system.getLoc();
  auto i64 = b.getI64Type();
  Value width = number(shape.width), nothing = splat(0);
  auto loop = scf::ForOp::create(b, loc, number(0), states, number(1), finite);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value i = loop.getInductionVar(), offset = times(i, width);
  Value value = load(at(next, offset, scalar), vector);
  store(value, at(state, offset, scalar));
  Value row = load(at(results, i, pointer), pointer), stride = load(at(resultStrides, i, i64), i64);
  store(value, at(row, times(step, stride), scalar));
  scf::YieldOp::create(b, loc, multiplyAdd(value, nothing, loop.getRegionIterArg(0)));
  return loop.getResult(0);
}

OwningOpRef<ModuleOp> DenseKernelEmitter::emit() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc, name);
  b.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(b, loc, name, b.getFunctionType({pointer}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  args = function.getArgument(0);
  placeArrays();
  IRMapping mapping;
  placeDiagonal();
  for (auto [i, size] : llvm::enumerate(sizes)) {
    Value index = arith::IndexCastOp::create(b, loc, b.getIndexType(), size);
    mapping.map(system.stepBlock().getArgument(i), index);
    if (shape.jacobian)
      mapping.map(system.getDiagonal().getArgument(i), index);
  }
  auto steps =
      scf::ForOp::create(b, loc, number(0), field(kSteps, b.getI64Type()), number(1), splat(0));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(steps.getBody());
    step = steps.getInductionVar();
    emitBlock(system.stepBlock(), mapping);
    if (shape.jacobian)
      emitBlock(system.getDiagonal().front(), mapping);
    scf::YieldOp::create(b, loc, publish(steps.getRegionIterArg(0)));
  }
  store(steps.getResult(0), field(kFinite, pointer));
  func::ReturnOp::create(b, loc);
  return module;
}

OwningOpRef<ModuleOp> rnnc::emitDenseKernel(newton::DenseSystemOp system, StringRef name,
                                            KernelShape shape) {
  return DenseKernelEmitter(system, name, shape).emit();
}
