//===- Pipelines.cpp - the passes in order, each for a reason --------------------------------===//

#include "Newton/Derivatives.h"
#include "Transforms/Passes.h"
#include "Transforms/Simplify.h"
#include "rnnc/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace rnnc;

void rnnc::registerDialects(DialectRegistry& registry) {
  registry.insert<rnn::RnnDialect, newton::NewtonDialect, arith::ArithDialect, math::MathDialect,
                  func::FuncDialect, memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect,
                  LLVM::LLVMDialect>();
  newton::registerDerivativeModels(registry);
}

std::unique_ptr<MLIRContext> rnnc::createContext() {
  DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

/// What changes the equations as arrays.
static void addArrayPasses(PassManager& passes, bool gradients = false) {
  passes.addPass(createLowerComplex());
  passes.addPass(createLiftOrder());
  passes.addPass(createTakeOutMinus());
  passes.addPass(createCSEPass()); // x[t] read twice is one input, sin(a) beside sin(-a) one array
  passes.addPass(createHoist());
  if (!gradients)
    return;
  passes.addPass(createDeriveAdjoint()); // behind hoist: what the stages left is at hand
  passes.addPass(createCSEPass());
  passes.addPass(createHoist());
  passes.addPass(createGatherDelayed());
}

bool rnnc::hoistStages(ModuleOp module) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  addArrayPasses(passes);
  return succeeded(passes.run(module));
}

bool rnnc::lowerToSolve(ModuleOp module, const LowerOptions& options) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  addArrayPasses(passes, options.gradients);
  passes.addPass(createLowerToNewton({options.compute, options.operations}));
  passes.nest<newton::CellOp>().addPass(createDeriveTrial());
  passes.addPass(createCanonicalizerPass(rewriteConfig()));
  passes.addPass(createCSEPass());
  OpPassManager& cell = passes.nest<newton::CellOp>();
  if (options.fma) // before the derivatives, so that the step is one and the same beside them
    cell.addPass(createFormFma());
  cell.addPass(createDeriveJacobian({options.maxBlock}));
  cell.addPass(createDeriveDiagonal());
  if (options.fma) // the Jacobian's own products; the step has none left
    cell.addPass(createFormFma());
  return succeeded(passes.run(module));
}
