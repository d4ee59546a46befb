//===- DenseStep.cpp - the loops of a large block's step -------------------------------------===//

#include "Transforms/DenseLowering.h"
#include "Transforms/Passes.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

/// Rows of a product that are summed side by side: enough chains to hide a multiply-add's latency,
/// and each element of the right side is loaded once for all of them.
static constexpr int64_t kRows = 8;

SmallVector<unsigned> DenseLowering::blockAxes(const Frame& frame, int64_t except) {
  SmallVector<unsigned> along;
  for (unsigned axis = 0; axis < frame.dims.size(); ++axis)
    if (!frame.lanes[axis].isLane() && axis != except)
      along.push_back(axis);
  return along;
}

/// A loop over each of the axes `along`, the last one innermost.
void DenseLowering::loops(Frame& frame, ArrayRef<unsigned> along, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b);
  for (unsigned axis : along) {
    auto loop = scf::ForOp::create(b, loc, number(0), sizeOf(frame.dims[axis]), number(1));
    frame.places[axis] = loop.getInductionVar();
    b.setInsertionPoint(loop.getBody()->getTerminator());
  }
  body();
}

/// `value`'s own axes within a nest.
Frame DenseLowering::inFrame(Value value, const Frame& frame) {
  ArrayRef<DimAttr> dims = dimsOf(value);
  size_t offset = frame.dims.size() - dims.size();
  Frame own{dims, lanesWithin(value, frame.dims, frame.lanes),
            SmallVector<Value>(frame.places.begin() + offset, frame.places.end())};
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].isOne() && !frame.dims[offset + i].isOne())
      own.places[i] = number(0);
  return own;
}

/// The frame of what an op moves, for one of its result: everything but a concat.
Frame DenseLowering::movedFrame(Operation* op, const Frame& frame) {
  auto [operand, lanes] = movedElement(op, frame.lanes);
  Frame from{dimsOf(operand), lanes, frame.places};
  for (Place& place : from.lanes)
    if (!place.isLane())
      place = {};
  if (auto slice = dyn_cast<SliceOp>(op)) {
    Value start = number(slice.getFrom());
    Value& place = from.places[slice.getAxis()];
    if (slice.getDrop())
      from.places.insert(from.places.begin() + slice.getAxis(), start);
    else if (!from.lanes[slice.getAxis()].isLane())
      place = arith::AddIOp::create(b, loc, place, start);
  } else if (auto expand = dyn_cast<ExpandOp>(op)) {
    from.places.erase(from.places.begin() + expand.getAxis());
  } else {
    std::swap(from.places[from.places.size() - 1], from.places[from.places.size() - 2]);
  }
  return from;
}

/// Each part is written behind the one before.
void DenseLowering::buildJoint(ConcatOp op, Frame& frame, const Array& to) {
  int64_t at = 0;
  for (Value part : op.getOperands()) {
    Frame from{dimsOf(part), frame.lanes, frame.places};
    loops(from, blockAxes(from), [&] {
      Frame place = from;
      Value& along = place.places[op.getAxis()];
      along = arith::AddIOp::create(b, loc, along, number(at));
      write(to, place, read(part, from));
    });
    at += dimsOf(part)[op.getAxis()].getSize();
  }
}

static SmallVector<Value> indices(const Lanes& lanes, ArrayRef<Value> places) {
  SmallVector<Value> result;
  for (auto [lane, place] : llvm::zip(lanes, places))
    if (!lane.isLane())
      result.push_back(place);
  return result;
}

/// An element of a leaf or of a root.
Value DenseLowering::read(Value value, const Frame& own) {
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return buildNumber(b, loc, compute, constant.getValue().convertToDouble());
  auto [list, place] = arrayOf.at({value, own.lanes});
  return memref::LoadOp::create(b, loc, (*list)[place].memref, indices(own.lanes, own.places));
}

void DenseLowering::write(const Array& to, const Frame& frame, Value value) {
  memref::StoreOp::create(b, loc, value, to.memref, indices(frame.lanes, frame.places));
}

/// An element of a value from what is stored, in the order of the equations. `itself`: compute the
/// value although it is a root.
Value DenseLowering::buildElement(Value value, const Frame& frame, bool itself) {
  auto isStored = [&](Value v) {
    return isLeaf(v) || roots.contains({v, lanesWithin(v, frame.dims, frame.lanes)});
  };
  if (!itself && isStored(value))
    return read(value, inFrame(value, frame));
  llvm::SetVector<Operation*> needed;
  needed.insert(value.getDefiningOp());
  for (size_t i = 0; i < needed.size(); ++i)
    for (Value operand : needed[i]->getOperands())
      if (!isMovement(needed[i]) && !isStored(operand))
        needed.insert(operand.getDefiningOp());
  SmallVector<Operation*> ordered(needed.begin(), needed.end());
  llvm::sort(ordered, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  DenseMap<Value, Value> scalar;
  for (Operation* op : ordered) {
    loc = op->getLoc();
    if (isMovement(op)) {
      Frame from = movedFrame(op, inFrame(op->getResult(0), frame));
      scalar[op->getResult(0)] = read(op->getOperand(0), from);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      Value& built = scalar[operand];
      if (!built)
        built = read(operand, inFrame(operand, frame));
      operands.push_back(built);
    }
    scalar[op->getResult(0)] = buildScalar(b, loc, op, operands, compute);
  }
  return scalar.at(value);
}

/// The size of an axis as a number of the compute type. Places do not mix with numbers in a kernel,
/// so a free one is counted.
Value DenseLowering::numberOf(DimAttr dim) {
  if (!dim.isFree())
    return buildNumber(b, loc, compute, dim.getSize());
  auto loop = scf::ForOp::create(b, loc, number(0), sizeOf(dim), number(1), zero());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value one = buildNumber(b, loc, compute, 1);
  scf::YieldOp::create(b, loc, Value(arith::AddFOp::create(b, loc, loop.getRegionIterArg(0), one)));
  return loop.getResult(0);
}

/// From the first element to the last, beginning with what changes none of them.
Value DenseLowering::buildReduction(ReduceOp op, const Frame& frame) {
  Frame from{dimsOf(op.getOperand()), frame.lanes, frame.places};
  unsigned axis = op.getAxis();
  if (!op.getKeep()) {
    from.lanes.insert(from.lanes.begin() + axis, Place());
    from.places.insert(from.places.begin() + axis, Value());
  }
  from.lanes[axis] = {};
  BinaryKind kind = combining(op.getKind());
  double first = kind == BinaryKind::Add ? 0 : kind == BinaryKind::Max ? -INFINITY : INFINITY;
  auto loop = scf::ForOp::create(b, loc, number(0), sizeOf(from.dims[axis]), number(1),
                                 buildNumber(b, loc, compute, first));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    from.places[axis] = loop.getInductionVar();
    Value term = buildElement(op.getOperand(), from, false);
    scf::YieldOp::create(b, loc, buildBinary(b, loc, kind, loop.getRegionIterArg(0), term));
  }
  if (op.getKind() != ReduceKind::Mean)
    return loop.getResult(0);
  return arith::DivFOp::create(b, loc, loop.getResult(0), numberOf(from.dims[axis]));
}

/// `rows` elements of a product along its row axis, from `first` on.
void DenseLowering::buildRows(MatmulOp op, Frame& frame, Value first, int64_t rows,
                              const Array& to) {
  Value left = op.getLhs(), right = op.getRhs();
  size_t rowAxis = dimsOf(left).size() - 2, shared = op.sharedAxes();
  SmallVector<Value> start(rows, zero()), rowPlaces;
  for (int64_t r = 0; r < rows; ++r)
    rowPlaces.push_back(!first || r == 0 ? first : arith::AddIOp::create(b, loc, first, number(r)));
  Frame ofLeft{dimsOf(left), Lanes(frame.lanes.begin(), frame.lanes.begin() + rowAxis + 1),
               SmallVector<Value>(frame.places.begin(), frame.places.begin() + rowAxis + 1)};
  Frame ofRight{dimsOf(right), Lanes(frame.lanes.begin(), frame.lanes.begin() + shared),
                SmallVector<Value>(frame.places.begin(), frame.places.begin() + shared)};
  ofLeft.lanes.push_back({});
  ofRight.lanes.push_back({});
  ofRight.lanes.insert(ofRight.lanes.end(), frame.lanes.begin() + rowAxis + 1, frame.lanes.end());
  DimAttr contracted = dimsOf(left).back();
  auto loop = scf::ForOp::create(b, loc, number(0), sizeOf(contracted), number(1), start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value j = loop.getInductionVar();
    ofLeft.places.push_back(j);
    ofRight.places.push_back(j);
    ofRight.places.append(frame.places.begin() + rowAxis + 1, frame.places.end());
    Value factor = read(right, ofRight);
    SmallVector<Value> sums;
    for (int64_t r = 0; r < rows; ++r) {
      ofLeft.places[rowAxis] = rowPlaces[r];
      Value product = arith::MulFOp::create(b, loc, read(left, ofLeft), factor);
      sums.push_back(arith::AddFOp::create(b, loc, product, loop.getRegionIterArg(r)));
    }
    scf::YieldOp::create(b, loc, sums);
  }
  for (int64_t r = 0; r < rows; ++r) {
    frame.places[rowAxis] = rowPlaces[r];
    write(to, frame, loop.getResult(r));
  }
}

void DenseLowering::buildProduct(MatmulOp op, Frame& frame, const Array& to) {
  unsigned rowAxis = dimsOf(op.getLhs()).size() - 2;
  loops(frame, blockAxes(frame, rowAxis), [&] {
    if (frame.lanes[rowAxis].isLane())
      return buildRows(op, frame, Value(), 1, to);
    Value size = sizeOf(frame.dims[rowAxis]);
    Value rest = arith::RemUIOp::create(b, loc, size, number(kRows));
    Value whole = arith::SubIOp::create(b, loc, size, rest);
    for (auto [from, until, rows] :
         {std::tuple(number(0), whole, kRows), std::tuple(whole, size, int64_t(1))}) {
      auto loop = scf::ForOp::create(b, loc, from, until, number(rows));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop.getBody()->getTerminator());
      buildRows(op, frame, loop.getInductionVar(), rows, to);
    }
  });
}

void DenseLowering::buildRoot(Operation* op, const Seen& root) {
  loc = op->getLoc();
  Frame frame{dimsOf(root.first), root.second, SmallVector<Value>(root.second.size())};
  const Array& to = temporaries[arrayOf.at(root).second];
  if (auto product = dyn_cast<MatmulOp>(op))
    return buildProduct(product, frame, to);
  if (auto concat = dyn_cast<ConcatOp>(op))
    return buildJoint(concat, frame, to);
  loops(frame, blockAxes(frame), [&] {
    auto reduce = dyn_cast<ReduceOp>(op);
    write(to, frame,
          reduce ? buildReduction(reduce, frame) : buildElement(root.first, frame, true));
  });
}

void DenseLowering::buildStep() {
  for (Operation& op : step) {
    if (op.getNumResults() == 0)
      continue;
    Value value = op.getResult(0);
    for (auto it = roots.lower_bound({value, {}}); it != roots.end() && it->first == value; ++it)
      buildRoot(&op, *it);
  }
  for (const Result& result : llvm::concat<const Result>(nextStates, outputs)) {
    Frame frame{result.to.dims, result.to.lanes, SmallVector<Value>(result.to.lanes.size())};
    loops(frame, blockAxes(frame),
          [&] { write(result.to, frame, buildElement(result.value, frame, false)); });
  }
  newton::YieldOp::create(b, cell.getLoc(), ValueRange());
}
