//===- PrintExplain.cpp - the text of explain as a pass, for tests ---------------------------===//

#include "Analysis/Explain.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace {
struct PrintExplain : PassWrapper<PrintExplain, OperationPass<rnnc::newton::CellOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintExplain)
  StringRef getArgument() const final { return "print-explain"; }
  StringRef getDescription() const final { return "Print what was derived about each system"; }
  void runOnOperation() override {
    for (Operation* system : getOperation().systems())
      llvm::outs() << rnnc::explainSystem(system, [](StringRef) { return -1; });
    markAllAnalysesPreserved();
  }
};
} // namespace

void registerPrintExplain() { PassRegistration<PrintExplain>(); }
