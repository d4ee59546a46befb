//===- rnn-opt.cpp - run single passes over textual IR ---------------------------------------===//

#include "Transforms/Passes.h"
#include "rnnc/Compiler.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

void registerPrintExplain();

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  rnnc::registerDialects(registry);
  rnnc::registerRnncPasses();
  registerPrintExplain();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "rnnc's passes, one at a time\n", registry));
}
