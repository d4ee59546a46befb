//===- LinearSolve.h - small systems of linear equations, written out as scalars -------------===//
#pragma once

#include "mlir/IR/Builders.h"

namespace rnnc {

/// LU factors with partial pivoting: rows are exchanged by selects, so that lanes side by side may
/// choose differently.
class Factored {
public:
  using Matrix = llvm::SmallVector<llvm::SmallVector<mlir::Value>>; // [row][column], null: zero

  /// Builds the factors of a square matrix; failure, without a diagnostic, where its pattern alone
  /// makes it singular.
  static mlir::FailureOr<Factored> create(mlir::OpBuilder& builder, mlir::Location loc,
                                          Matrix matrix);

  /// Builds x with matrix * x = b; null: zero.
  llvm::SmallVector<mlir::Value> solve(mlir::OpBuilder& builder, mlir::Location loc,
                                       llvm::SmallVector<mlir::Value> b) const;

private:
  struct Exchange {
    unsigned row;
    mlir::Value where; // null: everywhere
  };
  struct Column {
    llvm::SmallVector<Exchange> exchanges;                         // with the row of the pivot
    llvm::SmallVector<std::pair<unsigned, mlir::Value>> multiples; // of the pivot's row
  };

  Matrix upper;
  llvm::SmallVector<Column> columns;
};

} // namespace rnnc
