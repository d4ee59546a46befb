//===- Expressions.h - one pattern of CUDA C++ for every op ----------------------------------===//
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"

#include <string>

namespace rnnc::cuda {

/// How tightly the outermost operator of a text binds, as in C++.
enum class Binding { Conditional, Or, And, Equality, Relation, Sum, Product, Prefix, Primary };

struct Expression {
  std::string text;
  Binding binding = Binding::Primary;
};

/// A number of the step's type, exactly. Not text of a primary expression where it is negative.
std::string numberText(const llvm::APFloat& value);

/// Why the op has no CUDA text; empty where it has. `compute` is the type of every number.
std::string whyNotPrintable(mlir::Operation* op, mlir::Type compute);

/// A number, exactly.
Expression express(double number);

/// The text of a printable op over the texts of its operands.
Expression express(mlir::Operation* op, llvm::ArrayRef<Expression> operands);

} // namespace rnnc::cuda
