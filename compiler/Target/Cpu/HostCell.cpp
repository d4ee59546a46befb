//===- HostCell.cpp - a cell compiled for this process ---------------------------------------===//

#include "Target/Cpu/HostCell.h"

#include "Analysis/Adjoint.h"
#include "Analysis/Cost.h"
#include "Target/Cpu/EmitKernel.h"

#include <chrono>

using namespace mlir;
using namespace rnnc;
using llvm::Expected;

namespace {

/// The cost model's clock: Analysis/Cost counts cycles, the runtime's estimates are in nanoseconds.
constexpr double kNanosecondsPerCycle = 0.25;
/// Cycles for one number of the carry that finds no register, loaded and stored at every step;
/// about four stay in registers beside a wide step.
constexpr double kCarryInMemory = 1.5;
constexpr int64_t kCarryInRegisters = 4;

/// The kernel of `width` columns. Where the carries of all of them find no registers, the Jacobians
/// come register by register behind the step: measured with blocks of four, 18 to 28 % less time;
/// with the four numbers of a block of two up to a third more.
KernelShape shapeOf(Operation* op, const CpuTarget& target, int64_t width, bool jacobian) {
  auto system = dyn_cast<newton::SystemOp>(op);
  if (!system || !jacobian)
    return {width, jacobian, target.fma, width};
  int64_t narrow = target.narrow(system.getCompute().getIntOrFloatBitWidth());
  int64_t registers = target.vectorBits == 512 ? 32 : 16;
  bool spills = system.getStructure()->numCarry() * (width / narrow) > registers;
  return {width, true, target.fma, spills ? narrow : width};
}

/// Operations of a step from which on there is a kernel of one vector only.
constexpr int64_t kLongStep = 2000;

/// A multiply-add of a dense block with one vector: two operands are loaded for it.
constexpr double kCyclesAParam = 1;
/// An element of its diagonal: the element's functions' derivatives, from what the step stored.
constexpr double kCyclesADiagonal = 60;

} // namespace

const char* HostCell::text(StringRef string) {
  strings.push_back(string.str());
  return strings.back().c_str();
}

HostCell::HostCell(newton::CellOp source, CpuTarget target, std::unique_ptr<Jit> jit)
    : owner(ModuleOp::create(source.getLoc())), target(std::move(target)), jit(std::move(jit)) {
  cell = cast<newton::CellOp>(source->clone());
  owner->push_back(cell);
  describeTensors();
  for (Operation* op : cell.systems()) {
    systems.push_back(describeSystem(op));
    ops.push_back(op);
  }
  describeStages();
  module.abi_version = RNN_ABI_VERSION;
  module.size = sizeof(module);
  module.cell = text(cell.getSymName());
  module.tensors = tensors.size();
  module.tensor = tensors.data();
  module.systems = systems.size();
  module.system = systems.data();
  if (auto tolerance = cell.getTolerance()) {
    module.solve.has_tolerance = 1;
    module.solve.tolerance = tolerance->convertToDouble();
  }
  module.solve.max_sweeps = cell.getMaxSweeps().value_or(0);
  module.solve.chunk = cell.getChunk().value_or(0);
  module.stages = stages.size();
  module.stage = stages.data();
  module.resolve_context = this;
  module.resolve = [](void* self, uint32_t system, uint32_t kernel, uint32_t jacobian) {
    return static_cast<HostCell*>(self)->resolve(system, kernel, jacobian != 0);
  };
}

double HostCell::compileSeconds() const {
  std::lock_guard lock(mutex);
  return seconds + (adjoint ? adjoint->compileSeconds() : 0);
}

int64_t HostCell::compiledKernels() const {
  std::lock_guard lock(mutex);
  return static_cast<int64_t>(compiled.size()) + (adjoint ? adjoint->compiledKernels() : 0);
}

std::string HostCell::lastError() const {
  std::lock_guard lock(mutex);
  return error.empty() && adjoint ? adjoint->lastError() : error;
}

bool HostCell::isTooLong() const {
  std::lock_guard lock(mutex);
  return tooLong || (adjoint && adjoint->isTooLong());
}

void HostCell::setAdjoint(std::unique_ptr<HostCell> cell) {
  adjoint = std::move(cell);
  for (auto tensor : adjoint->cell.ops<newton::TensorOp>()) {
    auto of = tensor->getAttrOfType<rnn::OfAttr>(kOfAttr);
    if (!of)
      continue;
    rnn_tensor_desc& desc = adjoint->tensors[adjoint->tensorIndex.lookup(tensor.getSymName())];
    desc.relation = static_cast<rnn_relation>(1 + static_cast<int>(of.getRelation()));
    desc.of = tensorIndex.lookup(of.getName().getValue());
    desc.back = of.getBack();
  }
  module.adjoint = &adjoint->module;
}

void HostCell::describeTensors() {
  for (auto tensor : cell.ops<newton::TensorOp>()) {
    tensorIndex[tensor.getSymName()] = tensors.size();
    auto& dims = names.emplace_back();
    for (Attribute dim : tensor.getDims())
      dims.push_back(text(cast<StringAttr>(dim)));
    auto& size = sizes.emplace_back(tensor.getSizes().begin(), tensor.getSizes().end());
    tensors.push_back({text(tensor.getSymName()), static_cast<rnn_role>(tensor.getRole()),
                       static_cast<uint32_t>(dims.size()), dims.data(), size.data(),
                       tensor.getFill().convertToDouble(), tensor.getHidden(), 0,
                       tensor.getHolds() ? text(*tensor.getHolds()) : nullptr, RNN_RELATION_NONE, 0,
                       0});
  }
}

rnn_system_desc HostCell::describeSystem(Operation* op) {
  if (auto dense = dyn_cast<newton::DenseSystemOp>(op))
    return describeDense(dense);
  return describeScalars(cast<newton::SystemOp>(op));
}

const rnn_product* HostCell::describeProduct(newton::ProductOp product) {
  auto indexOf = [&](Attribute name) -> uint32_t {
    return tensorIndex.lookup(cast<FlatSymbolRefAttr>(name).getValue());
  };
  auto& list = parts.emplace_back();
  for (auto [weight, bias, result] :
       llvm::zip(product.getWeights(), product.getBiases(), product.getResults()))
    list.push_back({indexOf(weight), isa<UnitAttr>(bias) ? -1 : static_cast<int32_t>(indexOf(bias)),
                    indexOf(result)});
  products.push_back({indexOf(product.getSequenceAttr()), static_cast<uint32_t>(product.getBack()),
                      static_cast<uint32_t>(product.getHeads()), product.getLeft() ? 1u : 0u,
                      static_cast<uint32_t>(list.size()), list.data()});
  return &products.back();
}

const rnn_outer* HostCell::describeOuter(newton::OuterOp outer) {
  ArrayAttr all =
      ArrayAttr::get(outer.getContext(), {outer.getLeft(), outer.getRight(), outer.getResult()});
  const std::vector<rnn_slot>& list = slots(all);
  auto axes = llvm::count_if(outer.getResult().getLanes(), [](int64_t lane) { return lane >= 0; });
  outers.push_back({list[0], list[1], list[2], static_cast<uint32_t>(axes),
                    outer.getGuarded() ? 1u : 0u, outer.getNegative() ? 1u : 0u});
  return &outers.back();
}

void HostCell::describeStages() {
  for (Operation* op : cell.stages()) {
    rnn_stage stage{};
    if (auto product = dyn_cast<newton::ProductOp>(op)) {
      stage.phase = static_cast<rnn_phase>(product.getPhase());
      stage.product = describeProduct(product);
    } else if (auto outer = dyn_cast<newton::OuterOp>(op)) {
      stage.phase = static_cast<rnn_phase>(outer.getPhase());
      stage.outer = describeOuter(outer);
    } else {
      auto phase = op->getAttrOfType<newton::PhaseAttr>("phase");
      stage.phase = static_cast<rnn_phase>(phase.getValue());
      stage.map = &maps.emplace_back(describeSystem(op));
    }
    stages.push_back(stage);
    ops.push_back(op);
  }
  for (auto tensor : cell.ops<newton::TensorOp>())
    if (auto start = tensor.getStart())
      tensors[tensorIndex[tensor.getSymName()]].start = 1 + tensorIndex.lookup(*start);
}

std::vector<rnn_slot>& HostCell::slots(ArrayAttr list) {
  auto& result = slotLists.emplace_back();
  for (auto attr : list.getAsRange<newton::SlotAttr>()) {
    rnn_slot slot{};
    slot.tensor = tensorIndex.lookup(attr.getTensor().getValue());
    slot.back = attr.getBack();
    for (auto [axis, lane] : llvm::enumerate(attr.getLanes())) {
      slot.lane_axis[axis] = lane;
      slot.at[axis] = attr.getAt()[axis];
    }
    result.push_back(slot);
  }
  return result;
}

/// The size of a lane axis: that of any tensor axis of a result that runs with it.
static int64_t laneSize(newton::CellOp cell, ArrayAttr results, int64_t lane) {
  for (auto slot : results.getAsRange<newton::SlotAttr>())
    for (auto [axis, runsWith] : llvm::enumerate(slot.getLanes()))
      if (runsWith == lane)
        return cast<newton::TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()))
            .getSizes()[axis];
  return -1;
}

/// Of a map: what shows the sizes of its lane axes.
static ArrayAttr results(newton::SystemOp map) {
  return map.getOutputs().empty() ? *map.getSums() : map.getOutputs();
}
static ArrayAttr results(newton::DenseSystemOp map) { return map.getOutputs(); }

template <typename SystemT>
rnn_system_desc HostCell::describe(SystemT system) {
  rnn_system_desc desc{};
  desc.name = text(system.getSymName());
  auto& lanes = names.emplace_back();
  auto& laneSizes = sizes.emplace_back();
  for (auto [i, axis] : llvm::enumerate(system.getLaneAxes())) {
    lanes.push_back(text(cast<StringAttr>(axis)));
    laneSizes.push_back(
        laneSize(cell, system.getStates().empty() ? results(system) : system.getStates(), i));
  }
  desc.lane_rank = lanes.size();
  desc.lane_axes = lanes.data();
  desc.lane_sizes = laneSizes.data();
  desc.states = system.getStates().size();
  desc.inputs = system.getInputs().size();
  desc.params = system.getParams().size();
  desc.outputs = system.getOutputs().size();
  desc.state_slots = slots(system.getStates()).data();
  desc.input_slots = slots(system.getInputs()).data();
  desc.param_slots = slots(system.getParams()).data();
  desc.output_slots = slots(system.getOutputs()).data();
  return desc;
}

void HostCell::addKernels(rnn_system_desc& desc, Type compute, int64_t wide) {
  int64_t narrow = target.narrow(compute.getIntOrFloatBitWidth());
  auto& list = kernels.emplace_back();
  SmallVector<int64_t> widths{narrow};
  if (wide > narrow)
    widths.push_back(wide);
  for (int64_t width : widths)
    list.push_back(
        {compute.isF64() ? RNN_F64 : RNN_F32, static_cast<uint32_t>(width), nullptr, nullptr});
  desc.kernels = list.size();
  desc.kernel = list.data();
}

void HostCell::describeCarry(newton::StructureAttr structure, rnn_system_desc& desc) {
  auto& places = carryPlaces.emplace_back();
  for (int64_t i = 0; i < structure.numPlaces(); ++i) {
    int64_t number = structure.getNumbers()[i];
    places.push_back({static_cast<uint32_t>(structure.getCarry()[2 * i]),
                      static_cast<uint32_t>(structure.getCarry()[2 * i + 1]),
                      static_cast<uint32_t>(std::abs(number) - 1), number > 0 ? 1 : -1});
  }
  desc.carry = structure.numCarry();
  desc.carry_places = places.size();
  desc.carry_place = places.data();
  desc.linear = structure.getLinear();
  desc.constant = structure.getConstant();
}

rnn_system_desc HostCell::describeScalars(newton::SystemOp system) {
  rnn_system_desc desc = describe(system);
  if (system.hasJacobian())
    describeCarry(*system.getStructure(), desc);
  desc.diagonal = system.getDiagonal();
  desc.implicit = system.hasImplicit();
  desc.sums = system.numSums();
  desc.sum_slots = desc.sums > 0 ? slots(*system.getSums()).data() : nullptr;
  StepCost step = costOfStep(system), jacobian = costOfJacobian(system);
  desc.cost = {kNanosecondsPerCycle * step.latency, kNanosecondsPerCycle * step.throughput,
               kNanosecondsPerCycle *
                   (jacobian.throughput + 0.5 * static_cast<double>(compositionOperations(system)) +
                    kCarryInMemory * std::max<int64_t>(0, desc.carry - kCarryInRegisters))};
  // A long step keeps the machine busy with one vector; four beside each other are four times the
  // code, and take more than four times as long to compile.
  unsigned bits = system.getCompute().getIntOrFloatBitWidth();
  bool isLong = step.operations > kLongStep;
  addKernels(desc, system.getCompute(), isLong ? target.narrow(bits) : target.wide(bits));
  return desc;
}

rnn_system_desc HostCell::describeDense(newton::DenseSystemOp system) {
  rnn_system_desc desc = describe(system);
  auto& dims = names.emplace_back();
  for (Attribute dim : system.getBlockDims())
    dims.push_back(text(cast<StringAttr>(dim)));
  auto& blockSizes =
      sizes.emplace_back(system.getBlockSizes().begin(), system.getBlockSizes().end());
  auto& arrays = temporaries.emplace_back();
  for (auto attr : system.getTemporaries().getAsRange<DenseI64ArrayAttr>()) {
    rnn_temporary array{};
    for (int64_t dim : attr.asArrayRef())
      array.dim[array.rank++] = dim;
    arrays.push_back(array);
  }
  desc.block_rank = dims.size();
  desc.block_dims = dims.data();
  desc.block_sizes = blockSizes.data();
  desc.temporaries = arrays.size();
  desc.temporary = arrays.data();
  double multiplyAdd = kNanosecondsPerCycle * kCyclesAParam;
  desc.cost = {multiplyAdd, multiplyAdd, kNanosecondsPerCycle * kCyclesADiagonal};
  desc.diagonal = system.hasDiagonal();
  // Eight rows are summed side by side: with two vectors each they fill the registers.
  addKernels(desc, system.getCompute(),
             2 * target.narrow(system.getCompute().getIntOrFloatBitWidth()));
  return desc;
}

/// The kernel of a system of either kind.
static OwningOpRef<ModuleOp> emit(Operation* op, StringRef name, KernelShape shape) {
  if (auto dense = dyn_cast<newton::DenseSystemOp>(op))
    return emitDenseKernel(dense, name, shape);
  return emitKernel(cast<newton::SystemOp>(op), name, shape);
}

const rnn_system_desc* HostCell::systemAt(uint32_t index) const {
  return index < systems.size() ? &systems[index] : stages[index - systems.size()].map;
}

/// Whether there is something for a kernel to multiply beside the step.
static bool hasProduct(Operation* op) {
  if (auto dense = dyn_cast<newton::DenseSystemOp>(op))
    return dense.hasDiagonal();
  return cast<newton::SystemOp>(op).hasJacobian();
}

bool HostCell::hasJacobian(uint32_t system) const { return hasProduct(ops[system]); }

OwningOpRef<ModuleOp> HostCell::build(uint32_t system, uint32_t kernel, bool jacobian,
                                      StringRef name) const {
  int64_t width = systemAt(system)->kernel[kernel].width;
  return emit(ops[system], name, shapeOf(ops[system], target, width, jacobian));
}

static void doNothing(const rnn_shoot_args*) {}

rnn_shoot_fn HostCell::resolve(uint32_t system, uint32_t kernel, bool jacobian) {
  if (!jit)
    return doNothing;
  std::lock_guard lock(mutex);
  rnn_shoot_fn& entry = compiled[{system, kernel, jacobian}];
  if (entry)
    return entry;
  auto start = std::chrono::steady_clock::now();
  std::string name =
      (SymbolTable::getSymbolName(ops[system]).getValue() + "_w" +
       llvm::Twine(systemAt(system)->kernel[kernel].width) + (jacobian ? "_jacobian" : "_shoot"))
          .str();
  OwningOpRef<ModuleOp> built = build(system, kernel, jacobian, name);
  Expected<void*> address = jit->compile(*built, name);
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!address) {
    llvm::handleAllErrors(
        address.takeError(),
        [&](const llvm::StringError& known) {
          error = known.getMessage();
          tooLong = known.convertToErrorCode() == std::errc::value_too_large;
        },
        [&](const llvm::ErrorInfoBase& other) {
          error = other.message();
          tooLong = false;
        });
    compiled.erase({system, kernel, jacobian});
    return nullptr;
  }
  return entry = reinterpret_cast<rnn_shoot_fn>(*address);
}

Expected<CellChoice> rnnc::chooseCell(ModuleOp module, StringRef name, StringRef arch) {
  auto target = cpuTarget(arch);
  if (!target)
    return target.takeError();
  for (auto cell : module.getOps<newton::CellOp>()) {
    if (!name.empty() && cell.getSymName() != name)
      continue;
    WalkResult ready = cell.walk([](newton::ImplicitOp op) {
      return op.hasTrial() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (ready.wasInterrupted())
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          "an implicit step has no trial yet: run the pass derive-trial");
    return CellChoice{cell, std::move(*target)};
  }
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "the module has no cell '" + name + "'");
}

Expected<std::unique_ptr<HostCell>>
rnnc::makeCell(const CellChoice& choice, ModuleOp newton,
               llvm::function_ref<Expected<std::unique_ptr<Jit>>()> makeJit) {
  auto make = [&](newton::CellOp cell) -> Expected<std::unique_ptr<HostCell>> {
    if (!makeJit)
      return std::make_unique<HostCell>(cell, choice.target, nullptr);
    auto jit = makeJit();
    if (!jit)
      return jit.takeError();
    return std::make_unique<HostCell>(cell, choice.target, std::move(*jit));
  };
  auto cell = make(choice.cell);
  if (!cell)
    return cell.takeError();
  newton::CellOp of = choice.cell;
  if (auto gradients =
          newton.lookupSymbol<newton::CellOp>((of.getSymName() + kAdjointSuffix).str())) {
    auto adjoint = make(gradients);
    if (!adjoint)
      return adjoint.takeError();
    (*cell)->setAdjoint(std::move(*adjoint));
  }
  return std::move(*cell);
}

Expected<std::unique_ptr<CompiledCell>> rnnc::compileForHost(ModuleOp newton, StringRef name,
                                                             StringRef arch, Effort effort) {
  auto choice = chooseCell(newton, name, arch);
  if (!choice)
    return choice.takeError();
  choice->target.isOptimized = effort == Effort::Full;
  return makeCell(*choice, newton, [&] { return Jit::create(choice->target); });
}

Expected<std::unique_ptr<CompiledCell>> rnnc::describeForHost(ModuleOp newton, StringRef name,
                                                              StringRef arch) {
  auto choice = chooseCell(newton, name, arch);
  if (!choice)
    return choice.takeError();
  return makeCell(*choice, newton, {});
}

Expected<std::string> rnnc::emitKernels(ModuleOp newton, StringRef name, StringRef arch,
                                        KernelText kind) {
  auto choice = chooseCell(newton, name, arch);
  if (!choice)
    return choice.takeError();
  const CpuTarget& target = choice->target;
  std::string text;
  SmallVector<Operation*> all = choice->cell.stages();
  llvm::erase_if(all, llvm::IsaPred<newton::ProductOp, newton::OuterOp>);
  llvm::append_range(all, choice->cell.systems());
  for (Operation* op : all)
    for (bool jacobian : {false, true}) {
      if (jacobian && !hasProduct(op))
        continue;
      auto dense = dyn_cast<newton::DenseSystemOp>(op);
      Type compute = dense ? dense.getCompute() : cast<newton::SystemOp>(op).getCompute();
      int64_t width = target.narrow(compute.getIntOrFloatBitWidth());
      std::string kernel =
          (SymbolTable::getSymbolName(op).getValue() + (jacobian ? "_jacobian" : "_shoot")).str();
      OwningOpRef<ModuleOp> built = emit(op, kernel, shapeOf(op, target, width, jacobian));
      auto part =
          kind == KernelText::Llvm ? emitLlvm(*built, target) : emitAssembly(*built, target);
      if (!part)
        return part.takeError();
      text += *part + "\n";
    }
  return text;
}
