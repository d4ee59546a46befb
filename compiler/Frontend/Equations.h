//===- Equations.h - expressions to ops of the Rnn dialect ------------------------------------===//
#pragma once

#include "Frontend/Builtins.h"
#include "Frontend/Order.h"
#include "Frontend/Scope.h"

#include "mlir/IR/Builders.h"

namespace rnnc {

/// The shape as the user writes it, with the sizes that are known: `[heads, k = 4]`.
std::string shapeText(rnn::ArrayType type);

/// The number that a value is; nothing where it is not constant.
std::optional<double> constantOf(mlir::Value value);

/// Builds the ops of one cell's step. After an error a value is null, and what uses it is silent.
class EquationBuilder {
public:
  EquationBuilder(Scope& scope, const EquationOrder& order, const FrontendOptions& options,
                  DiagnosticEngine& diagnostics, mlir::OpBuilder& builder)
      : scope(scope), order(order), options(options), diagnostics(diagnostics), builder(builder) {}

  /// The value of the right side of an equation, the `index`th of the cell.
  mlir::Value build(const ast::Expr& expr, size_t index);
  /// Makes a value of this step known. `atTime`: it is read as name[t].
  void define(llvm::StringRef name, mlir::Value value, bool atTime);
  bool isDefined(llvm::StringRef name) const { return values.contains(name); }
  bool isUsed(llvm::StringRef name) const;
  /// A real value as a complex one.
  mlir::Value promote(ast::Span at, mlir::Value value);
  mlir::Location location(ast::Span span) const;
  void error(ast::Span span, const char* code, std::string text, std::string hint = "");

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
    Scope* scope; // what its names mean
  };
  struct Defined {
    mlir::Value value;
    bool atTime, used = false;
  };

  void step(const ast::Node& node);
  bool finishLine();
  mlir::Value name(const ast::Node& node);
  mlir::Value declaredName(const ast::Node& node, Declared& declared);
  mlir::Value atTime(const ast::Node& node);
  mlir::Value earlierState(const ast::Node& node, const Declared& declared);
  bool isUnknown(const ast::Node& node, const Declared& declared);
  mlir::Value newValue(const ast::Node& node, Declared& declared);
  void early(const ast::Node& node);
  void call(const ast::Node& node);
  bool enter(const ast::Node& node, const DeclaredFunction& declared);
  Scope& here() { return *frames.back().scope; }
  void operate(const ast::Node& node);
  mlir::Value builtin(const ast::Node& node, const Builtin& what, llvm::ArrayRef<Operand> args);
  mlir::Value alongAxis(const ast::Node& node, const Builtin& what, Operand operand);
  std::optional<unsigned> findAxis(mlir::Value value, llvm::StringRef axis);
  std::optional<unsigned> axisOf(const ast::Node& node, Operand operand);
  mlir::Value reduce(ast::Span at, rnn::ReduceKind kind, mlir::Value x, unsigned axis,
                     bool keep = false);
  mlir::Value softmax(ast::Span at, mlir::Value x, unsigned axis);
  mlir::Value norm(ast::Span at, mlir::Value x, unsigned axis);
  mlir::Value logSumExp(ast::Span at, mlir::Value x, unsigned axis);
  mlir::Value unary(mlir::Location loc, rnn::UnaryKind kind, mlir::Value x);
  mlir::Value binary(ast::Span at, rnn::BinaryKind kind, Operand a, Operand b);
  mlir::Value matmul(ast::Span at, Operand a, Operand b);
  void index(const ast::Node& node);
  mlir::Value cut(const ast::Node& node, Operand base, llvm::ArrayRef<Operand> bounds);
  struct Range {
    int64_t from, to;
  };
  std::optional<Range> range(const ast::Node& node, unsigned item, Operand base, rnn::DimAttr dim,
                             llvm::ArrayRef<Operand>& bounds);
  std::optional<int64_t> bound(Operand given, Operand base, rnn::DimAttr dim, bool isEnd);
  void transpose(const ast::Node& node);
  mlir::Value concat(const ast::Node& node, llvm::ArrayRef<Operand> args);
  std::optional<unsigned> joinedAxis(const ast::Node& node, llvm::ArrayRef<Operand> args);
  bool fitsBeside(Operand first, Operand other, unsigned axis);
  bool sizeIsKnown(Operand operand, unsigned axis);
  mlir::Value outer(const ast::Node& node, Operand a, Operand b);
  mlir::Value expand(ast::Span at, mlir::Value x, unsigned axis);
  mlir::Value compare(ast::Span at, llvm::StringRef sign, Operand a, Operand b);
  mlir::Value logic(const ast::Node& node, Operand a, Operand b);
  mlir::Value where(ast::Span at, Operand c, Operand a, Operand b);
  std::optional<llvm::SmallVector<rnn::DimAttr>> broadcast(ast::Span at, Operand a, Operand b);
  bool real(Operand operand);
  bool numeric(Operand operand);
  mlir::Value power(ast::Span at, Operand base, Operand exponent);
  mlir::Value part(mlir::Location loc, rnn::PartKind kind, mlir::Value x);
  mlir::Value complex(ast::Span at, Operand re, Operand im);
  mlir::Value argument(ast::Span at, mlir::Value x);
  mlir::Value magnitude(ast::Span at, mlir::Value x);
  mlir::Value ofComplex(const ast::Node& node, const Builtin& what, llvm::ArrayRef<Operand> args);
  rnn::Kind kindOf(llvm::ArrayRef<Operand> operands);
  bool truth(Operand operand);
  mlir::Value number(mlir::Location loc, double value);
  std::string text(ast::Span span) const;
  static std::string shape(mlir::Value value);
  bool count(ast::Span at);
  mlir::Value undefined(const ast::Node& node);

  Scope& scope;
  const EquationOrder& order;
  const FrontendOptions& options;
  DiagnosticEngine& diagnostics;
  mlir::OpBuilder& builder;
  llvm::StringMap<Defined> values;
  llvm::StringSet<> unknowns; // states of implicit steps
  size_t current = 0;         // equation
  std::vector<Operand> stack;
  std::vector<Frame> frames;
  int64_t operations = 0;
  bool stopped = false;
};

} // namespace rnnc
