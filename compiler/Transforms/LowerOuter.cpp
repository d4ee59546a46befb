//===- LowerOuter.cpp - a stage that sums the matrix that two sequences make ----------------===//

#include "Transforms/LowerOuter.h"

#include "Analysis/Adjoint.h"
#include "Analysis/LaneAxes.h"
#include "Newton/Newton.h"
#include "Transforms/Elements.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

/// Products that one element is a sum of, and elements along joined axes, at most: what is more is
/// no matrix of a few sequences.
static constexpr size_t kMostTerms = 16;

/// Of a batch of matrices: with as few numbers each as this, their kernel is mostly empty, and a
/// map, whose lanes go through all of them, is not.
static constexpr int64_t kFewNumbers = 64;

namespace {
/// An element of one of the two, of a sequence.
struct Factor {
  InputAtOp read;
  Index index;
};

struct Term {
  Factor left, right;
  bool guarded = false, negative = false;
  Index result = {};
};
} // namespace

/// Through what moves elements only.
static Element origin(Element element) {
  while (Operation* op = element.first.getDefiningOp()) {
    if (!isMovement(op))
      break;
    element = movedElement(op, element.second);
  }
  return element;
}

static bool isZero(const Element& element) {
  auto constant = element.first.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isZero();
}

static FailureOr<Factor> factorOf(const Element& element) {
  auto [value, index] = origin(element);
  auto read = value.getDefiningOp<InputAtOp>();
  if (!read || read.getBack() != 0)
    return failure();
  return Factor{read, index};
}

static FailureOr<Term> productOf(const Element& element) {
  auto product = element.first.getDefiningOp<BinaryOp>();
  if (!product || product.getKind() != BinaryKind::Mul)
    return failure();
  SmallVector<Element> sides = operandElements(product, element.second);
  FailureOr<Factor> left = factorOf(sides[0]), right = factorOf(sides[1]);
  if (failed(left) || failed(right))
    return failure();
  return Term{*left, *right};
}

/// where(l == 0, 0, l * r): what a branch that was not taken owes, which is nothing.
static FailureOr<Term> guardedProduct(WhereOp where, const Index& index) {
  SmallVector<Element> operands = operandElements(where, index);
  auto compare = operands[0].first.getDefiningOp<CompareOp>();
  if (!compare || compare.getKind() != CompareKind::Eq || !isZero(origin(operands[1])))
    return failure();
  SmallVector<Element> sides = operandElements(compare, operands[0].second);
  FailureOr<Factor> guard = factorOf(sides[0]);
  FailureOr<Term> term = productOf(origin(operands[2]));
  if (failed(guard) || failed(term) || !isZero(origin(sides[1])))
    return failure();
  auto is = [&](const Factor& factor) {
    return factor.read == guard->read && factor.index == guard->index;
  };
  if (!is(term->left))
    std::swap(term->left, term->right);
  if (!is(term->left))
    return failure();
  term->guarded = true;
  return term;
}

/// The products whose sum the element is; failure where there is anything else in it.
static LogicalResult listTerms(Element first, SmallVectorImpl<Term>& terms) {
  SmallVector<std::pair<Element, bool>> todo{{std::move(first), false}}; // is it subtracted?
  while (!todo.empty()) {
    auto [next, negative] = todo.pop_back_val();
    Element element = origin(next);
    if (isZero(element))
      continue;
    Operation* op = element.first.getDefiningOp();
    auto binary = dyn_cast_or_null<BinaryOp>(op);
    auto unary = dyn_cast_or_null<UnaryOp>(op);
    bool isSum = binary && binary.getKind() == BinaryKind::Add;
    bool isDifference = binary && binary.getKind() == BinaryKind::Sub;
    if (isSum || isDifference) {
      SmallVector<Element> sides = operandElements(op, element.second);
      todo.push_back({sides[1], negative != isDifference});
      todo.push_back({sides[0], negative});
      continue;
    }
    if (unary && unary.getKind() == UnaryKind::Neg) {
      todo.push_back({operandElements(op, element.second)[0], !negative});
      continue;
    }
    auto where = dyn_cast_or_null<WhereOp>(op);
    FailureOr<Term> term = where ? guardedProduct(where, element.second) : productOf(element);
    if (failed(term) || terms.size() == kMostTerms)
      return failure();
    term->negative = negative;
    terms.push_back(*term);
  }
  return success();
}

/// Whether the axes of the result are those of either factor, and neither has all of them.
static bool isMatrix(const Term& term, ArrayRef<DimAttr> dims) {
  bool hasRow = false, hasColumn = false, isBatch = false;
  int64_t numbers = 1; // of a matrix; of a free size: as if it were large
  for (auto [axis, place] : llvm::enumerate(term.result)) {
    if (!place.isLane())
      continue;
    auto runs = [&](const Factor& factor) {
      return llvm::any_of(factor.index, [&](Place p) { return p.lane == place.lane; });
    };
    bool isLeft = runs(term.left), isRight = runs(term.right);
    if (!isLeft && !isRight)
      return false;
    hasRow |= isLeft && !isRight;
    hasColumn |= isRight && !isLeft;
    isBatch |= isLeft && isRight;
    if (isLeft != isRight)
      numbers *= dims[axis].isFree() ? kFewNumbers + 1 : dims[axis].getSize();
  }
  return hasRow && hasColumn && !(isBatch && numbers <= kFewNumbers);
}

static newton::SlotAttr slotOf(FlatSymbolRefAttr tensor, const Index& index) {
  SmallVector<int64_t> lanes, at;
  for (const Place& place : index) {
    lanes.push_back(place.lane);
    at.push_back(place.at);
  }
  return newton::SlotAttr::get(tensor.getContext(), tensor, lanes, at, 0);
}

/// Every place along the joined axes, with all of the others.
static SmallVector<Index> places(ArrayRef<DimAttr> dims, ArrayRef<bool> joined) {
  SmallVector<Index> all(1);
  int64_t lanes = 0;
  for (auto [dim, isJoined] : llvm::zip(dims, joined)) {
    int64_t count = isJoined ? dim.getSize() : 1;
    if (count < 0 || all.size() * static_cast<size_t>(count) > kMostTerms)
      return {};
    SmallVector<Index> longer;
    for (const Index& index : all)
      for (int64_t i = 0; i < count; ++i) {
        longer.push_back(index);
        longer.back().push_back(isJoined ? Place::fixed(i) : Place::ofLane(lanes));
      }
    lanes += !isJoined;
    all = std::move(longer);
  }
  return all;
}

bool rnnc::lowerOuter(StageOp stage, Type compute, Block& into) {
  SetOutputOp set = stage.getSet();
  Operation* array = SymbolTable::lookupSymbolIn(stage->getParentOp(), set.getNameAttr());
  if (!isSummed(array) || stage.getPhase() == Phase::Call)
    return false;
  ArrayRef<DimAttr> dims =
      cast<ArrayType>(array->getAttrOfType<TypeAttr>("type").getValue()).getDims();
  SmallVector<Term> terms;
  for (const Index& index : places(dims, joinedAxes(stage))) {
    size_t first = terms.size();
    if (failed(listTerms({set.getValue(), broadcastIndex(set.getValue(), index, dims)}, terms)))
      return false;
    for (Term& term : MutableArrayRef(terms).drop_front(first)) {
      term.result = index;
      if (!isMatrix(term, dims))
        return false;
    }
  }
  OpBuilder b = OpBuilder::atBlockEnd(&into);
  for (Term& term : terms)
    newton::OuterOp::create(b, set.getValue().getLoc(),
                            static_cast<newton::Phase>(stage.getPhase()), compute,
                            slotOf(term.left.read.getNameAttr(), term.left.index),
                            slotOf(term.right.read.getNameAttr(), term.right.index),
                            slotOf(set.getNameAttr(), term.result), term.guarded, term.negative);
  return !terms.empty();
}
