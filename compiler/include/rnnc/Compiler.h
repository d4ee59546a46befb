//===- Compiler.h - the compiler as a library ------------------------------------------------===//
#pragma once

#include "rnn/module.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir {
class DialectRegistry;
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace rnnc {

/// Everything that a context of ours needs: our dialects, those they lower to, the derivatives.
void registerDialects(mlir::DialectRegistry& registry);
std::unique_ptr<mlir::MLIRContext> createContext();

struct LowerOptions {
  std::string compute = "f32"; // or f64
  bool fma = true;             // whether the target fuses multiply-adds
  int64_t operations = 100000; // scalars that a cell may unroll to
  int64_t maxBlock = 8;        // the largest block that surely gets a Jacobian
  bool gradients = false;      // with the adjoint of every cell beside it
};

/// The first part of lowerToSolve, in place: cells with stages, still over arrays.
bool hoistStages(mlir::ModuleOp module);

/// Rnn to Newton, in place: scalars, fused multiply-adds, Jacobians, structure. Diagnostics go to
/// the context's handlers; false where there was an error.
bool lowerToSolve(mlir::ModuleOp module, const LowerOptions& options);

/// One cell of a Newton module, compiled for this process on demand: the table's `resolve` compiles
/// a kernel when a plan first asks for it. Keeps what it needs of the module; the context must
/// outlive it.
class CompiledCell {
public:
  virtual ~CompiledCell() = default;
  virtual const rnn_module_table* table() const = 0;
  /// Seconds spent so far in compiling kernels, and how many there are.
  virtual double compileSeconds() const = 0;
  virtual int64_t compiledKernels() const = 0;
  /// Why the last `resolve` failed; empty where none did.
  virtual std::string lastError() const = 0;
  /// Whether it failed because a step of the cell is too long to be compiled.
  virtual bool isTooLong() const = 0;
};

/// How kernels are made: as fast as they get, or as fast as they can be made. Their bits are the
/// same.
enum class Effort { Full, Quick };

/// `cell` empty: the module's first. `arch` as --arch; empty for this machine.
llvm::Expected<std::unique_ptr<CompiledCell>> compileForHost(mlir::ModuleOp newton,
                                                             llvm::StringRef cell,
                                                             llvm::StringRef arch = "",
                                                             Effort effort = Effort::Full);
/// The same table for plans that nobody runs: its kernels are there, but do nothing.
llvm::Expected<std::unique_ptr<CompiledCell>>
describeForHost(mlir::ModuleOp newton, llvm::StringRef cell, llvm::StringRef arch = "");

/// Text of the kernels of a Newton module's cell for --emit=llvm and --emit=asm.
enum class KernelText { Llvm, Assembly };
llvm::Expected<std::string> emitKernels(mlir::ModuleOp newton, llvm::StringRef cell,
                                        llvm::StringRef arch, KernelText kind);

} // namespace rnnc
