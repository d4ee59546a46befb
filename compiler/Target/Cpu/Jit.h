//===- Jit.h - LLVM for this machine ---------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
namespace orc {
class LLJIT;
}
} // namespace llvm

namespace rnnc {

/// What kernels are made for. No fast-math anywhere: products and sums are fused in the IR or not
/// at all (SOLVER.md section 8).
struct CpuTarget {
  std::string name; // LLVM's name of the processor, "host" resolved
  std::string features;
  bool fma;
  unsigned vectorBits;     // of a vector register
  bool isOptimized = true; // what is made for it
  /// Columns a vector: `narrow` fills one register, `wide` four, which hides latency.
  unsigned narrow(unsigned elementBits) const { return vectorBits / elementBits; }
  unsigned wide(unsigned elementBits) const { return 4 * narrow(elementBits); }
};

/// This machine, or an `--arch`: x86-64-v2, x86-64-v3, x86-64-v4. Error for an unknown name.
llvm::Expected<CpuTarget> cpuTarget(llvm::StringRef arch);

/// Compiles functions for this process, one module at a time. Thread-safe.
class Jit {
public:
  static llvm::Expected<std::unique_ptr<Jit>> create(const CpuTarget& target);
  ~Jit();

  /// Lowers `module` (functions over vectors) and returns the address of its function `name`.
  llvm::Expected<void*> compile(mlir::ModuleOp module, llvm::StringRef name);

private:
  Jit();
  llvm::Error addQuickly(llvm::Module& module);
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<llvm::TargetMachine> machine;
  CpuTarget target;
};

/// Optimised LLVM IR or assembly of a module of kernels, as text.
llvm::Expected<std::string> emitLlvm(mlir::ModuleOp module, const CpuTarget& target);
llvm::Expected<std::string> emitAssembly(mlir::ModuleOp module, const CpuTarget& target);

/// An object file of a module of kernels, which only what is linked with it sees. Error
/// std::errc::value_too_large where a step is too long to be compiled.
llvm::Expected<std::string> emitObject(mlir::ModuleOp module, const CpuTarget& target);
/// An object file of constants, for any processor.
llvm::Expected<std::string> emitObject(llvm::Module& data);

} // namespace rnnc
