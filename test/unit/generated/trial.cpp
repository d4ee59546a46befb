//===- trial.cpp - everything that one program is put through ---------------------------------===//

#include "trial.h"

#include "bounds.h"
#include "compiled.h"
#include "numbers.h"
#include "rewrite.h"

#include "check/check.h"
#include "check/handles.h"
#include "check/probe.h"
#include "core/elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace rnnc;
using namespace rnnc::generated;

Tally& rnnc::generated::tally() {
  static Tally all;
  return all;
}

namespace {

rnn_context* runtime() {
  static const ContextPtr context = makeContext();
  return context.get();
}

class Trial {
public:
  explicit Trial(const Program& program)
      : program(program), compiled(program), numbers(program.setting) {}
  std::optional<Failure> run();

private:
  std::optional<Failure> compile();
  std::optional<Failure> prove();
  std::optional<Failure> compareWithInterpreter();
  std::optional<Failure> compareSchedules();
  std::optional<Failure> comparePieces();
  std::optional<Failure> compareSegments();
  std::optional<Failure> compareRewritten();
  std::optional<Failure> runSequentially(const CompiledCell& cell, check::CallBuffers& call) const;
  bool runsInParallel() const;
  bool fitsVectors(int64_t chunks) const;
  rnn_dtype type() const { return program.setting.isDouble ? RNN_F64 : RNN_F32; }
  const CompiledCell& cell() const { return program.setting.isDouble ? *f64 : *f32; }

  const Program& program;
  Compiled compiled;
  Numbers numbers;
  mlir::OwningOpRef<mlir::ModuleOp> newton64;
  std::unique_ptr<CompiledCell> f32, f64;
  check::Subject subject;
  std::optional<check::CallBuffers> sequential;
};

std::optional<Failure> Trial::compile() {
  if (compiled.failure)
    return compiled.failure;
  newton64 = compiled.lower(true);
  if (!compiled.failure)
    f64 = compiled.compile(*newton64);
  if (!compiled.failure && !program.setting.isDouble) {
    auto newton32 = compiled.lower(false);
    if (!compiled.failure)
      f32 = compiled.compile(*newton32);
  }
  if (compiled.failure)
    return compiled.failure;
  subject.cell = compiled.cell();
  subject.newton64 = *newton64->getOps<newton::CellOp>().begin();
  subject.f32 = f32.get();
  subject.f64 = f64.get();
  subject.seed = program.setting.data;
  subject.threads = 1;
  subject.draws = 2;
  subject.kernels = 1;
  return std::nullopt;
}

/// The proofs of `rnnc check`, with fewer points each. Those that run kernels of float64 are for
/// programs that have them anyway: compiling kernels takes nearly all of a trial's time.
std::optional<Failure> Trial::prove() {
  std::vector<check::Rows (*)(const check::Subject&)> proofs{check::checkRules,
                                                             check::checkStructure};
  if (program.setting.isDouble)
    proofs.insert(proofs.end(),
                  {check::checkDerivatives, check::checkCarries, check::checkProducts});
  for (auto proof : proofs)
    for (const check::Row& row : proof(subject))
      if (!row.passed && !row.unmeasured) // where little can be measured nothing is wrong yet
        return Failure{row.check, row.subject + ": " + row.result};
  return std::nullopt;
}

/// With jumps, f32 may take another branch than float64 does, and numbers may be too large for it:
/// then f64 is compared.
std::optional<Failure> Trial::compareWithInterpreter() {
  int64_t time = program.setting.time;
  if (!program.setting.contracts)
    time = std::min<int64_t>(time, 8);
  bool isFloat = f32 && !program.setting.strange && !stabilityOf(program).jumps;
  check::Row row = check::compareWithInterpreter(runtime(), subject, isFloat ? RNN_F32 : RNN_F64,
                                                 numbers.call(isFloat ? *f32 : *f64, program, time),
                                                 isFloat ? 1e-5 : 1e-11);
  if (!row.passed)
    return Failure{row.check, row.subject + ": " + row.result};
  return std::nullopt;
}

std::optional<Failure> Trial::runSequentially(const CompiledCell& cell,
                                              check::CallBuffers& call) const {
  rnn_plan_options options = call.options(type());
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;
  if (auto error = call.run(runtime(), options))
    return Failure{"sequential run", *error + " " + cell.lastError()};
  return std::nullopt;
}

bool Trial::runsInParallel() const {
  const rnn_module_table& table = *f64->table();
  for (uint32_t s = 0; s < table.systems; ++s)
    if (table.system[s].carry == 0 && !table.system[s].diagonal)
      return false;
  return true;
}

/// Whether every system has a vector for so many chunks: as many columns, or a divisor.
bool Trial::fitsVectors(int64_t chunks) const {
  const rnn_module_table& table = *cell().table();
  for (uint32_t s = 0; s < table.systems; ++s) {
    const rnn_system_desc& system = table.system[s];
    bool fits = std::any_of(system.kernel, system.kernel + system.kernels, [&](const auto& kernel) {
      return chunks % kernel.width == 0 || chunks <= kernel.width;
    });
    if (!fits)
      return false;
  }
  return true;
}

std::optional<Failure> Trial::compareSchedules() {
  sequential.emplace(numbers.call(cell(), program, program.setting.time));
  if (auto failure = runSequentially(cell(), *sequential))
    return failure;
  if (!runsInParallel()) {
    ++tally().dense;
    return std::nullopt;
  }
  for (const Setting::Schedule& way : program.setting.schedules) {
    check::CallBuffers parallel = numbers.call(cell(), program, program.setting.time);
    rnn_plan_options options = parallel.options(type());
    options.schedule = RNN_SCHEDULE_PARALLEL;
    options.vector = static_cast<rnn_vector>(way.vector);
    options.tiles = static_cast<rnn_tiles>(way.tiles);
    options.chunk = way.chunk;
    if (way.vector != RNN_VECTOR_CHUNKS || fitsVectors(way.chunks))
      options.chunks = way.chunks;
    options.threads = way.threads;
    if (auto error = parallel.run(runtime(), options))
      return Failure{"parallel run", *error + " " + cell().lastError()};
    if (auto difference = check::firstDifference(parallel, *sequential, *cell().table(), type()))
      return Failure{"parallel against sequential",
                     "C " + std::to_string(way.chunk) + ": " + *difference};
    ++tally().solves;
  }
  return std::nullopt;
}

/// Pieces of a stream as its users cut it: blocks, and single steps between them.
static std::vector<check::Piece> drawPieces(int64_t time, Random& random) {
  std::vector<check::Piece> pieces;
  for (int64_t left = time; left > 0 || pieces.empty(); left -= pieces.back().steps) {
    int64_t steps = std::min(left, random.pick<int64_t>({1, 2, 5, 16, 40, 97}));
    bool isSingle = steps > 0 && steps < 16 && random.chance(0.6);
    pieces.push_back({steps, isSingle});
  }
  return pieces;
}

std::optional<Failure> Trial::comparePieces() {
  Random random(program.setting.data + 1);
  check::CallBuffers stream = numbers.call(cell(), program, program.setting.time);
  rnn_plan_options options = stream.options(type());
  options.schedule = RNN_SCHEDULE_SEQUENTIAL; // needs few kernels that are not there yet
  options.threads = 1;
  if (auto error = stream.runInPieces(runtime(), options, drawPieces(program.setting.time, random)))
    return Failure{"stream", *error + " " + cell().lastError()};
  if (auto difference = check::firstDifference(stream, *sequential, *cell().table(), type()))
    return Failure{"stream against one call", *difference};
  return std::nullopt;
}

/// An eighth of the programs. Implicit steps may have no solution at the proof's own numbers.
std::optional<Failure> Trial::compareSegments() {
  const rnn_module_table& table = *cell().table();
  for (uint32_t s = 0; s < table.systems; ++s)
    if (table.system[s].implicit)
      return std::nullopt;
  if (program.setting.data % 8 != 0)
    return std::nullopt;
  check::Subject one = subject;
  (program.setting.isDouble ? one.f32 : one.f64) = nullptr;
  for (const check::Row& row : check::checkSegments(one))
    if (!row.passed)
      return Failure{row.check, row.subject + ": " + row.result + " " + cell().lastError()};
  return std::nullopt;
}

/// Whether two results agree bit for bit; any NaN equals any NaN.
bool sameBits(const std::vector<double>& a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0 && !(std::isnan(a[i]) && std::isnan(b[i])))
      return false;
  return a.size() == b.size();
}

/// Every other program, for it is one more cell to compile; all that are optimised, which the
/// soak's are.
std::optional<Failure> Trial::compareRewritten() {
  if (program.setting.data % 2 != 0 && !program.setting.isOptimised)
    return std::nullopt;
  Random random(program.setting.data);
  Rewritten other = sayOtherwise(program, random);
  auto failed = [&](const std::string& text) {
    return Failure{"in other words", text + "\nin other words:\n" + printAll(other.program)};
  };
  Compiled again(other.program);
  std::unique_ptr<CompiledCell> otherCell;
  if (!again.failure) {
    auto newton = again.lower(program.setting.isDouble);
    if (!again.failure)
      otherCell = again.compile(*newton);
  }
  if (again.failure)
    return failed(again.failure->text);
  check::CallBuffers call =
      numbers.call(*otherCell, other.program, program.setting.time, &other.original);
  if (auto failure = runSequentially(*otherCell, call))
    return failed(failure->text);
  for (const auto& argument : call.arguments) {
    std::string name = otherCell->table()->tensor[argument.desc.tensor].name;
    if (!rnnc::runtime::isResult(argument.desc.kind))
      continue;
    auto original = other.original.find(name);
    if (original == other.original.end())
      continue; // a hidden state that carries another one
    for (const auto& first : sequential->arguments)
      if (first.desc.kind == argument.desc.kind &&
          original->second == cell().table()->tensor[first.desc.tensor].name &&
          !sameBits(argument.values, first.values))
        return failed(original->second + " differs");
  }
  return std::nullopt;
}

std::optional<Failure> Trial::run() {
  std::optional<Failure> failure = compile();
  for (auto part : {&Trial::prove, &Trial::compareWithInterpreter, &Trial::compareSchedules,
                    &Trial::comparePieces, &Trial::compareSegments, &Trial::compareRewritten})
    if (!failure)
      failure = (this->*part)();
  ++tally().programs;
  for (const CompiledCell* each : {f32.get(), f64.get()})
    if (each)
      tally().kernels += each->compiledKernels();
  return failure;
}

} // namespace

std::optional<Failure> rnnc::generated::tryProgram(const Program& program) {
  return Trial(program).run();
}
