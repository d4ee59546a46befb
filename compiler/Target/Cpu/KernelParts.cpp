//===- KernelParts.cpp - what kernels over vectors are put together from ---------------------===//

#include "Target/Cpu/KernelParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace rnnc;

KernelParts::KernelParts(Location loc, Type scalar, KernelShape shape)
    : shape(shape), b(loc.getContext()), loc(loc), scalar(scalar),
      vector(VectorType::get({shape.part}, scalar)),
      pointer(LLVM::LLVMPointerType::get(loc.getContext())) {}

Value KernelParts::at(Value base, Value index, Type element) {
  return LLVM::GEPOp::create(b, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{index});
}

Value KernelParts::at(Value base, int64_t index, Type element) {
  return LLVM::GEPOp::create(b, loc, pointer, element, base,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

/// Vectors are aligned as one number is: the caller's tensors are read in place.
Value KernelParts::load(Value address, Type type) {
  unsigned alignment = isa<VectorType>(type) ? scalar.getIntOrFloatBitWidth() / 8 : 8;
  return LLVM::LoadOp::create(b, loc, type, address, alignment);
}

void KernelParts::store(Value value, Value address) {
  LLVM::StoreOp::create(b, loc, value, address, scalar.getIntOrFloatBitWidth() / 8);
}

Value KernelParts::field(Value args, Field which, Type type) {
  return load(at(args, which, pointer), type); // every field is 8 bytes
}

Value KernelParts::splat(double number) {
  auto value = DenseElementsAttr::get(vector, b.getFloatAttr(scalar, number).getValue());
  return arith::ConstantOp::create(b, loc, vector, value);
}

Value KernelParts::multiplyAdd(Value x, Value y, Value z) {
  if (shape.fma)
    return math::FmaOp::create(b, loc, x, y, z);
  return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, y), z);
}

void KernelParts::widen(Operation& op, IRMapping& mapping) {
  auto wide = [&](Type type) -> Type { return VectorType::get({shape.part}, type); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto attr = cast<TypedAttr>(constant.getValue());
    auto type = cast<VectorType>(wide(constant.getType()));
    Value value = arith::ConstantOp::create(b, op.getLoc(), type,
                                            DenseElementsAttr::get(type, Attribute(attr)));
    mapping.map(constant.getResult(), value);
    return;
  }
  if (isa<math::FmaOp>(op) && !shape.fma) {
    mapping.map(op.getResult(0),
                multiplyAdd(mapping.lookup(op.getOperand(0)), mapping.lookup(op.getOperand(1)),
                            mapping.lookup(op.getOperand(2))));
    return;
  }
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.addOperands(mapping.lookup(operand));
  for (Type type : op.getResultTypes())
    state.addTypes(wide(type));
  state.addAttributes(op.getAttrs());
  mapping.map(op.getResults(), b.create(state)->getResults());
}
