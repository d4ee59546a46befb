#include "source.h"

#include "bug.h"
#include "check/place.h"
#include "cuda/session.hpp"

#include "Analysis/Adjoint.h"
#include "Newton/Newton.h"
#include "Target/Cpu/Jit.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <fmt/ranges.h>

#include <utility>

using namespace rnnc;
using namespace rnnc::tool;

int rnnc::tool::checkSupported(const Options& options, const Console& console) {
  if (options.device == Device::Cuda) {
    std::string missing = runtime::cuda::whatIsMissing(options.ordinal);
    if (!missing.empty())
      return console.error("no CUDA device can be used: " + missing,
                           "--device cpu; rnnc doctor says what this machine has", kMissing);
    if (options.verb != Verb::Run)
      return console.error(
          fmt::format("not supported yet: rnnc {} --device cuda", verbName(options.verb)),
          "rnnc run --device cuda");
  }
  if (options.device == Device::Interpreter && options.verb != Verb::Run)
    return console.error(fmt::format("rnnc {} --device interpreter: only whole runs can be "
                                     "interpreted",
                                     verbName(options.verb)),
                         "rnnc run --device interpreter");
  return kFine;
}

rnn_dtype rnnc::tool::computeType(const Options& options) {
  if (options.compute)
    return *options.compute;
  return options.dtype == Storage::F64 ? RNN_F64 : RNN_F32;
}

Source::Source(const Options& options, const Console& console)
    : options(options), console(console) {}
Source::~Source() = default;

Limits Source::limits() const {
  Limits limits;
  for (auto& [limit, value] : options.limits)
    (limit == "source"    ? limits.source
     : limit == "nesting" ? limits.nesting
                          : limits.operations) = value;
  return limits;
}

FrontendOptions Source::frontendOptions() const {
  return {limits(), options.dims, options.constants, options.root};
}

int Source::bug(const std::string& what) const { return reportBug(console, what); }

int Source::ast(std::string& text) {
  if (llvm::StringRef(options.file).ends_with(".mlir"))
    return console.error(options.file + ": IR has no syntax tree", "give the .rnn file");
  DiagnosticEngine again;
  again.shareSources(engine);
  text = dumpAst(frontendOptions(), again);
  return kFine;
}

static std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

int Source::load() {
  Stopwatch clock(console);
  watchForCrashes(options);
  if (!readSource(options.file, limits(), engine)) {
    console.print(engine);
    return kFailure;
  }
  mlirContext = createContext();
  // Kernels are compiled later, when plans ask for them; what MLIR says then belongs to a bug
  // report.
  mlirContext->getDiagEngine().registerHandler([](mlir::Diagnostic& message) {
    if (message.getSeverity() == mlir::DiagnosticSeverity::Error)
      rememberDetail(check::placeText(message.getLocation()) + ": " + message.str());
  });
  if (llvm::StringRef(options.file).ends_with(".mlir")) {
    if (int status = loadMlir())
      return status;
  } else {
    original = parseToRnn(*mlirContext, frontendOptions(), engine);
    console.print(engine);
    if (!original)
      return engine.errors() ? kFailure
                             : reportBug(console, "the front end failed without a message");
  }
  clock.lap("read and checked");
  rememberModule(textOf(*original));
  if (mlir::failed(mlir::verify(*original)))
    return reportBug(console, "the front end made a module that does not verify");
  return chooseCell();
}

/// MLIR's parser recurses on nested brackets, so their depth is checked before it sees the text.
static int64_t bracketDepth(llvm::StringRef text) {
  int64_t depth = 0, deepest = 0;
  for (char c : text) {
    depth += llvm::StringRef("([{<").contains(c) ? 1 : llvm::StringRef(")]}>").contains(c) ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

int Source::loadMlir() {
  if (!options.constants.empty())
    return console.error("--const needs the .rnn file: in IR the constants are in place already");
  if (bracketDepth(engine.source()) > limits().nesting)
    return console.error(
        fmt::format("{}: brackets nest deeper than {}", options.file, limits().nesting),
        "raise the limit with --limit nesting=N");
  {
    MlirDiagnostics forward(*mlirContext, engine);
    original = mlir::parseSourceString<mlir::ModuleOp>(
        engine.source(), mlir::ParserConfig(mlirContext.get()), engine.file());
  }
  console.print(engine);
  return original ? kFine : kFailure;
}

/// Leaves only the chosen cell in the module: what is wrong with another one is of no concern.
int Source::chooseCell() {
  std::vector<mlir::Operation*> cells;
  std::vector<newton::CellOp> adjoints; // they go with their cells
  for (mlir::Operation& op : *original->getBody())
    if (auto solved = llvm::dyn_cast<newton::CellOp>(op);
        solved && solved.getSymName().ends_with(kAdjointSuffix))
      adjoints.push_back(solved);
    else if (llvm::isa<rnn::CellOp, newton::CellOp>(op))
      cells.push_back(&op);
  // Nobody has to choose between a file's own cell and those that it imports.
  auto isImported = [&](mlir::Operation* op) {
    auto place = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    return place && place.getFilename() != engine.file();
  };
  std::vector<std::string> names;
  mlir::Operation* chosen = nullptr;
  std::vector<mlir::Operation*> others;
  bool ownOnly = options.cell.empty() && !llvm::all_of(cells, isImported);
  for (mlir::Operation* op : cells) {
    bool known = !ownOnly || !isImported(op);
    if (known)
      names.push_back(mlir::SymbolTable::getSymbolName(op).str());
    bool wanted = known && (options.cell.empty() || names.back() == options.cell);
    if (wanted && !chosen)
      chosen = op;
    else
      others.push_back(op);
  }
  std::string list = fmt::format("{}", fmt::join(names, ", "));
  if (names.empty())
    return console.error(fmt::format("{}: holds no cell", options.file));
  if (!chosen) {
    auto near = nearest(options.cell, names);
    return console.error(fmt::format("{}: has no cell '{}'", options.file, options.cell),
                         near ? "did you mean '" + *near + "'?" : "it has " + list);
  }
  if (names.size() > 1 && options.cell.empty())
    return console.error(fmt::format("{}: has several cells: {}", options.file, list),
                         "choose one with --cell NAME");
  for (mlir::Operation* other : others)
    other->erase();
  rnnCell = llvm::dyn_cast<rnn::CellOp>(chosen);
  name = mlir::SymbolTable::getSymbolName(chosen).str();
  for (newton::CellOp adjoint : adjoints)
    if (adjoint.getSymName() != (name + kAdjointSuffix).str())
      adjoint.erase();
  return checkDims(chosen);
}

/// A --dim for a dim that the cell does not have would otherwise do nothing.
int Source::checkDims(mlir::Operation* chosen) {
  std::vector<std::string> names;
  if (rnnCell)
    for (auto dim : rnnCell.decls<rnn::DimDeclOp>())
      names.push_back(dim.getSymName().str());
  else
    for (auto tensor : llvm::cast<newton::CellOp>(chosen).ops<newton::TensorOp>())
      for (mlir::Attribute dim : tensor.getDims())
        names.push_back(llvm::cast<mlir::StringAttr>(dim).getValue().str());
  for (auto& [dim, size] : options.dims)
    if (!llvm::is_contained(names, dim)) {
      auto near = nearest(dim, names);
      return console.error(fmt::format("--dim {}={}: {} has no dim '{}'", dim, size, name, dim),
                           near            ? "did you mean '" + *near + "'?"
                           : names.empty() ? "its sizes are all fixed"
                                           : fmt::format("it has {}", fmt::join(names, ", ")));
    }
  return kFine;
}

int Source::diagnose(llvm::function_ref<bool()> work, const std::string& bug) const {
  DiagnosticEngine diagnostics;
  diagnostics.shareSources(engine);
  bool done;
  {
    MlirDiagnostics forward(*mlirContext, diagnostics);
    done = work();
  }
  // The user's errors have a code of their own; anything else that stops a pass is ours.
  bool users = llvm::any_of(diagnostics.all(), [](const Diagnostic& d) {
    return d.severity == Severity::Error && !d.code.empty() && d.code != "RNN0499";
  });
  // Other compute types give the same warnings once more.
  if (diagnostics.errors() || !std::exchange(warned, true))
    console.print(diagnostics);
  if (done)
    return kFine;
  return users ? kFailure : reportBug(console, bug);
}

int Source::lower(rnn_dtype compute, mlir::OwningOpRef<mlir::ModuleOp>& newton,
                  BackEnd target) const {
  return lower(compute, newton, target, options.arch);
}

int Source::lower(rnn_dtype compute, mlir::OwningOpRef<mlir::ModuleOp>& newton, BackEnd target,
                  llvm::StringRef arch) const {
  newton = mlir::OwningOpRef<mlir::ModuleOp>(module().clone());
  if (!rnnCell)
    return kFine;
  LowerOptions lower;
  if (target == BackEnd::Cpu) { // every CUDA architecture fuses multiply-adds
    auto cpu = cpuTarget(arch);
    if (!cpu)
      return console.error(llvm::toString(cpu.takeError()), "", kUsage);
    lower.fma = cpu->fma;
  }
  Stopwatch clock(console);
  lower.compute = compute == RNN_F64 ? "f64" : "f32";
  lower.operations = limits().operations;
  lower.gradients = gradients;
  int status = diagnose(
      [&] { return lowerToSolve(*newton, lower) && mlir::succeeded(mlir::verify(*newton)); },
      "a pass failed on the cell '" + name + "'");
  clock.lap(compute == RNN_F64 ? "lowered to the solve in f64" : "lowered to the solve in f32");
  return status;
}

int Source::compile(rnn_dtype compute, std::unique_ptr<CompiledCell>& compiled, bool isRun) const {
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  if (int status = lower(compute, newton))
    return status;
  auto made = isRun ? compileForHost(*newton, name) : describeForHost(*newton, name);
  if (!made)
    return reportBug(console, llvm::toString(made.takeError()));
  compiled = std::move(*made);
  return kFine;
}
