//===- JacobianStructure.cpp - what a derived Jacobian looks like ----------------------------===//

#include "Analysis/JacobianStructure.h"

#include "Analysis/CarryAlgebra.h"
#include "Analysis/EqualFormulas.h"

using namespace mlir;
using namespace rnnc;
using namespace rnnc::newton;

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

SmallVector<int64_t> rnnc::numberValues(Block& jacobian, ValueRange entries) {
  EqualFormulas formulas(jacobian, entries);
  DenseMap<int64_t, int64_t> known; // the signed number of what has that formula and a plus
  int64_t count = 0;
  SmallVector<int64_t> values;
  for (Value entry : entries) {
    auto [formula, sign] = formulas.numberOf(entry);
    auto [it, isNew] = known.try_emplace(formula, sign * (count + 1));
    count += isNew;
    values.push_back(sign * it->second);
  }
  return values;
}

StructureAttr rnnc::jacobianStructure(int64_t k, ArrayRef<int64_t> entries,
                                      ArrayRef<int64_t> values, SystemOp system, Block& jacobian) {
  auto [onState, onInput] = dependence(system, jacobian);
  CarryAlgebra carry = carryAlgebra(k, entries, values);
  return StructureAttr::get(system.getContext(), entries, values, carry.places, carry.numbers,
                            components(k, entries), !onState, !onState && !onInput);
}
