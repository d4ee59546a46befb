//===- Cost.cpp - what a step costs, from its IR ---------------------------------------------===//

#include "Analysis/Cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace rnnc;

namespace {
/// Cycles on a recent x86-64 core with two vector pipes: from the instruction counts and chains of
/// our own vector math (docs/math.md), not from a vendor's table.
struct OpCost {
  double latency, throughput;
  bool function;
};
} // namespace

static OpCost costOf(Operation* op) {
  if (isa<arith::ConstantOp, newton::YieldOp>(op))
    return {0, 0, false};
  if (isa<arith::DivFOp, math::SqrtOp>(op))
    return {13, 8, false};
  if (isa<math::RsqrtOp>(op))
    return {26, 16, false};
  if (isa<newton::SigmoidOp>(op))
    return {58, 17, true};
  if (isa<math::TanhOp>(op))
    return {62, 22, true};
  if (isa<math::ExpOp>(op))
    return {40, 8, true};
  if (isa<math::SinOp, math::CosOp>(op))
    return {55, 20, true};
  if (isa<math::MathDialect>(op->getDialect()) &&
      !isa<math::FmaOp, math::AbsFOp, math::FloorOp, math::CopySignOp>(op))
    return {70, 30, true};
  if (isa<newton::SoftplusOp>(op))
    return {90, 30, true};
  return {4, 0.5, false};
}

static StepCost costOfBlock(Block& block, int64_t states) {
  StepCost cost;
  DenseMap<Value, double> ready;
  for (BlockArgument arg : block.getArguments())
    if (arg.getArgNumber() < states)
      ready[arg] = 0;
  for (Operation& op : block) {
    OpCost one = costOf(&op);
    double start = -1;
    for (Value operand : op.getOperands())
      if (auto it = ready.find(operand); it != ready.end())
        start = std::max(start, it->second);
    for (Value result : op.getResults())
      if (start >= 0)
        ready[result] = start + one.latency;
    cost.latency = std::max(cost.latency, start);
    cost.throughput += one.throughput;
    cost.operations += one.throughput > 0;
    cost.functions += one.function;
  }
  return cost;
}

StepCost rnnc::costOfStep(newton::SystemOp system) {
  return costOfBlock(system.stepBlock(), system.numStates());
}

/// The jacobian region repeats the step's ops that it needs; side by side they are shared, so only
/// what the region has beyond the step counts.
StepCost rnnc::costOfJacobian(newton::SystemOp system) {
  if (!system.hasJacobian())
    return {};
  StepCost both = costOfBlock(system.getJacobian().front(), system.numStates());
  StepCost step = costOfStep(system);
  both.operations = std::max<int64_t>(0, both.operations - step.operations);
  both.functions = std::max<int64_t>(0, both.functions - step.functions);
  both.throughput =
      std::max(0.5 * system.getStructure()->numEntries(), both.throughput - step.throughput);
  return both;
}

int64_t rnnc::compositionOperations(newton::SystemOp system) {
  if (!system.getStructure())
    return 0;
  newton::StructureAttr structure = *system.getStructure();
  int64_t count = 0;
  for (int64_t i = 0; i < structure.numEntries(); ++i)
    for (int64_t j = 0; j < structure.numCarry(); ++j)
      count += structure.getEntries()[2 * i + 1] == structure.getCarry()[2 * j];
  return count;
}
