//===- CarryAlgebra.h - the numbers of a product of Jacobians --------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace rnnc {

/// The form of a product of Jacobians: which of its places are not identically zero, and which of
/// them hold the same number up to the sign.
struct CarryAlgebra {
  llvm::SmallVector<int64_t> places;  ///< (row, column) pairs, row-major
  llvm::SmallVector<int64_t> numbers; ///< of each place: n or -n, counted from 1 by first places
};

/// The form with the fewest numbers that holds the identity and a k x k Jacobian whose `entries`
/// ((row, column) pairs, row-major) have the signed `values` (1, 2, ...; later with either sign),
/// and that a product of two matrices of it has again. So scalar times identity is 1 number,
/// (a -b; b a) is 2, a circulant is its first row, with no case of its own.
CarryAlgebra carryAlgebra(int64_t k, llvm::ArrayRef<int64_t> entries,
                          llvm::ArrayRef<int64_t> values);

} // namespace rnnc
