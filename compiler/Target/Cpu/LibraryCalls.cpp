//===- LibraryCalls.cpp - functions that are not inlined yet
//--------------------------------------------===//

#include "Target/Cpu/LibraryCalls.h"

#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace rnnc;

/// The name in the C library, without the suffix of the type; empty where the op needs no call.
static StringRef libraryName(Operation* op) {
  return llvm::TypeSwitch<Operation*, StringRef>(op)
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::ExpM1Op>([](auto) { return "expm1"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::TanOp>([](auto) { return "tan"; })
      .Case<math::AsinOp>([](auto) { return "asin"; })
      .Case<math::AcosOp>([](auto) { return "acos"; })
      .Case<math::AtanOp>([](auto) { return "atan"; })
      .Case<math::Atan2Op>([](auto) { return "atan2"; })
      .Case<math::SinhOp>([](auto) { return "sinh"; })
      .Case<math::CoshOp>([](auto) { return "cosh"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Default([](Operation*) { return StringRef(); });
}

/// The declaration of a library function of one or two numbers.
static func::FuncOp declare(ModuleOp module, StringRef name, Type scalar, unsigned arguments) {
  std::string full = (name + (scalar.isF32() ? "f" : "")).str();
  if (auto found = module.lookupSymbol<func::FuncOp>(full))
    return found;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto type = b.getFunctionType(SmallVector<Type>(arguments, scalar), {scalar});
  auto function = func::FuncOp::create(b, module.getLoc(), full, type);
  function.setPrivate();
  return function;
}

static void replaceByCalls(ModuleOp module, Operation* op, StringRef name) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  Type scalar = vector ? vector.getElementType() : type;
  func::FuncOp function = declare(module, name, scalar, op->getNumOperands());
  Value result;
  if (!vector) {
    result = func::CallOp::create(b, loc, function, op->getOperands()).getResult(0);
  } else {
    result = arith::ConstantOp::create(b, loc, vector, b.getZeroAttr(vector));
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      SmallVector<Value> arguments;
      for (Value operand : op->getOperands())
        arguments.push_back(vector::ExtractOp::create(b, loc, operand, i));
      Value element = func::CallOp::create(b, loc, function, arguments).getResult(0);
      result = vector::InsertOp::create(b, loc, element, result, i);
    }
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

static Value number(OpBuilder& b, Location loc, Type type, double value) {
  Type scalar = getElementTypeOrSelf(type);
  auto attr = b.getFloatAttr(scalar, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc, vector,
                                     DenseElementsAttr::get(vector, attr.getValue()));
  return arith::ConstantOp::create(b, loc, attr);
}

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)), which cannot overflow; NaN stays.
static void expandSoftplus(newton::SoftplusOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getOperand(), zero = number(b, loc, x.getType(), 0);
  Value positive = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, x, zero);
  Value clipped = arith::SelectOp::create(b, loc, positive, x, zero);
  Value minus = arith::NegFOp::create(b, loc, math::AbsFOp::create(b, loc, x));
  Value rest = math::Log1pOp::create(b, loc, math::ExpOp::create(b, loc, minus));
  op.replaceAllUsesWith(Value(arith::AddFOp::create(b, loc, clipped, rest)));
  op.erase();
}

static void expandSign(newton::SignOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getOperand(), zero = number(b, loc, x.getType(), 0);
  Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, zero);
  Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, zero);
  Value negative = arith::SelectOp::create(b, loc, below, number(b, loc, x.getType(), -1), x);
  op.replaceAllUsesWith(
      Value(arith::SelectOp::create(b, loc, above, number(b, loc, x.getType(), 1), negative)));
  op.erase();
}

static void expandRsqrt(math::RsqrtOp op) {
  OpBuilder b(op);
  Value root = math::SqrtOp::create(b, op.getLoc(), op.getOperand());
  Value one = number(b, op.getLoc(), op.getType(), 1);
  op.replaceAllUsesWith(Value(arith::DivFOp::create(b, op.getLoc(), one, root)));
  op.erase();
}

void rnnc::callLibrary(ModuleOp module) {
  SmallVector<Operation*> ops;
  module.walk([&](Operation* op) { ops.push_back(op); });
  for (Operation* op : ops) {
    if (auto sign = dyn_cast<newton::SignOp>(op))
      expandSign(sign);
    else if (auto rsqrt = dyn_cast<math::RsqrtOp>(op))
      expandRsqrt(rsqrt);
    else if (auto softplus = dyn_cast<newton::SoftplusOp>(op))
      expandSoftplus(softplus);
  }
  ops.clear(); // softplus made new ones
  module.walk([&](Operation* op) { ops.push_back(op); });
  for (Operation* op : ops)
    if (StringRef name = libraryName(op); !name.empty())
      replaceByCalls(module, op, name);
}
