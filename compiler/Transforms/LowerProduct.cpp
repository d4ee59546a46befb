//===- LowerProduct.cpp - a stage that is one matrix product ---------------------------------===//

#include "Transforms/LowerProduct.h"

#include "Newton/Newton.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {
struct Product {
  FlatSymbolRefAttr sequence, weight;
  Attribute bias;
  int64_t back = 0, heads = 0;
  bool left = false;
};
} // namespace

/// The tensor that a read names; null where the value is no read. A sequence too where `steps` is
/// given.
static FlatSymbolRefAttr tensorOf(Value value, int64_t* steps) {
  if (auto param = value.getDefiningOp<ParamValueOp>())
    return param.getNameAttr();
  auto input = value.getDefiningOp<InputAtOp>();
  if (!input || !steps)
    return FlatSymbolRefAttr();
  *steps = input.getBack();
  return input.getNameAttr();
}

static FailureOr<Product> match(StageOp stage) {
  MLIRContext* context = stage.getContext();
  Value value = stage.getSet().getValue();
  Operation* array =
      SymbolTable::lookupSymbolIn(stage->getParentOp(), stage.getSet().getNameAttr());
  if (array->getAttrOfType<TypeAttr>("type").getValue() != value.getType())
    return failure(); // broadcast
  Product product;
  product.bias = UnitAttr::get(context);
  auto matmul = value.getDefiningOp<MatmulOp>();
  if (auto sum = value.getDefiningOp<BinaryOp>(); sum && sum.getKind() == BinaryKind::Add) {
    bool first = static_cast<bool>(sum.getLhs().getDefiningOp<MatmulOp>());
    matmul = (first ? sum.getLhs() : sum.getRhs()).getDefiningOp<MatmulOp>();
    FlatSymbolRefAttr bias = tensorOf(first ? sum.getRhs() : sum.getLhs(), nullptr);
    if (!matmul || !bias || matmul.getType() != sum.getType())
      return failure();
    product.bias = bias;
  }
  if (!matmul)
    return failure();
  bool once = stage.getPhase() == Phase::Call;
  auto isSequence = [&](Value v) { return v.getDefiningOp<InputAtOp>() != nullptr; };
  product.left = !once && isSequence(matmul.getLhs());
  Value sequence = product.left ? matmul.getLhs() : matmul.getRhs();
  Value weight = product.left ? matmul.getRhs() : matmul.getLhs();
  product.weight = tensorOf(weight, nullptr);
  product.sequence = tensorOf(sequence, &product.back);
  if (!product.weight || !product.sequence || (!once && !isSequence(sequence)))
    return failure();
  product.heads = matmul.sharedAxes();
  // A sequence has one axis of rows; a weight may have several, as in [heads, k, m] @ [m].
  if (product.left && matmul.getLhs().getType().getRank() != product.heads + 2)
    return failure();
  return product;
}

static ArrayAttr with(ArrayAttr list, Attribute last) {
  SmallVector<Attribute> all(list.begin(), list.end());
  all.push_back(last);
  return ArrayAttr::get(list.getContext(), all);
}

bool rnnc::lowerProduct(StageOp stage, Type compute, Block& into) {
  FailureOr<Product> matched = match(stage);
  if (failed(matched))
    return false;
  auto phase = static_cast<newton::Phase>(stage.getPhase());
  FlatSymbolRefAttr result = stage.getSet().getNameAttr();
  // Of a call's own products one may need the other's result.
  for (auto known : into.getOps<newton::ProductOp>())
    if (stage.getPhase() != Phase::Call && known.getPhase() == phase &&
        known.getSequenceAttr() == matched->sequence &&
        static_cast<int64_t>(known.getBack()) == matched->back &&
        static_cast<int64_t>(known.getHeads()) == matched->heads &&
        known.getLeft() == matched->left) {
      known.setWeightsAttr(with(known.getWeights(), matched->weight));
      known.setBiasesAttr(with(known.getBiases(), matched->bias));
      known.setResultsAttr(with(known.getResults(), result));
      return true;
    }
  OpBuilder b = OpBuilder::atBlockEnd(&into);
  newton::ProductOp::create(b, stage.getSet().getValue().getLoc(), phase, compute,
                            matched->sequence.getValue(), matched->back, matched->heads,
                            matched->left, b.getArrayAttr({matched->weight}),
                            b.getArrayAttr({matched->bias}), b.getArrayAttr({result}));
  return true;
}
