//===- ImplicitSteps.cpp - which new states are defined through themselves -------------------===//

#include "Transforms/ImplicitSteps.h"

#include "Rnn/Rnn.h"

using namespace mlir;
using namespace rnnc;

ImplicitSteps::ImplicitSteps(std::vector<Unknown> unknowns, ArrayRef<Element> elements,
                             Operands operandsOf)
    : all(std::move(unknowns)) {
  unsigned count = all.size();
  for (unsigned i = 0; i < count; ++i)
    number[{all[i].tensor.getAsOpaquePointer(), all[i].index}] = i;
  for (const Element& element : elements) {
    llvm::BitVector bits(count);
    auto read = element.first.getDefiningOp<rnn::StateAtOp>();
    if (read && read.getBack() == 0)
      bits.set(find(read.getNameAttr(), element.second));
    for (const Element& operand : operandsOf(element))
      bits |= needed.at(operand);
    needed[element] = std::move(bits);
  }
  for (const Unknown& unknown : all)
    reach.push_back(needed.at(unknown.equation));
  close();
  sort();
}

unsigned ImplicitSteps::find(Attribute tensor, const Index& index) const {
  return number.at({tensor.getAsOpaquePointer(), index});
}

/// Transitive closure (Warshall).
void ImplicitSteps::close() {
  for (unsigned via = 0; via < reach.size(); ++via)
    for (llvm::BitVector& row : reach)
      if (row.test(via))
        row |= reach[via];
}

/// Takes, again and again, the first group whose needs are met: in the order of the file where
/// nothing else is asked for.
void ImplicitSteps::sort() {
  llvm::BitVector done(all.size());
  while (!done.all()) {
    for (unsigned i = 0; i < all.size(); ++i) {
      if (done.test(i))
        continue;
      llvm::BitVector group(all.size());
      group.set(i);
      for (unsigned j : reach[i].set_bits())
        if (reach[j].test(i))
          group.set(j);
      llvm::BitVector open = reach[i];
      open.reset(group);
      open.reset(done);
      if (open.any())
        continue;
      sorted.push_back(group);
      done |= group;
      break;
    }
  }
}
