//===- Frontend.cpp - cells to rnn.cell
//-----------------------------------------------------------------===//

#include "rnnc/Frontend.h"
#include "Frontend/Equations.h"
#include "Frontend/Parser.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;
using rnn::ArrayType;
using rnn::DimAttr;

namespace {

class CellBuilder {
public:
  CellBuilder(const Cell& cell, const File& file, const FrontendOptions& options,
              rnnc::DiagnosticEngine& diagnostics, OpBuilder& builder)
      : cell(cell), file(file), options(options), diagnostics(diagnostics), builder(builder),
        equations(scope, options, diagnostics, builder) {}
  void build();

private:
  void functions(const std::vector<Function>& list);
  void declare(const Declaration& decl);
  bool dimOrConst(const Declaration& decl, Declared& into);
  bool shape(const Declaration& decl, Declared& into);
  void emit(const Declaration& decl, const Declared& declared);
  void equation(const Equation& eq);
  void checkAllDefined();
  void warnUnused();
  void error(Span span, const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, span, code, std::move(text), std::move(hint));
  }
  void warn(Span span, const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, span, code, std::move(text), std::move(hint), Severity::Warning);
  }

  const Cell& cell;
  const File& file;
  const FrontendOptions& options;
  rnnc::DiagnosticEngine& diagnostics;
  OpBuilder& builder;
  Scope scope;
  EquationBuilder equations;
};

} // namespace

void CellBuilder::functions(const std::vector<Function>& list) {
  for (const Function& function : list) {
    if (findBuiltin(function.name))
      error(function.span, "RNN0118", "'" + function.name.str() + "' is a built-in function",
            "choose another name");
    else if (!scope.functions.try_emplace(function.name, &function).second)
      error(function.span, "RNN0118",
            "the function '" + function.name.str() + "' is defined twice");
  }
}

/// The value of a dim or a const: the command line's, or the file's.
bool CellBuilder::dimOrConst(const Declaration& decl, Declared& into) {
  bool isDim = decl.kind == Declaration::DimDecl;
  into.constant = -1;
  auto dim = options.dims.find(decl.name.str());
  auto constant = options.consts.find(decl.name.str());
  if (isDim && dim != options.dims.end()) {
    into.constant = static_cast<double>(dim->second);
  } else if (!isDim && constant != options.consts.end()) {
    into.constant = constant->second;
    return true;
  } else if (decl.value) {
    std::optional<double> value = evaluateConstant(*decl.value, scope, diagnostics);
    if (!value)
      return false;
    into.constant = *value;
  } else {
    return true;
  }
  if (isDim &&
      (into.constant < 1 || into.constant != std::floor(into.constant) || into.constant > 1e9)) {
    error(decl.span, "RNN0201",
          "the size of '" + decl.name.str() + "' is not a whole number of at least 1");
    return false;
  }
  return true;
}

bool CellBuilder::shape(const Declaration& decl, Declared& into) {
  SmallVector<DimAttr> dims;
  MLIRContext* context = builder.getContext();
  for (const Dim& dim : decl.shape) {
    if (dim.name.empty()) {
      dims.push_back(DimAttr::get(context, StringAttr::get(context, ""), dim.size));
      continue;
    }
    Declared* found = scope.find(dim.name);
    if (!found || found->decl->kind != Declaration::DimDecl) {
      std::vector<std::string> known;
      for (const auto& entry : scope.declared)
        if (entry.second.decl->kind == Declaration::DimDecl)
          known.push_back(entry.first().str());
      auto near = nearest(dim.name, known);
      error(dim.span, "RNN0208", "'" + dim.name.str() + "' is not a dim",
            near ? "did you mean '" + *near + "'?" : "declare it above: dim " + dim.name.str());
      return false;
    }
    found->used = true;
    int64_t size = found->constant > 0 ? static_cast<int64_t>(found->constant) : DimAttr::kFree;
    dims.push_back(DimAttr::get(context, StringAttr::get(context, dim.name), size));
  }
  into.type = ArrayType::get(context, dims);
  return true;
}

void CellBuilder::emit(const Declaration& decl, const Declared& declared) {
  Location loc = equations.location(decl.span);
  TypeAttr type = declared.type ? TypeAttr::get(declared.type) : TypeAttr(); // dims have none
  StringAttr name = builder.getStringAttr(decl.name);
  auto zero = builder.getF64FloatAttr(0);
  switch (decl.kind) {
  case Declaration::DimDecl:
    rnn::DimDeclOp::create(builder, loc, name,
                           declared.constant > 0
                               ? builder.getI64IntegerAttr(static_cast<int64_t>(declared.constant))
                               : IntegerAttr());
    break;
  case Declaration::Input:
    rnn::InputOp::create(builder, loc, name, type, zero);
    break;
  case Declaration::Param:
    rnn::ParamOp::create(builder, loc, name, type);
    break;
  case Declaration::Output:
    rnn::OutputOp::create(builder, loc, name, type);
    break;
  case Declaration::State:
    rnn::StateOp::create(builder, loc, name, type, builder.getF64FloatAttr(declared.constant),
                         decl.hidden ? builder.getUnitAttr() : UnitAttr());
    break;
  case Declaration::Const:
    break;
  }
}

void CellBuilder::declare(const Declaration& decl) {
  Declared declared{&decl, {}, 0, false};
  if (scope.find(decl.name)) {
    error(decl.span, "RNN0118", "'" + decl.name.str() + "' is declared twice");
    return;
  }
  if (scope.functions.contains(decl.name) || findBuiltin(decl.name))
    return error(decl.span, "RNN0118", "'" + decl.name.str() + "' is a function",
                 "choose another name");
  bool fine = true;
  if (decl.kind == Declaration::DimDecl || decl.kind == Declaration::Const) {
    fine = dimOrConst(decl, declared);
  } else {
    fine = shape(decl, declared);
    if (fine && decl.value) {
      const Expr& value = *decl.value;
      Declared* param =
          value.size() == 1 && value[0].op == Node::Name ? scope.find(value[0].text) : nullptr;
      if (param && param->decl->kind == Declaration::Param) {
        param->used = true;
        error(value[0].span, "RNN0304", "not supported yet: a learned initial state",
              "pass the initial state when you run the cell");
        fine = false;
      } else if (auto start = evaluateConstant(value, scope, diagnostics)) {
        declared.constant = *start;
      } else {
        fine = false;
      }
    }
  }
  if (fine)
    emit(decl, declared);
  // Known even where it is wrong, so that its uses give no second message.
  if (!declared.type)
    declared.type = ArrayType::get(builder.getContext(), {});
  scope.declared[decl.name] = declared;
}

/// Gives the op that makes a value its user's name.
static void nameValue(Value value, StringRef name) {
  Operation* op = value.getDefiningOp();
  if (op && !isa<NameLoc>(op->getLoc()) &&
      !isa<rnn::ConstantOp, rnn::StateAtOp, rnn::InputAtOp, rnn::ParamValueOp>(op))
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc()));
}

void CellBuilder::equation(const Equation& eq) {
  Value value = equations.build(eq.value, eq.atTime ? eq.name : StringRef());
  Declared* declared = scope.find(eq.name);
  std::string id = eq.name.str();
  bool stateOrOutput = declared && (declared->decl->kind == Declaration::State ||
                                    declared->decl->kind == Declaration::Output);
  if (equations.isDefined(eq.name))
    return error(eq.span, "RNN0118", "'" + id + "' has two equations");
  if (eq.atTime && !stateOrOutput) {
    std::vector<std::string> known;
    for (const auto& entry : scope.declared)
      if (entry.second.decl->kind == Declaration::State ||
          entry.second.decl->kind == Declaration::Output)
        known.push_back(entry.first().str());
    auto near = nearest(eq.name, known);
    error(eq.span, "RNN0119", "'" + id + "' is not a state or an output",
          near       ? "did you mean '" + *near + "[t]'?"
          : declared ? "it is given from outside"
                     : "a value of this step has no time: write " + id + " = ...");
    return;
  }
  if (!eq.atTime && declared)
    return error(eq.span, "RNN0119", "'" + id + "' is declared and cannot be a value of the step",
                 stateOrOutput ? "write " + id + "[t] = ..." : "choose another name");
  if (!eq.atTime && (findBuiltin(eq.name) || scope.functions.contains(eq.name)))
    return error(eq.span, "RNN0118", "'" + id + "' is a function", "choose another name");
  equations.define(eq.name, value, eq.atTime);
  if (!value)
    return;
  nameValue(value, eq.name);
  auto type = cast<ArrayType>(value.getType());
  if (!eq.atTime)
    return;
  if (type.isBool())
    return error(eq.span, "RNN0204", "'" + id + "' is a number, its equation gives a truth value",
                 "choose between numbers with where(condition, a, b)");
  FailureOr<SmallVector<DimAttr>> dims = rnn::broadcast(type.getDims(), declared->type.getDims());
  if (failed(dims) || ArrayRef<DimAttr>(*dims) != declared->type.getDims())
    if (failed(dims) || dims->size() != declared->type.getRank() ||
        !llvm::all_of(llvm::zip(*dims, declared->type.getDims()),
                      [](auto p) { return std::get<0>(p).matches(std::get<1>(p)); }))
      return error(eq.span, "RNN0205",
                   "'" + id + "' is " + declared->type.shapeString() + " but its equation gives " +
                       type.shapeString());
  Location loc = equations.location(eq.span);
  if (declared->decl->kind == Declaration::Output) {
    rnn::SetOutputOp::create(builder, loc, eq.name, value);
    return;
  }
  if (auto same = value.getDefiningOp<rnn::StateAtOp>(); same && same.getName() == eq.name)
    warn(eq.span, "RNN0902", "the state '" + id + "' never changes");
  rnn::SetStateOp::create(builder, loc, eq.name, value);
}

void CellBuilder::checkAllDefined() {
  for (const Declaration& decl : cell.declarations)
    if ((decl.kind == Declaration::State || decl.kind == Declaration::Output) &&
        !equations.isDefined(decl.name))
      error(decl.span, "RNN0120",
            std::string("the ") + (decl.kind == Declaration::State ? "state" : "output") + " '" +
                decl.name.str() + "' has no equation",
            "write " + decl.name.str() + "[t] = ...");
}

void CellBuilder::warnUnused() {
  for (const Declaration& decl : cell.declarations) {
    bool result = decl.kind == Declaration::State || decl.kind == Declaration::Output;
    if (!result && !scope.find(decl.name)->used)
      warn(decl.span, "RNN0901", "'" + decl.name.str() + "' is never used");
  }
  for (const std::string& name : equations.unusedValues())
    for (const Equation& eq : cell.equations)
      if (eq.name == name)
        warn(eq.span, "RNN0901", "'" + name + "' is never used");
}

void CellBuilder::build() {
  OpBuilder::InsertionGuard guard(builder);
  auto op = rnn::CellOp::create(builder, equations.location(cell.span), cell.name);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  functions(file.functions);
  functions(cell.functions);
  for (const Declaration& constant : file.constants)
    declare(constant);
  for (const Declaration& decl : cell.declarations)
    declare(decl);
  for (const Equation& eq : cell.equations)
    equations.announce(eq.name);
  auto step = rnn::StepOp::create(builder, equations.location(cell.span));
  builder.setInsertionPointToStart(&step.getBody().emplaceBlock());
  for (const Equation& eq : cell.equations)
    equation(eq);
  if (diagnostics.errors())
    return; // what is missing may be what could not be read
  checkAllDefined();
  if (!diagnostics.errors())
    warnUnused();
}

bool rnnc::readSource(const std::string& path, const Limits& limits,
                      rnnc::DiagnosticEngine& diagnostics) {
  auto fail = [&](const char* code, std::string text, std::string hint = "") {
    diagnostics.setSource(path, "");
    diagnostics.report({Severity::Error, code, std::move(text), std::move(hint)});
    return false;
  };
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return fail("RNN0008", "cannot read the file: " + error.message());
  if (llvm::sys::fs::is_directory(status))
    return fail("RNN0008", "cannot read the file: it is a directory");
  if (static_cast<int64_t>(status.getSize()) > limits.source)
    return fail("RNN0009",
                "the file has " + std::to_string(status.getSize()) + " bytes, the limit is " +
                    std::to_string(limits.source),
                "raise it with --limit source=64MiB");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail("RNN0008", "cannot read the file: " + buffer.getError().message());
  diagnostics.setSource(path, (*buffer)->getBuffer().str());
  return true;
}

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
  auto known = [&](const std::string& name, Declaration::Kind kind) {
    auto is = [&](const Declaration& decl) { return decl.kind == kind && decl.name == name; };
    return llvm::any_of(file.constants, is) || llvm::any_of(file.cells, [&](const Cell& c) {
             return llvm::any_of(c.declarations, is);
           });
  };
  for (const auto& [name, size] : options.dims)
    if (!known(name, Declaration::DimDecl))
      diagnostics.report(
          {Severity::Error, "RNN0122", "--dim " + name + ": no cell has such a dim", ""});
  for (const auto& [name, value] : options.consts)
    if (!known(name, Declaration::Const))
      diagnostics.report(
          {Severity::Error, "RNN0122", "--const " + name + ": the file has no such const", ""});
}

OwningOpRef<ModuleOp> rnnc::parseToRnn(MLIRContext& context, const FrontendOptions& options,
                                       rnnc::DiagnosticEngine& diagnostics) {
  File file = parse(options.limits, diagnostics);
  checkHasCell(file, diagnostics);
  if (!diagnostics.errors())
    checkOptions(file, options, diagnostics);
  if (diagnostics.errors() && file.cells.empty())
    return {};
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(FileLineColLoc::get(&context, diagnostics.file(), 1, 1));
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(module->getBody());
  llvm::StringSet<> names;
  for (const Cell& cell : file.cells) {
    if (!names.insert(cell.name).second) {
      reportAt(diagnostics, cell.span, "RNN0118",
               "the cell '" + cell.name.str() + "' is defined twice");
      continue;
    }
    CellBuilder(cell, file, options, diagnostics, builder).build();
  }
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
