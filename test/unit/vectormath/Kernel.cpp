//===- Kernel.cpp - functions compiled to loops over arrays ----------------------------------===//

#include "Kernel.h"

#include "Newton/Newton.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

using namespace mlir;
using namespace vectormath;

static llvm::ExitOnError orExit("vector math test: ");

static rnnc::CpuTarget target(Shape shape) {
  rnnc::CpuTarget target = orExit(rnnc::cpuTarget(shape.arch));
  target.fma = target.fma && shape.fma;
  return target;
}

Kernels::Kernels() {
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect,
                      rnnc::newton::NewtonDialect>();
}

rnnc::Jit& Kernels::jit(Shape shape) {
  std::unique_ptr<rnnc::Jit>& found = jits[{shape.arch, shape.fma}];
  if (!found)
    found = orExit(rnnc::Jit::create(target(shape)));
  return *found;
}

namespace {

/// A function `name` of pointers and one count, open for its body.
struct Body {
  OwningOpRef<ModuleOp> module;
  OpBuilder b;
  Location loc;
  func::FuncOp function;
  Type element, vector, pointer;

  Body(MLIRContext& context, Type element, int64_t width, llvm::StringRef name)
      : b(&context), loc(b.getUnknownLoc()), element(element),
        vector(width ? Type(VectorType::get({width}, element)) : element),
        pointer(LLVM::LLVMPointerType::get(&context)) {
    module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(
        b, loc, name, b.getFunctionType({pointer, pointer, pointer, b.getI64Type()}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
  }
  Value argument(unsigned i) { return function.getArgument(i); }
  Value number(int64_t n) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n)); }
  Value at(unsigned i, Value index) {
    return LLVM::GEPOp::create(b, loc, pointer, element, argument(i),
                               ArrayRef<LLVM::GEPArg>{index});
  }
  Value load(Value address) {
    return LLVM::LoadOp::create(b, loc, vector, address, element.getIntOrFloatBitWidth() / 8);
  }
  void store(Value value, Value address) {
    LLVM::StoreOp::create(b, loc, value, address, element.getIntOrFloatBitWidth() / 8);
  }
};

} // namespace

OwningOpRef<ModuleOp> Kernels::mapModule(const Operation& f, Type element, int64_t width,
                                         llvm::StringRef name) {
  Body body(context, element, width, name);
  OpBuilder& b = body.b;
  Value step = body.number(std::max<int64_t>(width, 1));
  scf::ForOp::create(b, body.loc, body.number(0), body.argument(3), step, ValueRange{},
                     [&](OpBuilder& inner, Location loc, Value i, ValueRange) {
                       OpBuilder::InsertionGuard guard(b);
                       b = inner;
                       Value x = body.load(body.at(0, i));
                       Value y = f.function.binary ? body.load(body.at(1, i)) : Value();
                       body.store(f.build(b, loc, x, y), body.at(2, i));
                       scf::YieldOp::create(b, loc);
                     });
  func::ReturnOp::create(b, body.loc);
  return std::move(body.module);
}

OwningOpRef<ModuleOp> Kernels::chainModule(const Operation& f, Type element, int64_t width,
                                           llvm::StringRef name) {
  Body body(context, element, width, name);
  OpBuilder& b = body.b;
  Value zero = body.number(0);
  Value c = body.load(body.at(1, zero)), d = body.load(body.at(2, zero));
  auto loop = scf::ForOp::create(b, body.loc, zero, body.argument(3), body.number(1),
                                 ValueRange{body.load(body.at(0, zero))},
                                 [&](OpBuilder& inner, Location loc, Value, ValueRange carried) {
                                   OpBuilder::InsertionGuard guard(b);
                                   b = inner;
                                   Value x = math::FmaOp::create(b, loc, carried[0], c, d);
                                   scf::YieldOp::create(b, loc, ValueRange{f.build(b, loc, x, x)});
                                 });
  body.store(loop.getResult(0), body.at(0, zero));
  func::ReturnOp::create(b, body.loc);
  return std::move(body.module);
}

template <>
Type Kernels::type<float>() {
  return Float32Type::get(&context);
}
template <>
Type Kernels::type<double>() {
  return Float64Type::get(&context);
}

template <typename T>
Map<T> Kernels::map(const Operation& f, Shape shape) {
  std::string name = "map" + std::to_string(count++);
  auto module = mapModule(f, type<T>(), shape.width, name);
  return reinterpret_cast<Map<T>>(orExit(jit(shape).compile(*module, name)));
}

template <typename T>
Chain<T> Kernels::chain(const Operation& f, Shape shape) {
  std::string name = "chain" + std::to_string(count++);
  auto module = chainModule(f, type<T>(), shape.width, name);
  return reinterpret_cast<Chain<T>>(orExit(jit(shape).compile(*module, name)));
}

template <typename T>
std::string Kernels::assembly(const Operation& f, Shape shape) {
  auto module = mapModule(f, type<T>(), shape.width, "map");
  return orExit(rnnc::emitAssembly(*module, target(shape)));
}

template Map<float> Kernels::map<float>(const Operation&, Shape);
template Map<double> Kernels::map<double>(const Operation&, Shape);
template Chain<float> Kernels::chain<float>(const Operation&, Shape);
template Chain<double> Kernels::chain<double>(const Operation&, Shape);
template std::string Kernels::assembly<float>(const Operation&, Shape);
template std::string Kernels::assembly<double>(const Operation&, Shape);
