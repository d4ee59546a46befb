//===- LowerDense.cpp - a large block becomes loops ------------------------------------------===//
//
// Every value that needs a place of its own (a *root*) becomes one nest of loops over its block
// axes; lane axes have no loop. Walks are over the equations' order, none is recursive.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/LowerDense.h"

#include "Transforms/Boundary.h"
#include "Transforms/Passes.h"
#include "Transforms/Scalars.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {

/// For every axis of a value: the lane axis that it runs with, or -1 where it belongs to the block.
using Lanes = std::vector<int64_t>;
/// A value as one of its users sees it.
using Seen = std::pair<Value, Lanes>;

struct BySeen {
  bool operator()(const Seen& a, const Seen& b) const {
    auto key = [](const Seen& s) { return std::pair(s.first.getAsOpaquePointer(), s.second); };
    return key(a) < key(b);
  }
};

/// Rows of a product that are summed side by side: enough chains to hide a multiply-add's latency,
/// and each element of the right side is loaded once for all of them.
constexpr int64_t kRows = 8;

bool isLeaf(Value value) {
  return isa<StateAtOp, InputAtOp, ParamValueOp, ConstantOp>(value.getDefiningOp());
}

bool isContraction(Operation* op) { return isa<MatmulOp, ReduceOp>(op); }

ArrayRef<DimAttr> dimsOf(Value value) { return cast<ArrayType>(value.getType()).getDims(); }

/// An array of the region: a tensor as the step reads or writes it, or a temporary.
struct Array {
  Attribute slot; // null: a temporary
  SmallVector<DimAttr> dims;
  Lanes lanes;
  Location loc;
  Value memref = {};
};

/// The axes of a nest, and where each of them stands: nowhere (null) along a lane axis.
struct Frame {
  ArrayRef<DimAttr> dims;
  Lanes lanes;
  SmallVector<Value> places;
};

class DenseLowering {
public:
  DenseLowering(const Equations& equations, const StateGroup& group, const LaneAxes& axes,
                Type compute)
      : equations(equations), cell(equations.cell), step(*equations.body), group(group), axes(axes),
        compute(compute), b(cell.getContext()), loc(cell.getLoc()) {}

  LogicalResult lower(Block& into);

private:
  struct Result {
    Value value;
    Array to;
  };

  LogicalResult listResults();
  void demand();
  void demandOperands(Operation* op, const Lanes& lanes, const std::set<int>& nests);
  void addLeaf(Operation& op, const Seen& seen);
  void listArrays();
  void createSystem(Block& into);
  newton::SlotAttr slot(FlatSymbolRefAttr tensor, const Lanes& lanes, int64_t back);

  int64_t blockDim(DimAttr dim);
  Value sizeOf(DimAttr dim) { return dim.isFree() ? sizes[blockDim(dim)] : number(dim.getSize()); }
  Value number(int64_t n) { return arith::ConstantIndexOp::create(b, loc, n); }
  Value zero() { return buildNumber(b, loc, compute, 0); }
  void loops(Frame& frame, ArrayRef<unsigned> along, llvm::function_ref<void()> body);
  SmallVector<unsigned> blockAxes(const Frame& frame, int64_t except = -1);

  void buildStep();
  void buildRoot(Operation* op, const Seen& root);
  void buildProduct(MatmulOp op, Frame& frame, const Array& to);
  void buildRows(MatmulOp op, Frame& frame, Value first, int64_t rows, const Array& to);
  Value buildReduction(ReduceOp op, const Frame& frame);
  Value numberOf(DimAttr dim);
  Value buildElement(Value value, const Frame& frame, bool itself);
  Frame inFrame(Value value, const Frame& frame);
  Value read(Value value, const Frame& own);
  void write(const Array& to, const Frame& frame, Value value);

  const Equations& equations;
  CellOp cell;
  Block& step;
  const StateGroup& group;
  const LaneAxes& axes;
  Type compute;
  OpBuilder b;
  Location loc;

  SmallVector<Result> nextStates, outputs;
  std::map<Seen, std::set<int>, BySeen> nestsOf; // the nests that need the value
  std::set<Seen, BySeen> roots;
  SmallVector<Array> states, inputs, params, temporaries;
  std::map<Seen, std::pair<SmallVector<Array>*, unsigned>, BySeen> arrayOf; // leaves and roots
  SmallVector<DimAttr> blockDims;
  SmallVector<Value> sizes; // of the block dims
};

} // namespace

/// The axes of `value` within a nest over `dims`: aligned from the right, and at element 0 where an
/// axis of size 1 is stretched.
static Lanes lanesWithin(Value value, ArrayRef<DimAttr> dims, const Lanes& lanes) {
  ArrayRef<DimAttr> own = dimsOf(value);
  size_t offset = dims.size() - own.size();
  Lanes result(lanes.begin() + offset, lanes.end());
  for (size_t i = 0; i < own.size(); ++i)
    if (own[i].isOne() && !dims[offset + i].isOne())
      result[i] = -1;
  return result;
}

/// Whether a nest over `dims` would compute one element of `value` several times.
static bool isStretched(Value value, ArrayRef<DimAttr> dims, const Lanes& lanes) {
  ArrayRef<DimAttr> own = dimsOf(value);
  size_t offset = dims.size() - own.size();
  for (size_t i = 0; i < dims.size(); ++i)
    if (lanes[i] < 0 && !dims[i].isOne() && (i < offset || own[i - offset].isOne()))
      return true;
  return false;
}

LogicalResult DenseLowering::listResults() {
  for (StateOp state : group.states)
    for (auto set : step.getOps<SetStateOp>())
      if (set.getName() == state.getSymName()) {
        auto lanes = group.axes.lookup(state);
        Lanes along(lanes.begin(), lanes.end());
        nextStates.push_back({set.getValue(),
                              {slot(set.getNameAttr(), along, 0),
                               SmallVector<DimAttr>(cast<ArrayType>(state.getType()).getDims()),
                               along, state.getLoc()}});
      }
  for (Operation* output : group.outputs)
    for (auto set : step.getOps<SetOutputOp>())
      if (set.getName() == SymbolTable::getSymbolName(output)) {
        auto type = cast<ArrayType>(output->getAttrOfType<TypeAttr>("type").getValue());
        SmallVector<int64_t> lanes;
        if (failed(outputAxes(output, type, set.getValue(), group, axes, true, lanes)))
          return failure();
        Lanes along(lanes.begin(), lanes.end());
        outputs.push_back({set.getValue(),
                           {slot(set.getNameAttr(), along, 0), SmallVector<DimAttr>(type.getDims()),
                            along, output->getLoc()}});
      }
  return success();
}

/// Tells the operands of `op`, seen with `lanes`, which nests need them.
void DenseLowering::demandOperands(Operation* op, const Lanes& lanes, const std::set<int>& nests) {
  auto want = [&](Value value, Lanes seenLanes, bool place) {
    Seen seen{value, std::move(seenLanes)};
    nestsOf[seen].insert(nests.begin(), nests.end());
    if (place && !isLeaf(value) && !cast<ArrayType>(value.getType()).isBool())
      roots.insert(seen);
  };
  if (auto product = dyn_cast<MatmulOp>(op)) {
    size_t batch = product.getLhs().getType().getRank() - 2;
    Lanes left(lanes.begin(), lanes.begin() + batch + 1),
        right(lanes.begin(), lanes.begin() + batch);
    left.push_back(-1);
    right.push_back(-1);
    right.insert(right.end(), lanes.begin() + batch + 1, lanes.end());
    want(product.getLhs(), left, true); // every element is used for many
    want(product.getRhs(), right, true);
    return;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Lanes from = lanes;
    if (!reduce.getKeep())
      from.insert(from.begin() + reduce.getAxis(), -1);
    from[reduce.getAxis()] = -1;
    want(reduce.getOperand(), from, false);
    return;
  }
  ArrayRef<DimAttr> dims = dimsOf(op->getResult(0));
  for (Value operand : op->getOperands())
    want(operand, lanesWithin(operand, dims, lanes), isStretched(operand, dims, lanes));
}

/// Backward: which values are needed, by which nests, and which of them are roots.
void DenseLowering::demand() {
  int nests = 0;
  for (const Result& result : llvm::concat<const Result>(nextStates, outputs)) {
    Value value = result.value;
    Seen seen{value, lanesWithin(value, result.to.dims, result.to.lanes)};
    nestsOf[seen].insert(nests++);
    if (!isLeaf(value) && !cast<ArrayType>(value.getType()).isBool() &&
        isStretched(value, result.to.dims, result.to.lanes))
      roots.insert(seen);
  }
  for (Operation& op : llvm::reverse(step)) {
    if (op.getNumResults() == 0 || isLeaf(op.getResult(0)))
      continue;
    Value value = op.getResult(0);
    std::vector<std::pair<Seen, std::set<int>>> wanted; // nestsOf may grow below
    for (auto it = nestsOf.lower_bound({value, {}});
         it != nestsOf.end() && it->first.first == value; ++it)
      wanted.push_back(*it);
    for (auto& [seen, needing] : wanted) {
      bool isBool = cast<ArrayType>(value.getType()).isBool();
      if (isContraction(&op) || (needing.size() > 1 && !isBool))
        roots.insert(seen);
      demandOperands(&op, seen.second, roots.contains(seen) ? std::set<int>{nests++} : needing);
    }
  }
}

newton::SlotAttr DenseLowering::slot(FlatSymbolRefAttr tensor, const Lanes& lanes, int64_t back) {
  SmallVector<int64_t> at;
  for (int64_t lane : lanes)
    at.push_back(lane < 0 ? -1 : 0);
  return newton::SlotAttr::get(b.getContext(), tensor, lanes, at, back);
}

/// The array of a state, an input or a param as the step reads it.
void DenseLowering::addLeaf(Operation& op, const Seen& seen) {
  if (isa<ConstantOp>(op))
    return;
  auto read = dyn_cast<InputAtOp>(op);
  SmallVector<Array>& list = isa<StateAtOp>(op) ? states : read ? inputs : params;
  auto name = op.getAttrOfType<FlatSymbolRefAttr>("name");
  Attribute where = slot(name, seen.second, read ? read.getBack() : 0);
  auto known = llvm::find_if(list, [&](const Array& array) { return array.slot == where; });
  if (known == list.end()) {
    list.push_back({where, SmallVector<DimAttr>(dimsOf(seen.first)), seen.second, op.getLoc()});
    known = &list.back();
  }
  arrayOf[seen] = {&list, known - list.begin()};
}

/// Every array of the step: states in the order of the group, the others in that of the equations.
void DenseLowering::listArrays() {
  for (const Result& state : nextStates)
    states.push_back(state.to);
  for (Operation& op : step) {
    if (op.getNumResults() == 0)
      continue;
    Value value = op.getResult(0);
    for (auto it = nestsOf.lower_bound({value, {}});
         it != nestsOf.end() && it->first.first == value; ++it) {
      if (isLeaf(value)) {
        addLeaf(op, it->first);
      } else if (roots.contains(it->first)) {
        arrayOf[it->first] = {&temporaries, temporaries.size()};
        temporaries.push_back(
            {Attribute(), SmallVector<DimAttr>(dimsOf(value)), it->first.second, op.getLoc()});
      }
    }
  }
}

int64_t DenseLowering::blockDim(DimAttr dim) {
  for (auto [i, known] : llvm::enumerate(blockDims))
    if (known.str() == dim.str())
      return i;
  blockDims.push_back(dim);
  return blockDims.size() - 1;
}

void DenseLowering::createSystem(Block& into) {
  SmallVector<Type> types;
  SmallVector<Array*> arrays;
  SmallVector<Attribute> slots[4], temporaryDims, laneAxes, dimNames;
  SmallVector<int64_t> dimSizes;
  auto add = [&](Array& array, SmallVectorImpl<Attribute>* to) {
    SmallVector<int64_t> shape, dims;
    for (auto [dim, lane] : llvm::zip(array.dims, array.lanes))
      if (lane < 0) {
        dims.push_back(blockDim(dim));
        shape.push_back(dim.isFree() ? ShapedType::kDynamic : dim.getSize());
      }
    types.push_back(MemRefType::get(shape, compute));
    arrays.push_back(&array);
    if (to)
      to->push_back(array.slot);
    else if (!array.slot)
      temporaryDims.push_back(b.getDenseI64ArrayAttr(dims));
  };
  for (Array& array : states)
    add(array, &slots[0]);
  for (Array& array : inputs)
    add(array, &slots[1]);
  for (Array& array : params)
    add(array, &slots[2]);
  for (Result& state : nextStates)
    add(state.to, nullptr);
  for (Result& output : outputs)
    add(output.to, &slots[3]);
  for (Array& array : temporaries)
    add(array, nullptr);
  for (DimAttr dim : group.lanes)
    laneAxes.push_back(b.getStringAttr(dim.str()));
  for (DimAttr dim : blockDims) {
    dimNames.push_back(b.getStringAttr(dim.str()));
    dimSizes.push_back(dim.getSize());
  }
  b.setInsertionPointToEnd(&into);
  auto system = newton::DenseSystemOp::create(
      b, loc, b.getStringAttr(equations.name(group)), TypeAttr::get(compute),
      b.getArrayAttr(laneAxes), b.getArrayAttr(dimNames), b.getDenseI64ArrayAttr(dimSizes),
      b.getArrayAttr(slots[0]), b.getArrayAttr(slots[1]), b.getArrayAttr(slots[2]),
      b.getArrayAttr(slots[3]), b.getArrayAttr(temporaryDims), equations.phase());
  Block& block = system.getStep().emplaceBlock();
  for (size_t i = 0; i < blockDims.size(); ++i)
    sizes.push_back(block.addArgument(b.getIndexType(), loc));
  for (auto [type, array] : llvm::zip(types, arrays))
    array->memref = block.addArgument(type, array->loc);
  b.setInsertionPointToStart(&block);
}

SmallVector<unsigned> DenseLowering::blockAxes(const Frame& frame, int64_t except) {
  SmallVector<unsigned> along;
  for (unsigned axis = 0; axis < frame.dims.size(); ++axis)
    if (frame.lanes[axis] < 0 && axis != except)
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

static SmallVector<Value> indices(const Lanes& lanes, ArrayRef<Value> places) {
  SmallVector<Value> result;
  for (auto [lane, place] : llvm::zip(lanes, places))
    if (lane < 0)
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
      if (!isStored(operand))
        needed.insert(operand.getDefiningOp());
  SmallVector<Operation*> ordered(needed.begin(), needed.end());
  llvm::sort(ordered, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  DenseMap<Value, Value> scalar;
  for (Operation* op : ordered) {
    loc = op->getLoc();
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
    from.lanes.insert(from.lanes.begin() + axis, -1);
    from.places.insert(from.places.begin() + axis, Value());
  }
  from.lanes[axis] = -1;
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
  size_t batch = dimsOf(left).size() - 2;
  SmallVector<Value> start(rows, zero()), rowPlaces;
  for (int64_t r = 0; r < rows; ++r)
    rowPlaces.push_back(!first || r == 0 ? first : arith::AddIOp::create(b, loc, first, number(r)));
  Frame ofLeft{dimsOf(left), Lanes(frame.lanes.begin(), frame.lanes.begin() + batch + 1),
               SmallVector<Value>(frame.places.begin(), frame.places.begin() + batch + 1)};
  Frame ofRight{dimsOf(right), Lanes(frame.lanes.begin(), frame.lanes.begin() + batch),
                SmallVector<Value>(frame.places.begin(), frame.places.begin() + batch)};
  ofLeft.lanes.push_back(-1);
  ofRight.lanes.push_back(-1);
  ofRight.lanes.insert(ofRight.lanes.end(), frame.lanes.begin() + batch + 1, frame.lanes.end());
  DimAttr contracted = dimsOf(left).back();
  auto loop = scf::ForOp::create(b, loc, number(0), sizeOf(contracted), number(1), start);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value j = loop.getInductionVar();
    ofLeft.places.push_back(j);
    ofRight.places.push_back(j);
    ofRight.places.append(frame.places.begin() + batch + 1, frame.places.end());
    Value factor = read(right, ofRight);
    SmallVector<Value> sums;
    for (int64_t r = 0; r < rows; ++r) {
      ofLeft.places[batch] = rowPlaces[r];
      Value product = arith::MulFOp::create(b, loc, read(left, ofLeft), factor);
      sums.push_back(arith::AddFOp::create(b, loc, product, loop.getRegionIterArg(r)));
    }
    scf::YieldOp::create(b, loc, sums);
  }
  for (int64_t r = 0; r < rows; ++r) {
    frame.places[batch] = rowPlaces[r];
    write(to, frame, loop.getResult(r));
  }
}

void DenseLowering::buildProduct(MatmulOp op, Frame& frame, const Array& to) {
  unsigned rowAxis = dimsOf(op.getLhs()).size() - 2;
  loops(frame, blockAxes(frame, rowAxis), [&] {
    if (frame.lanes[rowAxis] >= 0)
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

LogicalResult DenseLowering::lower(Block& into) {
  if (failed(listResults()))
    return failure();
  demand();
  listArrays();
  createSystem(into);
  buildStep();
  return success();
}

LogicalResult rnnc::lowerDense(const Equations& equations, const StateGroup& group,
                               const LaneAxes& axes, Type compute, Block& into) {
  return DenseLowering(equations, group, axes, compute).lower(into);
}
