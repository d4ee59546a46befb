//===- CellBuilder.h - one cell to one rnn.cell -----------------------------------------------===//
#pragma once

#include "Frontend/Equations.h"

#include <map>

namespace rnnc {

/// Declares the names of a cell, then builds its step.
class CellBuilder {
public:
  CellBuilder(const ast::Cell& cell, Scope& file, const FrontendOptions& options,
              DiagnosticEngine& diagnostics, mlir::OpBuilder& builder)
      : cell(cell), options(options), diagnostics(diagnostics), builder(builder), scope(&file),
        order(cell), equations(scope, order, options, diagnostics, builder) {}
  /// `warn`: of what is never used.
  void build(bool warn = true);

private:
  void declare(const ast::Declaration& decl);
  bool shape(const ast::Declaration& decl, Declared& into);
  bool start(const ast::Declaration& decl, Declared& into);
  bool startFrom(Declared& param, const ast::Node& at, Declared& into);
  void emit(const ast::Declaration& decl, const Declared& declared);
  void equation(size_t index);
  bool checkLeft(const ast::Equation& eq, Declared* declared);
  void set(const ast::Equation& eq, Declared& declared, mlir::Value value);
  bool checkCount();
  void checkStates();
  void takeHints(rnn::CellOp op);
  bool checkHint(const ast::Hint& hint, llvm::StringMap<bool>& known);
  void takeSettings(rnn::CellOp op);
  bool takeSetting(const ast::Setting& setting, rnn::CellOp op);
  void warnUnused();
  void error(ast::Span span, const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, span, code, std::move(text), std::move(hint));
  }
  void warn(ast::Span span, const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, span, code, std::move(text), std::move(hint), Severity::Warning);
  }

  const ast::Cell& cell;
  const FrontendOptions& options;
  DiagnosticEngine& diagnostics;
  mlir::OpBuilder& builder;
  Scope scope;
  EquationOrder order;
  EquationBuilder equations;
  /// States of one line share the expression of their start.
  std::map<const ast::Expr*, std::optional<double>> starts;
};

/// Whether name[t] = ... defines it.
inline bool isWritten(const ast::Declaration& decl) {
  return decl.kind == ast::Declaration::State || decl.kind == ast::Declaration::Output;
}

/// The value of a dim or a const, the command line's or the file's, into `declared.constant`: -1
/// for a free dim. False after an error.
bool evaluateDeclared(const ast::Declaration& decl, const FrontendOptions& options, Scope& scope,
                      DiagnosticEngine& diagnostics, Declared& declared);

/// False, after a message, where the name is taken by another declaration or a function.
bool checkFree(const ast::Declaration& decl, Scope& scope, DiagnosticEngine& diagnostics);

} // namespace rnnc
