//===- LowerToLlvm.cpp - kernels from vectors to the LLVM dialect ----------------------------===//

#include "Target/Cpu/LowerToLlvm.h"

#include "Target/Cpu/VectorMath/VectorMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

LogicalResult rnnc::lowerToLlvm(ModuleOp module, bool fma) {
  PassManager share(module.getContext(), ModuleOp::getOperationName());
  share.enableVerifier(false); // the kernel was verified when it was built
  share.addPass(createCSEPass());
  if (failed(share.run(module)))
    return failure();

  RewritePatternSet patterns(module.getContext());
  populateVectorMathPatterns(patterns, VectorMathOptions{fma});
  walkAndApplyPatterns(module, std::move(patterns));

  PassManager lower(module.getContext(), ModuleOp::getOperationName());
  lower.enableVerifier(false);
  lower.addPass(createCSEPass());
  lower.addPass(createSCFToControlFlowPass());
  lower.addPass(createConvertVectorToLLVMPass());
  lower.addPass(createConvertMathToLLVMPass());
  lower.addPass(createArithToLLVMConversionPass());
  lower.addPass(createConvertControlFlowToLLVMPass());
  lower.addPass(createConvertFuncToLLVMPass());
  lower.addPass(createReconcileUnrealizedCastsPass());
  return lower.run(module);
}
