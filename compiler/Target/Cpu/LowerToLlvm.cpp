//===- LowerToLlvm.cpp - kernels from vectors to the LLVM dialect ----------------------------===//

#include "Target/Cpu/LowerToLlvm.h"

#include "Target/Cpu/VectorMath/VectorMath.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

/// All dialects in one conversion: a pass for each would look at every op again.
static LogicalResult convert(ModuleOp module) {
  MLIRContext* context = module.getContext();
  LLVMTypeConverter types(context);
  RewritePatternSet patterns(context);
  populateVectorToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

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
  if (failed(lower.run(module)))
    return failure();
  return convert(module);
}
