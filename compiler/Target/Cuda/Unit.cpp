//===- Unit.cpp - a cell as a translation unit of CUDA C++ -----------------------------------===//

#include "Target/Cuda/Dense.h"
#include "Target/Cuda/Policy.h"
#include "Target/Cuda/PrintCell.h"
#include "rnnc/Cuda.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

#include <variant>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::cuda;
using llvm::Twine;

namespace {

/// What a kernel's parameters may take since CUDA 12.1.
constexpr int64_t kParameterBytes = 32764;

struct PlacedSystem {
  PreparedSystem prepared;
  Policy policy;
  int64_t laneRank, argumentBytes;
};

/// A thread of a dense system's kernel runs its lanes alone, so a block can have any size.
constexpr int64_t kDenseThreads = 128;

newton::CellOp findCell(ModuleOp module, StringRef name) {
  for (auto cell : module.getOps<newton::CellOp>())
    if (name.empty() || cell.getSymName() == name)
      return cell;
  return {};
}

/// Whether a stage reads the tensor at every step.
bool isReadByStages(newton::CellOp cell, StringRef tensor) {
  return llvm::any_of(cell.stages(), [&](Operation* stage) {
    if (auto product = dyn_cast<newton::ProductOp>(stage))
      return product.getSequence() == tensor;
    if (auto outer = dyn_cast<newton::OuterOp>(stage))
      return outer.getLeft().getTensor().getValue() == tensor ||
             outer.getRight().getTensor().getValue() == tensor;
    auto inputs = stage->getAttrOfType<ArrayAttr>("inputs").getAsRange<newton::SlotAttr>();
    return llvm::any_of(
        inputs, [&](newton::SlotAttr slot) { return slot.getTensor().getValue() == tensor; });
  });
}

/// States that a caller may want as a sequence: to have it, or to compute of it what follows.
std::vector<int64_t> storedStates(newton::SystemOp system) {
  auto cell = cast<newton::CellOp>(system->getParentOp());
  std::vector<int64_t> stored;
  for (auto [i, slot] : llvm::enumerate(system.getStates().getAsRange<newton::SlotAttr>())) {
    StringRef name = slot.getTensor().getValue();
    auto tensor = cast<newton::TensorOp>(SymbolTable::lookupSymbolIn(cell, slot.getTensor()));
    if (!tensor.getHidden() || isReadByStages(cell, name))
      stored.push_back(i);
  }
  return stored;
}

SystemShape shapeOf(newton::SystemOp system) {
  SystemShape shape{};
  shape.states = system.numStates();
  shape.inputs = system.numInputs();
  shape.params = system.numParams();
  shape.outputs = system.numOutputs();
  shape.stored = storedStates(system).size();
  shape.carry = system.hasJacobian() ? system.getStructure()->numCarry() : 0;
  shape.bytes = system.getCompute().getIntOrFloatBitWidth() / 8;
  return shape;
}

/// sizeof(rnn::forward_args<...>) of runtime/device/args.cuh; the unit asserts it.
int64_t argumentBytes(const SystemShape& shape, int64_t rank) {
  auto slot = [](int64_t axes) { return 8 + 8 * std::max<int64_t>(axes, 1); };
  auto some = [](int64_t n) { return std::max<int64_t>(n, 1); };
  int64_t sizes = 8 * (2 + some(rank)), solve = 8 * 3;
  return sizes + solve + shape.states * (2 * slot(1 + rank) + slot(2 + rank) + 8) +
         some(shape.inputs) * slot(2 + rank) + some(shape.params) * slot(rank) +
         some(shape.outputs) * slot(2 + rank);
}

class UnitPrinter {
public:
  UnitPrinter(newton::CellOp cell, const CudaOptions& options, const Architecture& arch)
      : cell(cell), options(options), arch(arch) {}
  std::optional<CudaUnit> run();

private:
  LogicalResult place(newton::SystemOp system, NameScope& names);
  LogicalResult placeDense(newton::DenseSystemOp system, NameScope& names);
  void printHoisted(LineWriter& out);
  void printHead(LineWriter& out);
  CudaEntry printSystem(PlacedSystem& system, LineWriter& out);
  CudaEntry printDense(PreparedDense& system, LineWriter& out);
  std::string math(StringRef real) const;
  void printPolicy(PlacedSystem& system, LineWriter& out);
  void printEntry(PlacedSystem& system, LineWriter& out);

  newton::CellOp cell;
  const CudaOptions& options;
  const Architecture& arch;
  std::vector<std::variant<PlacedSystem, PreparedDense>> systems; // in the order of the cell
};

} // namespace

/// A diagonal in place of the Jacobian is for those who ask for chunks.
static bool wantsJacobian(newton::SystemOp system, const CudaOptions& options) {
  return system.hasJacobian() &&
         (!system.getDiagonal() || options.schedule == CudaSchedule::Parallel ||
          options.chunks > 1 || options.chunk > 0);
}

LogicalResult UnitPrinter::place(newton::SystemOp system, NameScope& names) {
  SystemShape shape = shapeOf(system);
  bool jacobian = wantsJacobian(system, options);
  if (!jacobian)
    shape.carry = 0;
  if (shape.states == 0)
    return system.emitError() << "a system without a state has nothing to solve [RNN0501]";
  int64_t rank = system.getLaneAxes().size(), bytes = argumentBytes(shape, rank);
  if (bytes > kParameterBytes)
    return system.emitError() << "a lane has "
                              << shape.states + shape.inputs + shape.params + shape.outputs
                              << " scalars, whose addresses take " << bytes
                              << " bytes; a CUDA kernel's parameters have " << kParameterBytes
                              << " [RNN0502]";
  auto prepared = prepare(system, storedStates(system), jacobian, names);
  if (failed(prepared))
    return failure();
  shape.source = prepared->reads.source;
  shape.back = prepared->reads.back;
  PolicyRequest request{.chunk = options.chunk,
                        .chunks = options.chunks,
                        .sequential = options.schedule == CudaSchedule::Sequential,
                        .parallel = options.schedule == CudaSchedule::Parallel,
                        .registers = options.staging == CudaStaging::Registers};
  auto policy = choosePolicy(arch, shape, request);
  if (auto wish = cell.getChunk(); policy && policy->chunks > 1 && !request.chunk && wish) {
    request.chunk = *wish; // the file's: where it does not fit, the rule's own choice stands
    request.chunks = policy->chunks;
    if (auto wished = choosePolicy(arch, shape, request))
      policy = std::move(wished);
    else
      llvm::consumeError(wished.takeError());
  }
  if (!policy)
    return system.emitError() << llvm::toString(policy.takeError()) << " [RNN0503]";
  systems.push_back(PlacedSystem{std::move(*prepared), *policy, rank, bytes});
  return success();
}

LogicalResult UnitPrinter::placeDense(newton::DenseSystemOp system, NameScope& names) {
  if (options.chunk || options.chunks || options.schedule == CudaSchedule::Parallel ||
      options.staging == CudaStaging::Registers)
    return system.emitError()
           << "a dense block runs sequentially, a thread a lane: it has no chunks "
              "to choose [RNN0503]";
  auto prepared = prepareDense(system, names);
  if (failed(prepared))
    return failure();
  if (int64_t bytes = denseArgumentBytes(*prepared); bytes > kParameterBytes)
    return system.emitError() << "the addresses of its arrays take " << bytes
                              << " bytes; a CUDA kernel's parameters have " << kParameterBytes
                              << " [RNN0502]";
  systems.push_back(std::move(*prepared));
  return success();
}

static StringRef typeName(Type compute) { return compute.isF64() ? "double" : "float"; }

/// The math template's name with its type.
std::string UnitPrinter::math(StringRef real) const {
  return ("rnn::" + Twine(options.math == CudaMath::Special ? "special" : "polynomial") + "<" +
          real + ">")
      .str();
}

static std::string policyText(const Policy& policy) {
  if (policy.chunks == 1)
    return "W = 1, sequential";
  return ("W = " + Twine(policy.chunks) + " chunks of C = " + Twine(policy.steps) + " steps").str();
}

/// Whether the stage sets the tensor.
static bool sets(Operation* stage, StringRef tensor) {
  if (auto product = dyn_cast<newton::ProductOp>(stage))
    return llvm::any_of(product.getResults().getAsValueRange<FlatSymbolRefAttr>(),
                        [&](StringRef result) { return result == tensor; });
  if (auto outer = dyn_cast<newton::OuterOp>(stage))
    return outer.getResult().getTensor().getValue() == tensor;
  auto outputs = stage->getAttrOfType<ArrayAttr>("outputs").getAsRange<newton::SlotAttr>();
  return llvm::any_of(outputs,
                      [&](newton::SlotAttr slot) { return slot.getTensor().getValue() == tensor; });
}

/// What the unit's callers compute before it runs, or from what it leaves; and the outputs that no
/// system of the unit sets.
void UnitPrinter::printHoisted(LineWriter& out) {
  llvm::StringSet<> used;
  for (Operation* system : cell.systems())
    for (StringRef list : {"inputs", "params", "outputs"})
      for (auto slot : system->getAttrOfType<ArrayAttr>(list).getAsRange<newton::SlotAttr>())
        used.insert(slot.getTensor().getValue());
  for (auto tensor : cell.ops<newton::TensorOp>())
    if (tensor.getHolds() && used.contains(tensor.getSymName()))
      out.line("// " + LineWriter::printable(tensor.getSymName()) +
               (tensor.getRole() == newton::Role::Derived ? " = " : "[t] = ") +
               LineWriter::printable(*tensor.getHolds()));
  for (auto tensor : cell.ops<newton::TensorOp>()) {
    if (tensor.getRole() != newton::Role::Output || !tensor.getHolds())
      continue;
    auto stages = cell.stages();
    auto stage =
        llvm::find_if(stages, [&](Operation* op) { return sets(op, tensor.getSymName()); });
    if (stage == stages.end())
      continue;
    bool isAfter =
        (*stage)->getAttrOfType<newton::PhaseAttr>("phase").getValue() == newton::Phase::After;
    out.line((isAfter ? "// After the solve: " : "// Without the solve: ") +
             LineWriter::printable(tensor.getSymName()) +
             "[t] = " + LineWriter::printable(*tensor.getHolds()));
  }
}

void UnitPrinter::printHead(LineWriter& out) {
  auto place = cell.getLoc()->findInstanceOf<FileLineColLoc>();
  std::string file = place ? LineWriter::printable(place.getFilename()) + "; " : "";
  bool wide = false, anyDense = false, anyScalar = false;
  std::string how;
  for (auto& system : systems) {
    if (auto* placed = std::get_if<PlacedSystem>(&system)) {
      wide |= (*placed->prepared.op).getCompute().isF64();
      how = policyText(placed->policy);
      anyScalar = true;
    } else {
      wide |= (*std::get<PreparedDense>(system).op).getCompute().isF64();
      how = "dense, sequential";
      anyDense = true;
    }
  }
  out.line("// " + LineWriter::printable(cell.getSymName()) + ": " + file +
           (wide ? "f64, " : "f32, ") + arch.name +
           (systems.size() == 1 ? ": " + how : ", " + std::to_string(systems.size()) + " systems"));
  printHoisted(out);
  if (anyDense)
    out.line("#include \"rnn/dense.cuh\"");
  if (anyScalar)
    out.line("#include \"rnn/forward.cuh\"");
  out.line("#include \"rnn/math.cuh\"");
}

void UnitPrinter::printPolicy(PlacedSystem& system, LineWriter& out) {
  const Policy& policy = system.policy;
  StringRef stage = policy.stage == Staging::Registers ? "registers"
                    : policy.stage == Staging::Shared  ? "shared"
                                                       : "shared_single";
  out.line("struct " + system.prepared.policy + " { // " + policyText(policy));
  out.line("  static constexpr int lanes = " + Twine(policy.lanes) +
           ", chunks = " + Twine(policy.chunks) + ", steps = " + Twine(policy.steps) + ";");
  out.line("  static constexpr rnn::staging stage = rnn::staging::" + stage + ";");
  out.line("};");
}

void UnitPrinter::printEntry(PlacedSystem& system, LineWriter& out) {
  PreparedSystem& prepared = system.prepared;
  newton::SystemOp op = *prepared.op;
  StringRef real = typeName(op.getCompute());
  const Policy& policy = system.policy;
  out.line("using " + prepared.instance + " = " + prepared.name + "<" + real + ", " + math(real) +
           ">;");
  out.line("using " + prepared.arguments + " = rnn::forward_args<" + Twine(op.numStates()) + ", " +
           Twine(op.numInputs()) + ", " + Twine(op.numParams()) + ", " + Twine(op.numOutputs()) +
           ", " + Twine(system.laneRank) + ">;");
  out.line("// What the host lays out and launches with.");
  out.line("static_assert(sizeof(" + prepared.arguments + ") == " + Twine(system.argumentBytes) +
           ");");
  out.line("static_assert(rnn::forward_shape<" + prepared.instance + ", " + prepared.policy +
           ">()");
  out.line("                  .bytes(sizeof(" + real + ")) == " + Twine(policy.sharedBytes) + ");");
  out.line();
  out.line("extern \"C\" __global__ void __launch_bounds__(" + Twine(policy.lanes * policy.chunks) +
           ", " + Twine(policy.blocks) + ")");
  out.line(prepared.entry + "(const __grid_constant__ " + prepared.arguments + " args) {");
  out.line("  rnn::forward<" + prepared.instance + ", " + prepared.policy + ">(args);");
  out.line("}");
}

CudaEntry UnitPrinter::printSystem(PlacedSystem& system, LineWriter& out) {
  out.line();
  printCell(system.prepared, out);
  out.line();
  printPolicy(system, out);
  printEntry(system, out);
  const Policy& p = system.policy;
  return {system.prepared.entry, p.lanes,  p.chunks,      p.steps,
          p.sharedBytes,         p.blocks, p.registers(), system.argumentBytes};
}

CudaEntry UnitPrinter::printDense(PreparedDense& system, LineWriter& out) {
  newton::DenseSystemOp op = *system.op;
  StringRef real = typeName(op.getCompute());
  out.line();
  printDenseCell(system, out);
  out.line();
  out.line("using " + system.instance + " = " + system.name + "<" + real + ", " + math(real) +
           ">;");
  out.line("using " + system.arguments + " = rnn::dense_args<" + Twine(op.getStates().size()) +
           ", " + Twine(op.getInputs().size()) + ", " + Twine(op.getParams().size()) + ", " +
           Twine(op.getOutputs().size()) + ", " + Twine(op.getLaneAxes().size()) + ", " +
           Twine(op.getBlockDims().size()) + ", " + Twine(system.blockAxes) + ">;");
  out.line("static_assert(sizeof(" + system.arguments +
           ") == " + Twine(denseArgumentBytes(system)) + "); // what the host lays out");
  out.line();
  out.line("extern \"C\" __global__ void __launch_bounds__(" + Twine(kDenseThreads) + ")");
  out.line(system.entry + "(const __grid_constant__ " + system.arguments + " args) {");
  out.line("  rnn::dense_forward<" + system.instance + ">(args);");
  out.line("}");
  return {system.entry,
          kDenseThreads,
          1,
          1,
          0,
          1,
          std::min<int64_t>(Architecture::kRegisters / kDenseThreads, 255),
          denseArgumentBytes(system)};
}

std::optional<CudaUnit> UnitPrinter::run() {
  NameScope names;
  bool fine = true;
  for (Operation* op : cell.systems()) { // every system's errors are told
    auto dense = dyn_cast<newton::DenseSystemOp>(op);
    fine &= succeeded(dense ? placeDense(dense, names) : place(cast<newton::SystemOp>(op), names));
  }
  if (fine && systems.empty())
    cell.emitError() << "a cell without a system has nothing to solve [RNN0501]";
  if (!fine || systems.empty())
    return std::nullopt;
  CudaUnit unit;
  unit.name = spell(cell.getSymName()) + ".cu";
  LineWriter out(unit.name);
  printHead(out);
  for (auto& system : systems) {
    auto* placed = std::get_if<PlacedSystem>(&system);
    unit.entries.push_back(placed ? printSystem(*placed, out)
                                  : printDense(std::get<PreparedDense>(system), out));
  }
  unit.text = out.take();
  return unit;
}

llvm::Error rnnc::checkCudaArchitecture(StringRef name) {
  return findArchitecture(name).takeError();
}

std::string rnnc::cudaArchitectureNames() { return architectureNames(); }

std::optional<CudaUnit> rnnc::emitCuda(ModuleOp newton, StringRef name,
                                       const CudaOptions& options) {
  auto arch = findArchitecture(options.arch);
  newton::CellOp cell = findCell(newton, name);
  if (arch && cell)
    return UnitPrinter(cell, options, *arch).run();
  if (!arch)
    newton.emitError() << llvm::toString(arch.takeError());
  if (!cell)
    newton.emitError() << "the module has no cell '" << name << "'";
  return std::nullopt;
}
