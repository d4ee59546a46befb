//===- ImplicitSteps.h - which new states are defined through themselves ---------------------===//
#pragma once

#include "Transforms/Elements.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

namespace rnnc {

struct ElementLess {
  bool operator()(const Element& a, const Element& b) const {
    auto key = [](const Element& e) { return std::pair(e.first.getAsOpaquePointer(), e.second); };
    return key(a) < key(b);
  }
};

/// An element of a state that the step reads at [0], and the element that its equation gives.
struct Unknown {
  mlir::Attribute tensor;
  Index index;
  Element equation;
};

/// Finds which unknowns have to be solved for together, and in which order.
class ImplicitSteps {
public:
  using Operands = llvm::function_ref<llvm::SmallVector<Element>(const Element&)>;

  /// `elements` is all that is computed, operands first.
  ImplicitSteps(std::vector<Unknown> unknowns, llvm::ArrayRef<Element> elements,
                Operands operandsOf);

  llvm::ArrayRef<Unknown> unknowns() const { return all; }
  /// The unknown that a read of `tensor` at `index` stands for.
  unsigned find(mlir::Attribute tensor, const Index& index) const;
  /// Unknowns that need each other, each group after those that it needs. One that does not need
  /// itself is alone, and not circular: its equation simply comes first.
  llvm::ArrayRef<llvm::BitVector> groups() const { return sorted; }
  bool isCircular(const llvm::BitVector& group) const {
    return reach[group.find_first()].test(group.find_first());
  }
  /// The unknowns that an element is computed from.
  const llvm::BitVector& needs(const Element& element) const { return needed.at(element); }

private:
  void close();
  void sort();

  std::vector<Unknown> all;
  std::map<std::pair<const void*, Index>, unsigned> number;
  std::map<Element, llvm::BitVector, ElementLess> needed;
  std::vector<llvm::BitVector> reach; // by unknown: those that its equation needs, through others
  std::vector<llvm::BitVector> sorted;
};

} // namespace rnnc
