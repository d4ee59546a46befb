//===- oracle.cpp - an example by the interpreter, and as slots ------------------------------===//

#include "oracle.hpp"

#include "Newton/Newton.h"
#include "Rnn/Rnn.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"
#include "rnnc/Interpreter.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <random>

using namespace rnnc;
using namespace emitted_test;

namespace {

using Role = Interpreter::Declaration::Role;

/// An array of the call, stored in the type of computation.
struct Stored {
  std::vector<int64_t> shape; ///< (batch, time, dims...) or (batch, dims...) or (dims...)
  std::vector<unsigned char> bytes;
  std::vector<double> drawn;
};

/// Sizes for the free dims: nothing that a warp or a chunk divides.
const std::map<std::string, int64_t> kSizes = {{"d", 5}, {"n", 5}, {"channels", 5}, {"heads", 3}};
/// The dense cell's one axis is its block, as CMakeLists.txt has it printed.
constexpr int64_t kDenseStates = 12;

/// The cell of a system's name, CELL_state.
template <class Cell>
Cell findCell(mlir::ModuleOp module, llvm::StringRef system) {
  for (Cell cell : module.getOps<Cell>())
    if (system.starts_with((cell.getSymName() + "_").str()))
      return cell;
  return {};
}

/// What a unit of CUDA computes is the step alone: makes of its stages' arrays, which a caller has
/// to give, inputs and params, and of what is left for stages behind it, outputs.
void takeStep(rnn::CellOp cell) {
  llvm::StringSet<> set;
  for (auto output : cell.getStep().getBody().front().getOps<rnn::SetOutputOp>())
    set.insert(output.getName());
  for (mlir::Operation& op : llvm::make_early_inc_range(cell.getBody().front())) {
    auto hoisted = llvm::dyn_cast<rnn::HoistedOp>(op);
    auto output = llvm::dyn_cast<rnn::OutputOp>(op);
    mlir::OpBuilder at(&op);
    if (hoisted && set.contains(hoisted.getSymName()))
      rnn::OutputOp::create(at, op.getLoc(), hoisted.getSymNameAttr(), hoisted.getTypeAttr());
    else if (hoisted && hoisted.getPhase() == rnn::Phase::Before)
      rnn::InputOp::create(at, op.getLoc(), hoisted.getSymNameAttr(), hoisted.getTypeAttr(),
                           at.getF64FloatAttr(0));
    else if (hoisted && hoisted.getPhase() == rnn::Phase::Call)
      rnn::ParamOp::create(at, op.getLoc(), hoisted.getSymNameAttr(), hoisted.getTypeAttr());
    if (hoisted || llvm::isa<rnn::StageOp>(op) || (output && !set.contains(output.getSymName())))
      op.erase();
  }
}

} // namespace

struct Oracle::State {
  bool isDouble;
  std::string error, system;
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  std::optional<Interpreter> interpreter;
  std::map<std::string, int64_t> dims;
  long long batch = 0, time = 0;
  // By name; a state has three.
  std::map<std::string, Stored> inputs, params, initial, finals, sequences;

  size_t width() const { return isDouble ? 8 : 4; }
  bool load(const std::string& file);
  newton::SystemOp find();
  bool isResultOf(const std::string& name);
  Stored make(bool hasBatch, bool hasTime, const std::vector<int64_t>& dims);
  void fill(Stored& array, std::mt19937& random, double scale, double mean);
  Place place(std::map<std::string, Stored>& arrays, newton::SlotAttr slot, bool hasBatch,
              bool hasTime, size_t laneRank);
  double value(const Stored& array, size_t i) const;
  Arrays arrays(const std::map<std::string, Stored>& from) const;
};

bool Oracle::State::load(const std::string& file) {
  DiagnosticEngine engine;
  if (!readSource(file, {}, engine))
    return false;
  FrontendOptions options;
  if (file.ends_with("dense.rnn"))
    options.dims["d"] = kDenseStates;
  auto module = parseToRnn(*context, options, engine);
  if (!module)
    return false;
  if (!hoistStages(*module))
    return false;
  rnn::CellOp cell = findCell<rnn::CellOp>(*module, system);
  takeStep(cell);
  for (auto dim : cell.decls<rnn::DimDeclOp>())
    if (auto size = kSizes.find(dim.getSymName().str()); size != kSizes.end())
      dims[size->first] = file.ends_with("dense.rnn") ? kDenseStates : size->second;
  auto made = Interpreter::create(cell, dims);
  if (!made) {
    error = llvm::toString(made.takeError());
    return false;
  }
  interpreter = std::move(*made);
  newton = mlir::OwningOpRef<mlir::ModuleOp>(module->clone());
  return lowerToSolve(*newton, {.compute = isDouble ? "f64" : "f32"});
}

newton::SystemOp Oracle::State::find() {
  return findCell<newton::CellOp>(*newton, system).lookupSymbol<newton::SystemOp>(system);
}

/// Whether the system gives the state or output of that name.
bool Oracle::State::isResultOf(const std::string& name) {
  newton::SystemOp op = find();
  for (mlir::ArrayAttr list : {op.getStates(), op.getOutputs()})
    for (auto slot : list.getAsRange<newton::SlotAttr>())
      if (slot.getTensor().getValue() == name)
        return true;
  return false;
}

Stored Oracle::State::make(bool hasBatch, bool hasTime, const std::vector<int64_t>& rest) {
  Stored array;
  if (hasBatch)
    array.shape.push_back(batch);
  if (hasTime)
    array.shape.push_back(time);
  array.shape.insert(array.shape.end(), rest.begin(), rest.end());
  int64_t count = 1;
  for (int64_t size : array.shape)
    count *= size;
  array.drawn.assign(count, std::nan(""));
  array.bytes.assign(count * width(), 0xFF); // NaN
  return array;
}

void Oracle::State::fill(Stored& array, std::mt19937& random, double scale, double mean) {
  std::normal_distribution<double> normal;
  for (size_t i = 0; i < array.drawn.size(); ++i) {
    float number = static_cast<float>(mean + scale * normal(random)); // exact in both types
    array.drawn[i] = number;
    if (isDouble)
      std::memcpy(&array.bytes[8 * i], &array.drawn[i], 8);
    else
      std::memcpy(&array.bytes[4 * i], &number, 4);
  }
}

double Oracle::State::value(const Stored& array, size_t i) const {
  double twice = 0;
  float single = 0;
  if (isDouble)
    std::memcpy(&twice, &array.bytes[8 * i], 8);
  else
    std::memcpy(&single, &array.bytes[4 * i], 4);
  return isDouble ? twice : single;
}

/// The runtime's arithmetic: an element moves the base, a lane axis gives a stride.
Place Oracle::State::place(std::map<std::string, Stored>& arrays, newton::SlotAttr slot,
                           bool hasBatch, bool hasTime, size_t laneRank) {
  Stored& array = arrays.at(slot.getTensor().getValue().str());
  size_t lead = hasBatch + hasTime;
  std::vector<long long> strides(array.shape.size(), 1);
  for (size_t axis = strides.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * array.shape[axis];
  Place place;
  place.strides.assign(strides.begin(), strides.begin() + lead);
  place.strides.resize(lead + laneRank, 0);
  long long offset = 0;
  for (auto [axis, lane] : llvm::enumerate(slot.getLanes())) {
    offset += slot.getAt()[axis] * strides[lead + axis];
    if (lane >= 0)
      place.strides[lead + lane] += strides[lead + axis];
  }
  place.data = array.bytes.data() + offset * width();
  return place;
}

Arrays Oracle::State::arrays(const std::map<std::string, Stored>& from) const {
  Arrays result;
  for (auto& [name, array] : from)
    result[name] = {array.shape, array.drawn};
  return result;
}

Oracle::Oracle(const std::string& file, const std::string& system, bool isDouble)
    : s(std::make_unique<State>()) {
  s->isDouble = isDouble;
  s->system = system;
  if (!s->load(file) && s->error.empty())
    s->error = file + " does not compile";
}

Oracle::~Oracle() = default;

const std::string& Oracle::error() const { return s->error; }

Call Oracle::draw(long long batch, long long time, unsigned seed) {
  s->batch = batch;
  s->time = time;
  std::mt19937 random(seed);
  for (const auto& d : s->interpreter->declarations()) {
    if (d.role == Role::Input)
      s->fill(s->inputs[d.name] = s->make(true, true, d.shape), random, 0.5, 0);
    if (d.role == Role::Param)
      s->fill(s->params[d.name] = s->make(false, false, d.shape), random, 0.15, 0.3);
    if (d.role == Role::State) {
      s->fill(s->initial[d.name] = s->make(true, false, d.shape), random, 0.1, 0.4);
      s->finals[d.name] = s->make(true, false, d.shape);
    }
    if (d.role == Role::State || d.role == Role::Output)
      s->sequences[d.name] = s->make(true, true, d.shape);
  }
  newton::SystemOp system = s->find();
  Call call;
  call.batch = batch;
  call.time = time;
  for (mlir::Attribute axis : system.getLaneAxes())
    call.lanes.push_back(s->dims.at(llvm::cast<mlir::StringAttr>(axis).getValue().str()));
  size_t rank = call.lanes.size();
  for (auto slot : system.getInputs().getAsRange<newton::SlotAttr>())
    call.inputs.push_back(s->place(s->inputs, slot, true, true, rank));
  for (auto slot : system.getParams().getAsRange<newton::SlotAttr>())
    call.params.push_back(s->place(s->params, slot, false, false, rank));
  for (auto slot : system.getOutputs().getAsRange<newton::SlotAttr>())
    call.outputs.push_back(s->place(s->sequences, slot, true, true, rank));
  for (auto slot : system.getStates().getAsRange<newton::SlotAttr>())
    call.states.push_back({s->place(s->initial, slot, true, false, rank),
                           s->place(s->finals, slot, true, false, rank),
                           s->place(s->sequences, slot, true, true, rank), 0});
  return call;
}

std::string Oracle::firstDifference(double bound) const {
  auto solved = s->interpreter->run(s->batch, s->time, s->arrays(s->inputs), s->arrays(s->params),
                                    s->arrays(s->initial));
  if (!solved)
    return llvm::toString(solved.takeError());
  for (const auto& d : s->interpreter->declarations()) {
    if (!s->isResultOf(d.name))
      continue;
    auto compare = [&](const Stored& got, const Array& wanted, const char* what) -> std::string {
      for (size_t i = 0; i < wanted.data.size(); ++i) {
        double a = s->value(got, i), b = wanted.data[i];
        if (!(std::fabs(a - b) <= bound * (1 + std::fabs(b))))
          return std::string(what) + " of " + d.name + ", element " + std::to_string(i) + ": " +
                 std::to_string(a) + ", the interpreter gives " + std::to_string(b);
      }
      return "";
    };
    if (!d.hidden)
      if (auto text = compare(s->sequences.at(d.name), solved->sequences.at(d.name), "sequence");
          !text.empty())
        return text;
    if (d.role == Role::State)
      if (auto text = compare(s->finals.at(d.name), solved->finals.at(d.name), "last value");
          !text.empty())
        return text;
  }
  return "";
}
