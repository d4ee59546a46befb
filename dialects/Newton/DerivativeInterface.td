//===- DerivativeInterface.td - what a scalar op says about its derivative -----------------------===//

#ifndef NEWTON_DERIVATIVE_INTERFACE
#define NEWTON_DERIVATIVE_INTERFACE

include "mlir/IR/OpBase.td"

def DerivativeOpInterface : OpInterface<"DerivativeOpInterface"> {
  let cppNamespace = "::rnnc::newton";
  let description = [{
    A scalar op with one result that can differentiate itself by building IR. The rules for arith,
    math and newton are in Derivatives.cpp. At a kink the derivative is the one of the branch taken.
  }];
  let methods = [
    InterfaceMethod<[{
      The partial derivative by each operand, at the op's operands; null where it is identically
      zero. Only those that `wanted` marks need to be built.
    }], "void", "partials",
        (ins "::mlir::OpBuilder&":$builder, "::llvm::ArrayRef<bool>":$wanted,
             "::llvm::SmallVectorImpl<::mlir::Value>&":$partials)>,
    InterfaceMethod<[{
      The tangent of the result for the operands' tangents (null: zero); null where it is zero.
    }], "::mlir::Value", "tangent",
        (ins "::mlir::OpBuilder&":$builder, "::llvm::ArrayRef<::mlir::Value>":$tangents),
        "", [{ return ::rnnc::newton::chainRule($_op, builder, tangents); }]>,
  ];
}

#endif
