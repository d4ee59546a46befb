//===- NewtonStructure.cpp - reading a structure: numbers, products, words -------------------===//

#include "Newton/Newton.h"

#include <map>

using namespace mlir;
using namespace rnnc::newton;

static int64_t largest(ArrayRef<int64_t> numbers) {
  int64_t most = 0;
  for (int64_t number : numbers)
    most = std::max(most, number);
  return most;
}

int64_t StructureAttr::numValues() const { return largest(getValues()); }
int64_t StructureAttr::numCarry() const { return largest(getNumbers()); }

SmallVector<bool> StructureAttr::identity() const {
  SmallVector<bool> ones(numCarry(), false);
  for (int64_t i = 0; i < numPlaces(); ++i)
    if (getCarry()[2 * i] == getCarry()[2 * i + 1])
      ones[std::abs(getNumbers()[i]) - 1] = true;
  return ones;
}

/// A number's first place, whose sign is plus, stands for all of them: products stay in the form.
SmallVector<SmallVector<StructureAttr::ProductTerm>> StructureAttr::product() const {
  int64_t k = getBlocks().size();
  SmallVector<int64_t> numberAt(k * k, 0);
  for (int64_t i = 0; i < numPlaces(); ++i)
    numberAt[getCarry()[2 * i] * k + getCarry()[2 * i + 1]] = getNumbers()[i];
  SmallVector<SmallVector<ProductTerm>> sums;
  for (int64_t i = 0; i < numPlaces(); ++i) {
    if (getNumbers()[i] != static_cast<int64_t>(sums.size()) + 1)
      continue;
    int64_t row = getCarry()[2 * i], column = getCarry()[2 * i + 1];
    SmallVector<ProductTerm>& sum = sums.emplace_back();
    for (int64_t e = 0; e < numEntries(); ++e) {
      int64_t value = getValues()[e], number = numberAt[getEntries()[2 * e + 1] * k + column];
      if (getEntries()[2 * e] != row || number == 0)
        continue;
      int64_t sign = (value < 0) == (number < 0) ? 1 : -1;
      ProductTerm term{std::abs(value) - 1, std::abs(number) - 1, sign};
      auto known = llvm::find_if(sum, [&](const ProductTerm& other) {
        return other.value == term.value && other.carry == term.carry;
      });
      if (known == sum.end())
        sum.push_back(term);
      else
        known->times += sign;
    }
    llvm::erase_if(sum, [](const ProductTerm& term) { return term.times == 0; });
  }
  return sums;
}

namespace {
/// The shape of a pattern that is reflexive and transitively closed.
struct Shape {
  bool lower = true, upper = true, acyclic = true;
  std::map<int64_t, int64_t> blockSizes; // by component
};
} // namespace

static Shape shapeOf(StructureAttr structure) {
  Shape shape;
  int64_t k = structure.getBlocks().size();
  SmallVector<bool> has(k * k, false);
  for (int64_t i = 0; i < structure.numPlaces(); ++i) {
    int64_t row = structure.getCarry()[2 * i], column = structure.getCarry()[2 * i + 1];
    has[row * k + column] = true;
    shape.lower &= row >= column;
    shape.upper &= row <= column;
    shape.acyclic &= row == column || !has[column * k + row];
  }
  for (int64_t block : structure.getBlocks())
    ++shape.blockSizes[block];
  return shape;
}

static std::string sizeText(int64_t k) { return std::to_string(k) + "x" + std::to_string(k); }

static std::string patternText(StructureAttr structure) {
  int64_t k = structure.getBlocks().size();
  Shape shape = shapeOf(structure);
  if (structure.numPlaces() == k)
    return "diagonal, " + std::to_string(k) + " uncoupled states";
  if (structure.numPlaces() == k * k)
    return sizeText(k) + " block";
  if (shape.acyclic)
    return sizeText(k) + " triangular block" +
           (shape.lower || shape.upper ? "" : ", after reordering");
  if (shape.blockSizes.size() == 1)
    return sizeText(k) + " sparse block";
  std::string sizes;
  for (auto [block, size] : shape.blockSizes)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return sizeText(k) + " block-diagonal, blocks of " + sizes;
}

std::string StructureAttr::describe() const {
  int64_t k = getBlocks().size(), carry = numCarry();
  if (k == 1)
    return "diagonal (1 number a lane)";
  std::string numbers = std::to_string(carry) + (carry == 1 ? " number" : " numbers");
  if (carry == numPlaces()) {
    std::string text = patternText(*this);
    return carry == k || carry == k * k ? text : text + " (" + numbers + " a lane)";
  }
  if (numPlaces() == k && carry == 1)
    return "scalar times identity of " + std::to_string(k) + ": the carry is 1 number";
  if (k == 2 && getNumbers() == ArrayRef<int64_t>({1, 2, -2, 1}))
    return "complex-diagonal (a -b; b a): the carry is 2 numbers";
  return patternText(*this) + ", entries alike: the carry is " + numbers;
}
