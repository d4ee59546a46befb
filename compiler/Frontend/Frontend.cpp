//===- Frontend.cpp - from text to the Rnn dialect --------------------------------------------===//

#include "rnnc/Frontend.h"
#include "Frontend/CellBuilder.h"
#include "Frontend/Functions.h"
#include "Frontend/Parser.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;

static bool checkHasCell(const File& file, rnnc::DiagnosticEngine& diagnostics) {
  if (!file.cells.empty() || diagnostics.errors())
    return true;
  diagnostics.report(
      {Severity::Error, "RNN0121", "the file has no cell", "write cell NAME { ... }"});
  return false;
}

/// Names that the command line gives and no cell has.
static void checkOptions(const File& file, const FrontendOptions& options,
                         rnnc::DiagnosticEngine& diagnostics) {
  auto known = [&](Declaration::Kind kind) {
    std::vector<std::string> names;
    auto add = [&](const std::vector<Declaration>& declarations) {
      for (const Declaration& decl : declarations)
        if (decl.kind == kind)
          names.push_back(decl.name.str());
    };
    add(file.constants);
    for (const Cell& cell : file.cells)
      add(cell.declarations);
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

OwningOpRef<ModuleOp> rnnc::parseToRnn(MLIRContext& context, const FrontendOptions& options,
                                       rnnc::DiagnosticEngine& diagnostics) {
  context.loadDialect<rnn::RnnDialect>();
  File file = parse(options.limits, diagnostics);
  checkHasCell(file, diagnostics);
  if (!diagnostics.errors())
    checkOptions(file, options, diagnostics);
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(&context, diagnostics.file(), 1, 1));
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module->getBody());
  Scope scope;
  declareFile(file, options, scope, diagnostics);
  llvm::StringSet<> names;
  for (const Cell& cell : file.cells) {
    if (diagnostics.full())
      break;
    if (names.insert(cell.name).second)
      CellBuilder(cell, scope, options, diagnostics, builder).build();
    else
      reportAt(diagnostics, cell.span, "RNN0118",
               "the cell '" + cell.name.str() + "' is defined twice");
  }
  if (!diagnostics.errors())
    warnUnused(file, scope, diagnostics);
  if (diagnostics.errors())
    return {};
  MlirDiagnostics handler(context, diagnostics);
  if (failed(verify(*module)))
    return {};
  return module;
}

std::string rnnc::dumpAst(const FrontendOptions& options, rnnc::DiagnosticEngine& diagnostics) {
  File file = parse(options.limits, diagnostics);
  return checkHasCell(file, diagnostics) && !diagnostics.errors() ? dump(file) : "";
}
