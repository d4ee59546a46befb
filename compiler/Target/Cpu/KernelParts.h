//===- KernelParts.h - what kernels over vectors are put together from -----------------------===//
#pragma once

#include "Target/Cpu/EmitKernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace rnnc {

/// The fields of rnn_shoot_args, in order.
enum Field : int32_t {
  kSteps,
  kInputs,
  kInputStrides,
  kParams,
  kState,
  kCarry,
  kOutputs,
  kOutputStrides,
  kFinite,
  kBlockSizes,
  kShared,
  kScratch,
  kUnsolved,
  kSums
};

/// Builds at `b`. Addresses are of the LLVM dialect, vectors have `shape.part` numbers.
class KernelParts {
public:
  KernelParts(mlir::Location loc, mlir::Type scalar, KernelShape shape);

protected:
  mlir::Value at(mlir::Value base, mlir::Value index, mlir::Type element);
  mlir::Value at(mlir::Value base, int64_t index, mlir::Type element);
  mlir::Value load(mlir::Value address, mlir::Type type);
  void store(mlir::Value value, mlir::Value address);
  /// One of rnn_shoot_args.
  mlir::Value field(Field which, mlir::Type type);
  mlir::Value splat(double number);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  /// The op on vectors; of every number `mapping` knows the vector.
  void widen(mlir::Operation& op, mlir::IRMapping& mapping);

  KernelShape shape;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type scalar;
  mlir::VectorType vector;
  mlir::Type pointer;
  mlir::Value args; // of the kernel, rnn_shoot_args
};

} // namespace rnnc
