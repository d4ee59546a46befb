//===- Equations.h - expressions to ops of the Rnn dialect
//------------------------------------------------===//
#pragma once

#include "Frontend/Builtins.h"
#include "Frontend/Scope.h"

#include "mlir/IR/Builders.h"

namespace rnnc {

/// Builds the ops of one cell's step. After an error a value is null, and what uses it is silent.
class EquationBuilder {
public:
  EquationBuilder(Scope& scope, const FrontendOptions& options, DiagnosticEngine& diagnostics,
                  mlir::OpBuilder& builder)
      : scope(scope), options(options), diagnostics(diagnostics), builder(builder) {}

  /// The value of an expression; `of` is the name that it defines, for messages.
  mlir::Value build(const ast::Expr& expr, llvm::StringRef of);
  /// Makes a value of this step known. `atTime`: it is read as name[t].
  void define(llvm::StringRef name, mlir::Value value, bool atTime);
  bool isDefined(llvm::StringRef name) const { return values.contains(name); }
  /// Names that an equation of the cell defines, early or late.
  void announce(llvm::StringRef name) { announced.insert(name); }
  std::vector<std::string> unusedValues() const;
  mlir::Location location(ast::Span span) const;
  void error(ast::Span span, const char* code, std::string text, std::string hint = "") {
    reportAt(diagnostics, span, code, std::move(text), std::move(hint));
  }

private:
  /// A value on the stack with the stretch of text that made it.
  struct Operand {
    mlir::Value value;
    ast::Span span;
  };
  /// One expression being evaluated: the equation's own, or a line of an inlined function.
  struct Frame {
    const ast::Function* function; // null: the equation
    const ast::Expr* code;
    size_t next = 0, line = 0;
    llvm::StringMap<mlir::Value> locals;
    ast::Span call;
  };
  struct Defined {
    mlir::Value value;
    bool atTime, used = false;
  };

  void step(const ast::Node& node, llvm::StringRef of);
  bool finishLine();
  mlir::Value name(const ast::Node& node);
  mlir::Value atTime(const ast::Node& node, llvm::StringRef of);
  void call(const ast::Node& node);
  bool enter(const ast::Node& node, const ast::Function& function);
  mlir::Value builtin(const ast::Node& node, const Builtin& what, llvm::ArrayRef<Operand> args);
  mlir::Value sum(const ast::Node& node, Operand operand);
  mlir::Value unary(mlir::Location loc, rnn::UnaryKind kind, mlir::Value x);
  mlir::Value binary(ast::Span at, rnn::BinaryKind kind, Operand a, Operand b);
  mlir::Value matmul(ast::Span at, Operand a, Operand b);
  mlir::Value compare(ast::Span at, llvm::StringRef sign, Operand a, Operand b);
  mlir::Value logic(const ast::Node& node, Operand a, Operand b);
  mlir::Value where(ast::Span at, Operand c, Operand a, Operand b);
  std::optional<llvm::SmallVector<rnn::DimAttr>> broadcast(ast::Span at, Operand a, Operand b);
  bool real(Operand operand);
  bool truth(Operand operand);
  mlir::Value number(mlir::Location loc, double value);
  std::string text(ast::Span span) const;
  std::string shape(mlir::Value value) const;
  bool count(ast::Span at);
  mlir::Value undefined(const ast::Node& node);

  Scope& scope;
  const FrontendOptions& options;
  DiagnosticEngine& diagnostics;
  mlir::OpBuilder& builder;
  llvm::StringMap<Defined> values;
  llvm::StringSet<> announced;
  std::vector<Operand> stack;
  std::vector<Frame> frames;
  int64_t operations = 0;
  bool stopped = false;
};

} // namespace rnnc
