//===- JacobianStructure.cpp - what a derived Jacobian looks like ----------------------------===//

#include "Analysis/JacobianStructure.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::newton;

/// The entries that a product of matrices with this pattern can have, and those of the identity:
/// the reflexive transitive closure (Warshall).
static SmallVector<int64_t> closure(int64_t k, ArrayRef<int64_t> entries) {
  SmallVector<llvm::BitVector> reach(k, llvm::BitVector(k));
  for (int64_t i = 0; i < k; ++i)
    reach[i].set(i);
  for (size_t i = 0; i < entries.size(); i += 2)
    reach[entries[i]].set(entries[i + 1]);
  for (int64_t via = 0; via < k; ++via)
    for (int64_t row = 0; row < k; ++row)
      if (reach[row].test(via))
        reach[row] |= reach[via];
  SmallVector<int64_t> pairs;
  for (int64_t row = 0; row < k; ++row)
    for (int column : reach[row].set_bits()) {
      pairs.push_back(row);
      pairs.push_back(column);
    }
  return pairs;
}

/// Numbers the connected components of the states, in the order of their first state.
static SmallVector<int64_t> components(int64_t k, ArrayRef<int64_t> entries) {
  SmallVector<int64_t> label(k);
  for (int64_t i = 0; i < k; ++i)
    label[i] = i;
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t i = 0; i < entries.size(); i += 2) {
      int64_t &a = label[entries[i]], &b = label[entries[i + 1]];
      changed |= a != b;
      a = b = std::min(a, b);
    }
  }
  SmallVector<int64_t> names;
  for (int64_t& value : label) {
    auto* it = llvm::find(names, value);
    if (it == names.end()) {
      names.push_back(value);
      it = names.end() - 1;
    }
    value = it - names.begin();
  }
  return label;
}

/// Which kinds of argument the yielded entries depend on.
static std::pair<bool, bool> dependence(SystemOp system, Block& jacobian) {
  DenseMap<Value, unsigned> uses; // bit 0: a state, bit 1: an input
  int64_t k = system.numStates(), inputs = system.numInputs();
  for (BlockArgument arg : jacobian.getArguments())
    uses[arg] = arg.getArgNumber() < k ? 1 : arg.getArgNumber() < k + inputs ? 2 : 0;
  unsigned all = 0;
  for (Operation& op : jacobian) {
    unsigned bits = 0;
    for (Value operand : op.getOperands())
      bits |= uses.lookup(operand);
    for (Value result : op.getResults())
      uses[result] = bits;
    if (isa<YieldOp>(op))
      all = bits;
  }
  return {all & 1, all & 2};
}

StructureAttr rnnc::jacobianStructure(int64_t k, ArrayRef<int64_t> entries, SystemOp system,
                                      Block& jacobian) {
  auto [onState, onInput] = dependence(system, jacobian);
  return StructureAttr::get(system.getContext(), entries, closure(k, entries),
                            components(k, entries), !onState, !onState && !onInput);
}
