//===- Expr.h - formulas as formulas ---------------------------------------------------------===//
//
// An Expr is a value and the place where operations on it are built, so that `a * b + 1.0` builds
// what it says. Floats and integers share the operators; literals take the type of the other
// operand. Only fma() fuses: a * b + c is two roundings.
//
//===-----------------------------------------------------------------------------------------===//
#pragma once

#include "Target/Cpu/VectorMath/VectorMath.h"
#include "rnn/math_coefficients.cuh"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rnnc::vecmath {

using namespace ::rnn::coefficients;

class Expr;

/// The types of one formula and where it is built.
class Formula {
public:
  Formula(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value argument,
          VectorMathOptions options);

  bool isDouble() const { return floatType.isF64(); }
  bool fma() const { return options.fma; }
  /// The number for the type at hand.
  template <typename T>
  T pick(T single, T twice) const {
    return isDouble() ? twice : single;
  }

  /// The coefficients for the type at hand, such as terms<log_tail_f32, log_tail_f64>().
  template <auto single, auto twice = single>
  llvm::ArrayRef<double> terms() const {
    static constexpr auto a = single();
    static constexpr auto b = twice();
    return isDouble() ? llvm::ArrayRef<double>(b.at) : llvm::ArrayRef<double>(a.at);
  }

  mlir::OpBuilder& builder;
  mlir::Location loc;
  VectorMathOptions options;
  mlir::Type floatType; // of an element
  mlir::Type intType;   // of the same width
  int64_t width;        // of the vector, 0 for a scalar
  /// Constants are shared within a formula, so that later passes have less to do.
  llvm::DenseMap<std::pair<mlir::Type, uint64_t>, mlir::Value> constants;

  mlir::Type shaped(mlir::Type element) const;
};

class Expr {
public:
  Expr(Formula& formula, mlir::Value value) : formula(&formula), v(value) {}

  Formula& in() const { return *formula; }
  mlir::Value value() const { return v; }
  mlir::Type element() const;
  bool isFloat() const;
  Expr with(mlir::Value value) const { return {*formula, value}; }
  /// A constant of this value's type.
  Expr like(double number) const;
  Expr like(int64_t number) const;

  Expr bits() const;    // the same bits as an integer
  Expr asFloat() const; // and back
  Expr toDouble() const;
  Expr toSingle() const;
  Expr toLong() const; // i32, zero-extended to i64
  Expr toInt() const;  // i64, truncated to i32

private:
  Formula* formula;
  mlir::Value v;
};

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator&(Expr a, Expr b); // also of conditions
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator<<(Expr a, Expr b);
Expr operator>>(Expr a, Expr b); // zeros come in

// Ordered comparisons, false where an operand is NaN; signed ones of integers.
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b); // true where an operand is NaN

template <typename T>
concept Literal = std::is_arithmetic_v<T>;

template <Literal T>
Expr literal(Expr like, T number) {
  if constexpr (std::is_floating_point_v<T>)
    return like.like(static_cast<double>(number));
  else
    return like.isFloat() ? like.like(static_cast<double>(number))
                          : like.like(static_cast<int64_t>(number));
}

#define RNN_LITERAL_OPERATOR(op)                                                                   \
  template <Literal T>                                                                             \
  Expr operator op(Expr a, T b) {                                                                  \
    return a op literal(a, b);                                                                     \
  }                                                                                                \
  template <Literal T>                                                                             \
  Expr operator op(T a, Expr b) {                                                                  \
    return literal(b, a) op b;                                                                     \
  }
RNN_LITERAL_OPERATOR(+)
RNN_LITERAL_OPERATOR(-)
RNN_LITERAL_OPERATOR(*)
RNN_LITERAL_OPERATOR(/)
RNN_LITERAL_OPERATOR(&)
RNN_LITERAL_OPERATOR(|)
RNN_LITERAL_OPERATOR(^)
RNN_LITERAL_OPERATOR(<<)
RNN_LITERAL_OPERATOR(>>)
RNN_LITERAL_OPERATOR(<)
RNN_LITERAL_OPERATOR(<=)
RNN_LITERAL_OPERATOR(>)
RNN_LITERAL_OPERATOR(>=)
RNN_LITERAL_OPERATOR(==)
RNN_LITERAL_OPERATOR(!=)
#undef RNN_LITERAL_OPERATOR

Expr select(Expr condition, Expr yes, Expr no);
template <Literal T>
Expr select(Expr condition, T yes, Expr no) {
  return select(condition, literal(no, yes), no);
}
template <Literal T>
Expr select(Expr condition, Expr yes, T no) {
  return select(condition, yes, literal(yes, no));
}

/// a * b + c, rounded once where the target fuses, else twice.
Expr fma(Expr a, Expr b, Expr c);
template <Literal T>
Expr fma(Expr a, T b, Expr c) {
  return fma(a, literal(a, b), c);
}
template <Literal T>
Expr fma(Expr a, Expr b, T c) {
  return fma(a, b, literal(a, c));
}
template <Literal T, Literal U>
Expr fma(Expr a, T b, U c) {
  return fma(a, literal(a, b), literal(a, c));
}

Expr abs(Expr a);
Expr sqrt(Expr a);
Expr floor(Expr a);
Expr copysign(Expr magnitude, Expr sign);

/// The larger of x and a number; a NaN x stays.
Expr atLeast(Expr x, double limit);

/// The sign bit of x alone, as an integer, and x with its sign turned where that bit is set.
Expr signBit(Expr x);
Expr flipSign(Expr x, Expr signBit);

/// The polynomial sum c[i] x^i in Estrin's order: a chain of about log2(n) fused operations.
Expr polynomial(Expr x, llvm::ArrayRef<double> coefficients);

/// The value of a formula of one argument, or of two.
mlir::Value build(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value x,
                  VectorMathOptions options, llvm::function_ref<Expr(Expr)> formula);
mlir::Value build(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value a, mlir::Value b,
                  VectorMathOptions options, llvm::function_ref<Expr(Expr, Expr)> formula);

/// `rare`'s result when any lane meets the condition, else `common`. `rare` must itself keep
/// `common`'s bits in the lanes that do not meet it.
Expr whenAny(Expr condition, Expr common, llvm::function_ref<Expr()> rare);
llvm::SmallVector<Expr> whenAny(Expr condition, llvm::ArrayRef<Expr> common,
                                llvm::function_ref<llvm::SmallVector<Expr>()> rare);

} // namespace rnnc::vecmath
