#include "build_module.h"

#include "build_cuda.h"
#include "build_header.h"
#include "cuda_units.h"
#include "solver.h"

#include "Target/Cpu/Jit.h"
#include "rnnc/Cuda.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

using namespace rnnc;
using namespace rnnc::tool;

namespace {
constexpr const char* kTargets[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
/// A device that is newer than all of them takes the newest before it, compiled for itself.
constexpr int kArchitectures[] = {80, 90, 100, 120};
/// What the rule chooses, and one thread a lane, for calls with lanes enough.
constexpr rnn_schedule kSchedules[] = {RNN_SCHEDULE_AUTO, RNN_SCHEDULE_SEQUENTIAL};
} // namespace

int ModuleBuilder::check() {
  if (!options.target.empty() && options.target != "cpu")
    return console.error("--target: a module always runs on the CPU too",
                         "--target cpu leaves CUDA out; --arch says for what there is code",
                         kUsage);
  if (namesCudaPolicy(options))
    return console.error("--schedule, --chunk, --chunks, --math and --staging are not a module's",
                         "they are chosen when it is planned", kUsage);
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(options.arch).split(names, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef name : names) {
    if (name.starts_with("sm_")) {
      if (llvm::Error error = checkCudaArchitecture(name))
        return console.error("--arch: " + llvm::toString(std::move(error)), cudaArchitectureNames(),
                             kUsage);
      int number = 0;
      name.drop_front(3).getAsInteger(10, number);
      architectures.push_back(number);
      cudaWasAsked = true;
      continue;
    }
    if (!llvm::is_contained(kTargets, name))
      return console.error(
          fmt::format("--arch: '{}' is no architecture that a module is built for", name.str()),
          fmt::format("{}; sm_80, sm_90, ...", fmt::join(kTargets, ", ")), kUsage);
    targets.push_back(name.str());
  }
  if (cudaWasAsked && options.target == "cpu")
    return console.error("--target cpu leaves CUDA out, and --arch asks for it", "", kUsage);
  if (targets.empty())
    targets.assign(std::begin(kTargets), std::end(kTargets));
  if (names.empty() && options.target.empty())
    architectures.assign(std::begin(kArchitectures), std::end(kArchitectures));
  llvm::sort(targets);
  targets.erase(llvm::unique(targets), targets.end());
  llvm::sort(architectures);
  architectures.erase(llvm::unique(architectures), architectures.end());
  return kFine;
}

int ModuleBuilder::lowerAll(std::vector<mlir::OwningOpRef<mlir::ModuleOp>>& lowered) const {
  if (!source.cell() && targets.size() > 1)
    return console.error(
        fmt::format("{}: is lowered for one instruction set already", options.file),
        "--arch with that one, or build from the .rnn file", kUsage);
  for (const std::string& target : targets)
    if (int status =
            source.lower(computeType(options), lowered.emplace_back(), BackEnd::Cpu, target))
      return status;
  return kFine;
}

/// A cell that no GPU runs is built without CUDA where nobody asked for it.
int ModuleBuilder::printCuda(CudaUnits& units) const {
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  if (architectures.empty())
    return kFine;
  if (int status = source.lower(computeType(options), newton, BackEnd::Cuda))
    return status;
  for (int architecture : architectures)
    for (rnn_schedule schedule : kSchedules) {
      CudaOptions cuda;
      cuda.arch = fmt::format("sm_{}", architecture);
      cuda.schedule = scheduleOf(schedule);
      std::optional<CudaUnit> text;
      auto print = [&] {
        text = emitCuda(*newton, source.cellName(), cuda);
        return text.has_value();
      };
      if (cudaWasAsked) {
        if (int status = source.diagnose(print, fmt::format("the cell '{}' could not be printed as "
                                                            "CUDA",
                                                            source.cellName())))
          return status;
      } else {
        std::string why;
        mlir::ScopedDiagnosticHandler quiet(&source.context(), [&](mlir::Diagnostic& diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && why.empty())
            why = diagnostic.str();
        });
        if (!print()) {
          console.detail(fmt::format("for the CPU only: {}", why));
          return kFine;
        }
      }
      units.add(std::move(*text), architecture, computeType(options), schedule);
    }
  return kFine;
}

int ModuleBuilder::describe(mlir::ModuleOp newton, std::unique_ptr<CompiledCell>& described) const {
  auto made = describeForHost(newton, source.cellName(), targets.back());
  if (!made)
    return source.bug(llvm::toString(made.takeError()));
  described = std::move(*made);
  return kFine;
}

int ModuleBuilder::build(bool shared, std::string& bytes) const {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> lowered;
  if (int status = lowerAll(lowered))
    return status;
  CudaUnits units;
  if (int status = printCuda(units))
    return status;
  std::unique_ptr<CompiledCell> described;
  if (int status = describe(*lowered.back(), described))
    return status;
  rnn_cuda_desc cuda = units.describe();

  ModuleFileOptions file;
  file.shared = shared;
  file.cuda = cuda.units ? &cuda : nullptr;
  file.manifest = manifestText(options, *described->table(), targets, file.cuda);
  std::vector<ModuleVariant> variants;
  for (auto [target, module] : llvm::zip_equal(targets, lowered))
    variants.push_back({target, *module});
  Stopwatch clock(console);
  auto written = emitModuleFile(source.cellName(), variants, file);
  if (!written) {
    bool tooLong = false;
    std::string text;
    llvm::handleAllErrors(written.takeError(), [&](const llvm::ErrorInfoBase& error) {
      tooLong = error.convertToErrorCode() == std::errc::value_too_large;
      text = error.message();
    });
    return tooLong ? console.error(fmt::format("{}: {}", source.cellName(), text))
                   : source.bug(text);
  }
  clock.lap(fmt::format("compiled for {}", fmt::join(targets, ", ")));
  bytes = std::move(*written);
  return kFine;
}

int ModuleBuilder::header(std::string& text) const {
  mlir::OwningOpRef<mlir::ModuleOp> lowered;
  if (int status = source.lower(computeType(options), lowered, BackEnd::Cpu, targets.back()))
    return status;
  std::unique_ptr<CompiledCell> described;
  if (int status = describe(*lowered, described))
    return status;
  Solver runtime(console);
  if (int status = runtime.create(std::move(described)))
    return status;
  text = headerText(options, runtime.arguments());
  return kFine;
}
