//===- EqualFormulas.h - which values are equal or opposite as real formulas -----------------===//
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/ValueRange.h"

#include <memory>
#include <utility>

namespace rnnc {

/// Numbers the float values of a block of scalar ops by what they are as formulas over real
/// numbers: sums and products in any order, quotients, odd and even functions. Never by their
/// values at some points. Not complete: two values that are equal by a law that it does not know
/// get two numbers.
class EqualFormulas {
public:
  /// Looks at the ops that `values` depend on.
  EqualFormulas(mlir::Block& block, mlir::ValueRange values);
  ~EqualFormulas();

  /// Values with the same number are equal where their signs (1 or -1) are, else opposite.
  std::pair<int64_t, int64_t> numberOf(mlir::Value value) const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace rnnc
