//===- compiled.h - a program through the compiler --------------------------------------------===//
#pragma once

#include "trial.h"

#include "Newton/Newton.h"
#include "Rnn/Rnn.h"
#include "rnnc/Compiler.h"
#include "rnnc/Cuda.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace rnnc::generated {

/// A program's text in the compiler, as `rnnc` would have it.
class Compiled {
public:
  /// Parses; `failure` says what was wrong.
  explicit Compiled(const Program& program);

  rnn::CellOp cell();
  /// Whether multiply-adds are fused is the target's choice unless it is given.
  mlir::OwningOpRef<mlir::ModuleOp> lower(bool isDouble, std::optional<bool> fma = std::nullopt);
  std::unique_ptr<CompiledCell> compile(mlir::ModuleOp newton);
  std::optional<CudaUnit> cuda(mlir::ModuleOp newton, const CudaOptions& options);
  std::optional<Failure> failure;

private:
  std::string messages() const;
  const Program& program;
  DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace rnnc::generated
