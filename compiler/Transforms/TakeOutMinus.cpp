//===- TakeOutMinus.cpp - functions of params see no minus ------------------------------------===//
//
// sin(-a) is -sin(a), so that both become one array once they are hoisted, and cos(-a) is cos(a).
// In the recurrence EqualFormulas sees that; it cannot look into an array. Not a bit of a result
// changes.
//
//===----------------------------------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "Rnn/Rnn.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace rnnc {
#define GEN_PASS_DEF_TAKEOUTMINUS
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

static bool isOdd(UnaryKind kind) {
  return llvm::is_contained({UnaryKind::Sin, UnaryKind::Tan, UnaryKind::Asin, UnaryKind::Atan,
                             UnaryKind::Sinh, UnaryKind::Tanh, UnaryKind::Erf, UnaryKind::Sign},
                            kind);
}
static bool isEven(UnaryKind kind) {
  return llvm::is_contained({UnaryKind::Cos, UnaryKind::Cosh, UnaryKind::Abs}, kind);
}

namespace {

/// The values of a step that are made of params alone, and which of them are a minus of another
/// one: -x, and products and quotients with one such side.
class Signs {
public:
  /// Ops in their order.
  void add(Operation* op) {
    Value value = op->getResult(0);
    ofParams.insert(value);
    if (carrierOf(value))
      negative.insert(value);
  }
  bool isOfParams(Value value) const { return ofParams.contains(value); }

  /// The value without its minus, made once; null where it has none.
  Value withoutMinus(Value value) {
    SmallVector<Value> chain; // down to the minus, or to what was made before
    for (Value next = value; negative.contains(next) && !plus.contains(next);
         next = carrierOf(next))
      chain.push_back(next);
    for (Value next : llvm::reverse(chain)) {
      Value carrier = carrierOf(next);
      auto binary = next.getDefiningOp<BinaryOp>();
      if (!binary) {
        plus[next] = carrier;
        continue;
      }
      OpBuilder b(binary);
      Value lhs = binary.getLhs(), rhs = binary.getRhs();
      (carrier == lhs ? lhs : rhs) = plus.lookup(carrier);
      plus[next] = BinaryOp::create(b, next.getLoc(), next.getType(), binary.getKind(), lhs, rhs);
    }
    return plus.lookup(value);
  }

private:
  /// Of -x the x, of a product or a quotient the one negative side; null where the minuses of both
  /// meet, or there is none.
  Value carrierOf(Value value) const {
    if (auto unary = value.getDefiningOp<UnaryOp>())
      return unary.getKind() == UnaryKind::Neg ? unary.getOperand() : Value();
    auto binary = value.getDefiningOp<BinaryOp>();
    if (!binary || (binary.getKind() != BinaryKind::Mul && binary.getKind() != BinaryKind::Div))
      return {};
    bool lhs = negative.contains(binary.getLhs()), rhs = negative.contains(binary.getRhs());
    return lhs == rhs ? Value() : lhs ? binary.getLhs() : binary.getRhs();
  }

  llvm::DenseSet<Value> ofParams, negative;
  llvm::DenseMap<Value, Value> plus;
};

} // namespace

static void takeOutMinus(CellOp cell) {
  Signs signs;
  for (Operation& op : llvm::make_early_inc_range(cell.getStep().getBody().front())) {
    if (op.getNumResults() == 0 || isa<StateAtOp, InputAtOp>(op) ||
        !llvm::all_of(op.getOperands(), [&](Value v) { return signs.isOfParams(v); }))
      continue;
    signs.add(&op);
    auto function = dyn_cast<UnaryOp>(op);
    if (!function || (!isOdd(function.getKind()) && !isEven(function.getKind())))
      continue;
    Value plus = signs.withoutMinus(function.getOperand());
    if (!plus)
      continue;
    function.getOperandMutable().assign(plus);
    if (isEven(function.getKind()))
      continue;
    OpBuilder b(&op);
    b.setInsertionPointAfter(function);
    auto minus =
        UnaryOp::create(b, op.getLoc(), function.getType(), UnaryKind::Neg, function.getResult());
    function.getResult().replaceAllUsesExcept(minus, minus);
    signs.add(minus);
  }
}

namespace {
struct TakeOutMinus : rnnc::impl::TakeOutMinusBase<TakeOutMinus> {
  void runOnOperation() override {
    for (CellOp cell : getOperation().getOps<CellOp>())
      takeOutMinus(cell);
  }
};
} // namespace
