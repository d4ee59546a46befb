//===- ArrayExpr.h - formulas over arrays ----------------------------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"

namespace rnnc {

/// An array of real numbers as an expression: every operator builds one op of the Rnn dialect at
/// `builder`, broadcasting as the language does.
struct ArrayExpr {
  mlir::OpBuilder* builder;
  mlir::Location loc;
  mlir::Value value;

  ArrayExpr with(mlir::Value v) const { return {builder, loc, v}; }
  rnn::ArrayType type() const { return mlir::cast<rnn::ArrayType>(value.getType()); }
  llvm::ArrayRef<rnn::DimAttr> dims() const { return type().getDims(); }

  ArrayExpr constant(double number) const { return constant(number, {}); }
  ArrayExpr constant(double number, llvm::ArrayRef<rnn::DimAttr> dims) const;
  ArrayExpr unary(rnn::UnaryKind kind) const;
  ArrayExpr binary(rnn::BinaryKind kind, ArrayExpr rhs) const;
  /// Truth values, which only `logic` and `where` take.
  ArrayExpr compare(rnn::CompareKind kind, ArrayExpr rhs) const;
  ArrayExpr logic(rnn::LogicKind kind, ArrayExpr rhs) const;
  /// Of a truth value: `a` where it holds, `b` elsewhere.
  ArrayExpr where(ArrayExpr a, ArrayExpr b) const;
  ArrayExpr reduce(rnn::ReduceKind kind, uint64_t axis, bool keep) const;
  ArrayExpr slice(uint64_t axis, int64_t from, int64_t size, bool drop) const;
  ArrayExpr expand(uint64_t axis) const;
  ArrayExpr transpose() const;
  ArrayExpr matmul(ArrayExpr rhs) const;
  static ArrayExpr concat(llvm::ArrayRef<ArrayExpr> parts, uint64_t axis);

  /// The adjoint of what was broadcast from `dims` to this shape: its sums along the axes that were
  /// added or stretched. Where it has fewer axes itself it is repeated along them first.
  ArrayExpr sumTo(llvm::ArrayRef<rnn::DimAttr> dims) const;

  ArrayExpr exp() const { return unary(rnn::UnaryKind::Exp); }
  ArrayExpr log() const { return unary(rnn::UnaryKind::Log); }
  ArrayExpr sqrt() const { return unary(rnn::UnaryKind::Sqrt); }
  ArrayExpr sin() const { return unary(rnn::UnaryKind::Sin); }
  ArrayExpr cos() const { return unary(rnn::UnaryKind::Cos); }
  ArrayExpr sinh() const { return unary(rnn::UnaryKind::Sinh); }
  ArrayExpr cosh() const { return unary(rnn::UnaryKind::Cosh); }
  ArrayExpr sigmoid() const { return unary(rnn::UnaryKind::Sigmoid); }
  ArrayExpr sign() const { return unary(rnn::UnaryKind::Sign); }
  ArrayExpr pow(ArrayExpr exponent) const { return binary(rnn::BinaryKind::Pow, exponent); }

  friend ArrayExpr operator+(ArrayExpr a, ArrayExpr b) { return a.binary(rnn::BinaryKind::Add, b); }
  friend ArrayExpr operator-(ArrayExpr a, ArrayExpr b) { return a.binary(rnn::BinaryKind::Sub, b); }
  friend ArrayExpr operator*(ArrayExpr a, ArrayExpr b) { return a.binary(rnn::BinaryKind::Mul, b); }
  friend ArrayExpr operator/(ArrayExpr a, ArrayExpr b) { return a.binary(rnn::BinaryKind::Div, b); }
  friend ArrayExpr operator-(ArrayExpr a) { return a.unary(rnn::UnaryKind::Neg); }
  friend ArrayExpr operator+(double a, ArrayExpr b) { return b.constant(a) + b; }
  friend ArrayExpr operator-(double a, ArrayExpr b) { return b.constant(a) - b; }
  friend ArrayExpr operator*(double a, ArrayExpr b) { return b.constant(a) * b; }
  friend ArrayExpr operator/(double a, ArrayExpr b) { return b.constant(a) / b; }
};

} // namespace rnnc
