//===- Frontend.h - from text to the Rnn dialect ----------------------------------------------===//
#pragma once

#include "rnnc/Diagnostics.h"

#include <map>
#include <memory>
#include <string>

namespace mlir {
class MLIRContext;
class ModuleOp;
template <typename OpTy>
class OwningOpRef;
} // namespace mlir

namespace rnnc {

/// What untrusted text may ask for. Each can be raised with --limit NAME=VALUE.
struct Limits {
  int64_t source = int64_t(1) << 20; // bytes, of a file with everything that it imports
  int64_t nesting = 256;             // brackets, operators waiting for an operand, calls in calls
  int64_t operations = 100000;       // of a cell after its functions are inlined
};

struct FrontendOptions {
  Limits limits;
  std::map<std::string, int64_t> dims;  // --dim k=8
  std::map<std::string, double> consts; // --const tau=0.1
  /// The folder that no import leaves; empty: that of the engine's file. A text that is no file, as
  /// that of standard input, then has no imports.
  std::string root = {};
};

/// Reads a file into the engine, size checked before a byte is read. False after a message.
bool readSource(const std::string& path, const Limits& limits, DiagnosticEngine& diagnostics);

/// Every cell of the engine's source, then those of the files that it imports, which the engine
/// gets too, each as an rnn.cell; null where there was an error.
mlir::OwningOpRef<mlir::ModuleOp> parseToRnn(mlir::MLIRContext& context,
                                             const FrontendOptions& options,
                                             DiagnosticEngine& diagnostics);

/// The syntax tree of the engine's source as text, for --emit=ast, without what it imports; empty
/// where there was an error.
std::string dumpAst(const FrontendOptions& options, DiagnosticEngine& diagnostics);

/// While it lives, diagnostics of MLIR go to the engine, at the place of their location. A code may
/// stand at the end of the text: "[RNN0401]".
class MlirDiagnostics {
public:
  MlirDiagnostics(mlir::MLIRContext& context, DiagnosticEngine& engine);
  ~MlirDiagnostics();

private:
  mlir::MLIRContext& context;
  uint64_t id;
};

} // namespace rnnc
