//===- cuda_test.cpp - the CUDA text of random programs, run on the host ----------------------===//
//
// generated_cuda_test [--seed=S] [--first=N] [--programs=N] [--program=N]: every tenth program.
// Compiling the text takes nearly all of the time, so many units go through the compiler at once,
// and nothing is shrunk: a program that fails here alone is small enough to read.
//
//===----------------------------------------------------------------------------------------------===//

#include "bounds.h"
#include "compiled.h"
#include "cuda_library.h"
#include "generate.h"
#include "numbers.h"
#include "range.h"

#include "check/check.h"
#include "check/probe.h"
#include "rnnc/Cuda.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace rnnc;
using namespace rnnc::generated;

namespace {

constexpr uint64_t kEvery = 3; // at first; not all are one kernel, without stages or learned starts
constexpr size_t kTogether = 10; // units in a file
Range range;

/// One program on its way through CUDA text.
class CudaTrial {
public:
  explicit CudaTrial(uint64_t index)
      : index(index), program(generate(range.seed, index)), compiled(program) {}

  /// False where the cell has no CUDA text, or where `problem` says what is wrong.
  bool emit();
  void run(const std::vector<CudaKernel>& kernels);
  CudaText text;
  std::string problem;
  std::string report() const {
    return "reproduce: generated_cuda_test --seed=" + std::to_string(range.seed) +
           " --program=" + std::to_string(index) + "\n" + problem + "\n" + describe(program) +
           "\n" + printAll(program);
  }

private:
  void prepare();
  emitted_test::Call bind(check::CallBuffers& call, const rnn_system_desc& system) const;
  emitted_test::Place place(check::CallBuffers& call, const rnn_slot& slot, rnn_arg_kind kind,
                            uint32_t lanes) const;
  check::CallBuffers solve(const std::vector<CudaKernel>& kernels, bool isPlain);
  rnn_dtype type() const { return program.setting.isDouble ? RNN_F64 : RNN_F32; }

  uint64_t index;
  Program program;
  Compiled compiled;
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  std::unique_ptr<CompiledCell> cell; // for its table
};

} // namespace

bool CudaTrial::emit() {
  if (!compiled.failure)
    newton = compiled.lower(program.setting.isDouble, /*fma=*/true);
  if (!compiled.failure)
    cell = compiled.compile(*newton);
  if (compiled.failure) {
    problem = compiled.failure->check + ": " + compiled.failure->text;
    return false;
  }
  newton::CellOp op = *newton->getOps<newton::CellOp>().begin();
  for (mlir::Operation* system : op.systems())
    if (llvm::isa<newton::DenseSystemOp>(system))
      return false; // kernels of another kind, with tests of their own
  // What leaves the recurrence, and a learned start, are for the host side of a solve.
  const rnn_module_table& table = *cell->table();
  if (table.stages || std::any_of(table.tensor, table.tensor + table.tensors,
                                  [](const rnn_tensor_desc& t) { return t.start; }))
    return false;
  const Setting::Schedule& way = program.setting.schedules.front();
  CudaOptions options;
  options.chunk = way.chunk;
  options.chunks = way.chunks ? std::min<int64_t>(way.chunks, 5) : 4;
  options.staging = way.tiles == RNN_TILES_PARALLEL ? CudaStaging::Registers : CudaStaging::Auto;
  std::optional<CudaUnit> unit = compiled.cuda(*newton, options);
  while (!unit && options.chunks > 1 &&
         compiled.failure->text.find("RNN0503") != std::string::npos) {
    compiled.failure.reset(); // a tile that shared memory has no room for
    options.chunks /= 2;
    unit = compiled.cuda(*newton, options);
  }
  if (!unit) {
    problem = compiled.failure->check + ": " + compiled.failure->text;
    return false;
  }
  text = {"program_" + std::to_string(index), unit->text, {}};
  for (const CudaEntry& entry : unit->entries)
    text.systems.push_back(entry.name.substr(0, entry.name.rfind("_forward")));
  return true;
}

/// The first element moves the base, a lane axis gives a stride.
emitted_test::Place CudaTrial::place(check::CallBuffers& call, const rnn_slot& slot,
                                     rnn_arg_kind kind, uint32_t lanes) const {
  for (check::CallBuffers::Argument& argument : call.arguments) {
    if (argument.desc.kind != kind || argument.desc.tensor != slot.tensor)
      continue;
    size_t rank = argument.shape.size();
    size_t lead = kind == RNN_ARG_PARAM                               ? 0
                  : kind == RNN_ARG_INPUT || kind == RNN_ARG_SEQUENCE ? 2
                                                                      : 1;
    std::vector<long long> strides(rank, 1);
    for (size_t axis = rank; axis-- > 1;)
      strides[axis - 1] = strides[axis] * argument.shape[axis];
    emitted_test::Place place;
    place.strides.assign(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(lead));
    place.strides.resize(lead + lanes, 0);
    long long offset = 0;
    for (size_t axis = 0; lead + axis < rank; ++axis) {
      offset += slot.at[axis] * strides[lead + axis];
      if (slot.lane_axis[axis] >= 0)
        place.strides[lead + slot.lane_axis[axis]] += strides[lead + axis];
    }
    if (!argument.raw.empty())
      place.data = argument.raw.data() + offset * (type() == RNN_F64 ? 8 : 4);
    return place;
  }
  return {nullptr, std::vector<long long>(2 + lanes)}; // a hidden state's sequence: nobody wants it
}

emitted_test::Call CudaTrial::bind(check::CallBuffers& call, const rnn_system_desc& system) const {
  emitted_test::Call bound;
  bound.batch = call.shape().batch;
  bound.time = call.shape().time;
  uint32_t lanes = system.lane_rank;
  for (uint32_t a = 0; a < lanes; ++a)
    bound.lanes.push_back(system.lane_sizes[a] < 0 ? call.shape().dims.at(system.lane_axes[a])
                                                   : system.lane_sizes[a]);
  for (uint32_t i = 0; i < system.states; ++i) {
    const rnn_slot& slot = system.state_slots[i];
    bound.states.push_back({place(call, slot, RNN_ARG_INITIAL, lanes),
                            place(call, slot, RNN_ARG_FINAL, lanes),
                            place(call, slot, RNN_ARG_SEQUENCE, lanes), 0});
  }
  for (uint32_t i = 0; i < system.inputs; ++i)
    bound.inputs.push_back(place(call, system.input_slots[i], RNN_ARG_INPUT, lanes));
  for (uint32_t i = 0; i < system.params; ++i)
    bound.params.push_back(place(call, system.param_slots[i], RNN_ARG_PARAM, lanes));
  for (uint32_t i = 0; i < system.outputs; ++i)
    bound.outputs.push_back(place(call, system.output_slots[i], RNN_ARG_SEQUENCE, lanes));
  return bound;
}

/// All systems of the cell, one launch each.
check::CallBuffers CudaTrial::solve(const std::vector<CudaKernel>& kernels, bool isPlain) {
  int64_t time = program.setting.time;
  check::CallBuffers call = Numbers(program.setting).call(*cell, program, time);
  call.toRaw(type());
  const rnn_module_table& table = *cell->table();
  for (uint32_t s = 0; s < table.systems; ++s) {
    std::string name = text.name + "." + text.systems[s];
    auto kernel = std::find_if(kernels.begin(), kernels.end(),
                               [&](const CudaKernel& k) { return k.name == name; });
    if (kernel == kernels.end()) {
      problem = "there is no kernel " + name;
      break;
    }
    std::string error = (isPlain ? kernel->runPlain : kernel->run)(bind(call, table.system[s]));
    if (!error.empty())
      problem = name + ": " + error;
  }
  call.fromRaw(type());
  return call;
}

void CudaTrial::run(const std::vector<CudaKernel>& kernels) {
  program.setting.time =
      std::min<int64_t>(program.setting.time, program.setting.contracts ? 70 : 8);
  check::CallBuffers parallel = solve(kernels, false), plain = solve(kernels, true);
  if (!problem.empty())
    return;
  if (auto difference = check::firstDifference(parallel, plain, *cell->table(), type())) {
    problem = "parallel against the plain loop: " + *difference;
    return;
  }
  if (!program.setting.isDouble && (program.setting.strange || stabilityOf(program).jumps))
    return; // another branch, or numbers too large for f32
  check::Subject subject;
  subject.cell = compiled.cell();
  subject.seed = program.setting.data;
  check::Row row = check::compareWithInterpreter(subject, *cell->table(), type(), parallel,
                                                 program.setting.isDouble ? 1e-11 : 1e-5);
  if (!row.passed)
    problem = row.check + ": " + row.result;
}

TEST(GeneratedCuda, AgreesWithThePlainLoopAndTheInterpreter) {
  std::vector<std::unique_ptr<CudaTrial>> trials;
  std::vector<CudaText> texts;
  // 0, 3, 6, ..., then 1, 4, 7, ...: until a tenth of them have run, spread over the range.
  std::vector<uint64_t> places;
  for (uint64_t first = 0; first < kEvery; ++first)
    for (uint64_t place = first; place < range.programs; place += kEvery)
      places.push_back(place);
  for (uint64_t place : places) {
    if (10 * trials.size() >= range.programs)
      break;
    uint64_t index = range.first + place;
    auto trial = std::make_unique<CudaTrial>(index);
    if (trial->emit()) {
      texts.push_back(trial->text);
      trials.push_back(std::move(trial));
    } else if (!trial->problem.empty()) {
      ADD_FAILURE() << trial->report();
    }
  }
  std::string error;
  std::vector<CudaKernel> kernels = loadCuda(texts, kTogether, error);
  ASSERT_EQ(error, "");
  for (auto& trial : trials) {
    trial->run(kernels);
    EXPECT_EQ(trial->problem, "") << trial->report();
  }
  EXPECT_GE(10 * static_cast<int64_t>(trials.size()), range.programs == 1 ? 0 : range.programs)
      << "a tenth of the programs run as CUDA text";
}

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return range.parse(argc, argv) ? RUN_ALL_TESTS() : 2;
}
