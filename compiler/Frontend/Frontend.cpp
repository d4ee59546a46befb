//===- Frontend.cpp - from text to the Rnn dialect --------------------------------------------===//

#include "rnnc/Frontend.h"
#include "Frontend/CellBuilder.h"
#include "Frontend/Functions.h"
#include "Frontend/Imports.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;

static bool checkHasCell(bool any, rnnc::DiagnosticEngine& diagnostics) {
  if (any || diagnostics.errors())
    return true;
  diagnostics.report(
      {Severity::Error, "RNN0121", "the file has no cell", "write cell NAME { ... }"});
  return false;
}

/// Names that the command line gives and no cell has.
static void checkOptions(const Program& program, const FrontendOptions& options,
                         rnnc::DiagnosticEngine& diagnostics) {
  auto known = [&](Declaration::Kind kind) {
    std::vector<std::string> names;
    auto add = [&](const std::vector<Declaration>& declarations) {
      for (const Declaration& decl : declarations)
        if (decl.kind == kind)
          names.push_back(decl.name.str());
    };
    for (const auto& loaded : program) {
      add(loaded->file.constants);
      for (const Cell& cell : loaded->file.cells)
        add(cell.declarations);
    }
    llvm::sort(names);
    return names;
  };
  auto check = [&](const std::string& name, const char* what, const std::vector<std::string>& all) {
    if (!std::binary_search(all.begin(), all.end(), name))
      diagnostics.report(
          {Severity::Error, "RNN0122",
           "--" + std::string(what) + " " + name + ": the file declares no such " + what,
           didYouMean(name, all)});
  };
  std::vector<std::string> dims = known(Declaration::DimDecl), consts = known(Declaration::Const);
  for (const auto& [name, size] : options.dims)
    check(name, "dim", dims);
  for (const auto& [name, value] : options.consts)
    check(name, "const", consts);
}

/// The consts and functions outside of cells.
static void declareFile(const File& file, const FrontendOptions& options, Scope& scope,
                        rnnc::DiagnosticEngine& diagnostics) {
  for (const Declaration& decl : file.constants)
    scope.announced.insert(decl.name);
  for (StringRef name : file.lost)
    scope.lost.insert(name);
  for (const Declaration& decl : file.constants) {
    if (diagnostics.full() || !checkFree(decl, scope, diagnostics))
      continue;
    Declared declared{&decl, {}, 0, false, decl.broken};
    declared.broken = decl.broken || !evaluateDeclared(decl, options, scope, diagnostics, declared);
    scope.declared[decl.name] = declared;
  }
  declareFunctions(file.functions, scope, diagnostics);
}

static void warnUnused(const File& file, Scope& scope, rnnc::DiagnosticEngine& diagnostics) {
  for (const Declaration& decl : file.constants)
    if (!scope.find(decl.name)->used)
      reportAt(diagnostics, decl.span, "RNN0901", "'" + decl.name.str() + "' is never used", "",
               Severity::Warning);
  warnUnusedFunctions(file.functions, scope, diagnostics);
}

/// Every cell of the program, the main file's first.
static void buildCells(const Program& program, const FrontendOptions& options,
                       rnnc::DiagnosticEngine& diagnostics, OpBuilder& builder) {
  llvm::StringMap<Span> names;
  for (const auto& loaded : program)
    for (const Cell& cell : loaded->file.cells) {
      if (diagnostics.full())
        return;
      auto [first, fresh] = names.try_emplace(cell.name, cell.span);
      if (fresh)
        CellBuilder(cell, loaded->scope, options, diagnostics, builder)
            .build(/*warn=*/loaded == program.front());
      else
        reportAt(diagnostics, cell.span, "RNN0118",
                 "the cell '" + cell.name.str() + "' is defined twice",
                 "the other one is on " +
                     diagnostics.lineText(first->second.offset, cell.span.offset));
    }
}

OwningOpRef<ModuleOp> rnnc::parseToRnn(MLIRContext& context, const FrontendOptions& options,
                                       rnnc::DiagnosticEngine& diagnostics) {
  context.loadDialect<rnn::RnnDialect>();
  Program program = loadProgram(options, diagnostics);
  checkHasCell(llvm::any_of(program, [](auto& loaded) { return !loaded->file.cells.empty(); }),
               diagnostics);
  if (!diagnostics.errors())
    checkOptions(program, options, diagnostics);
  std::vector<size_t> order = importOrder(program, diagnostics);
  for (size_t i : order) {
    bringImports(program, *program[i], diagnostics);
    declareFile(program[i]->file, options, program[i]->scope, diagnostics);
  }
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(&context, diagnostics.file(), 1, 1));
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module->getBody());
  if (!order.empty())
    buildCells(program, options, diagnostics, builder);
  if (!diagnostics.errors())
    warnUnused(program.front()->file, program.front()->scope, diagnostics);
  if (diagnostics.errors())
    return {};
  MlirDiagnostics handler(context, diagnostics);
  if (failed(verify(*module)))
    return {};
  return module;
}

std::string rnnc::dumpAst(const FrontendOptions& options, rnnc::DiagnosticEngine& diagnostics) {
  File file = parse(diagnostics.mainSource(), options.limits, diagnostics);
  bool any = !file.cells.empty() || !file.imports.empty();
  return checkHasCell(any, diagnostics) && !diagnostics.errors() ? dump(file) : "";
}
