//===- Scalars.h - the built-in functions on scalars -----------------------------------------===//
#pragma once

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"

namespace rnnc {

/// Builds the scalar meaning of one element-wise op of the Rnn dialect, out of arith, math and
/// newton ops that have derivatives. `operands` are scalars of the compute type (or i1).
mlir::Value buildScalar(mlir::OpBuilder& builder, mlir::Location loc, mlir::Operation* op,
                        mlir::ValueRange operands, mlir::Type compute);

mlir::Value buildBinary(mlir::OpBuilder& builder, mlir::Location loc, rnn::BinaryKind kind,
                        mlir::Value x, mlir::Value y);

mlir::Value buildNumber(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type compute,
                        double value);

} // namespace rnnc
