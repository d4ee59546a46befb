// A file on its way through the compiler: text, the Rnn dialect, the Newton dialect, kernels.
#pragma once

#include "console.h"

#include "Rnn/Rnn.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <string>

namespace rnnc::tool {

enum class BackEnd { Cpu, Cuda };

class Source {
public:
  Source(const Options& options, const Console& console);
  ~Source();

  /// Reads and checks the file and picks the cell. A .mlir file may hold the Rnn or the Newton
  /// dialect. Returns kFine, or the exit status after a message.
  int load();

  /// The cell in the Rnn dialect; null where the file was in the Newton dialect.
  rnn::CellOp cell() const { return rnnCell; }
  const std::string& cellName() const { return name; }
  mlir::ModuleOp module() const { return *original; }
  mlir::MLIRContext& context() const { return *mlirContext; }

  /// Cells that are lowered have their adjoints beside them, from now on.
  void takeGradients() { gradients = true; }

  /// The cell in the Newton dialect, a module of its own. Status as above. On the CPU for `arch`,
  /// which is --arch where nothing else is said.
  int lower(rnn_dtype compute, mlir::OwningOpRef<mlir::ModuleOp>& newton,
            BackEnd target = BackEnd::Cpu) const;
  int lower(rnn_dtype compute, mlir::OwningOpRef<mlir::ModuleOp>& newton, BackEnd target,
            llvm::StringRef arch) const;
  /// Runs a part of the compiler that tells its errors as diagnostics, and prints them. kFine where
  /// `work` says so, kFailure where the user's text is to blame, else kBug with `bug`.
  int diagnose(llvm::function_ref<bool()> work, const std::string& bug) const;
  /// The cell for this process; kernels are compiled when a plan asks for them. Where nobody runs
  /// it they are there, but do nothing.
  int compile(rnn_dtype compute, std::unique_ptr<CompiledCell>& compiled, bool isRun = true) const;

  /// Our own bug: writes a reproducer, returns kBug.
  int bug(const std::string& what) const;

  /// The syntax tree as text.
  int ast(std::string& text);
  Limits limits() const;
  FrontendOptions frontendOptions() const;

private:
  int loadMlir();
  int chooseCell();
  int checkDims(mlir::Operation* chosen);

  const Options& options;
  const Console& console;
  DiagnosticEngine engine;
  std::unique_ptr<mlir::MLIRContext> mlirContext;
  mlir::OwningOpRef<mlir::ModuleOp> original;
  rnn::CellOp rnnCell;
  std::string name;
  bool gradients = false;
  mutable bool warned = false;
};

/// What this build cannot do for these options, told before anything is read: a missing device
/// first. kFine where there is nothing.
int checkSupported(const Options& options, const Console& console);

/// --compute, or what --dtype implies.
rnn_dtype computeType(const Options& options);

} // namespace rnnc::tool
