//===- Cost.cpp - what a step costs, from its IR ---------------------------------------------===//

#include "Analysis/Cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace rnnc;

namespace {
/// Cycles on a recent x86-64 core with two vector pipes: what the tables of docs/math.md say of our
/// own vector math, times the clock of the machine that they were measured on (4.2 GHz).
struct OpCost {
  double latency, throughput;
  bool function;
};
} // namespace

static OpCost costOf(Operation* op) {
  if (isa<arith::ConstantOp, newton::YieldOp>(op))
    return {0, 0, false};
  if (isa<arith::DivFOp, math::SqrtOp>(op))
    return {13, 5, false};
  if (isa<math::RsqrtOp>(op))
    return {24, 7, false};
  if (isa<math::FmaOp, math::AbsFOp, math::FloorOp, math::CopySignOp>(op))
    return {4, 0.5, false};
  if (isa<math::ExpOp>(op))
    return {33, 9, true};
  if (isa<math::TanhOp>(op))
    return {48, 8, true};
  if (isa<newton::SigmoidOp, math::ExpM1Op, math::SinOp, math::CosOp, math::AsinOp, math::AcosOp,
          math::CoshOp>(op))
    return {43, 10, true};
  if (isa<newton::SoftplusOp, math::ErfOp>(op))
    return {66, 20, true};
  if (isa<math::Atan2Op>(op))
    return {85, 27, true};
  if (isa<math::PowFOp>(op))
    return {139, 94, true};
  if (isa<math::MathDialect>(op->getDialect())) // the logarithms, tan, atan, sinh
    return {50, 13, true};
  return {4, 0.5, false};
}

/// Trials of an implicit step, where the search begins near: measured 2 to 5 on smooth cells.
static constexpr double kTrials = 4;

static StepCost costOfBlock(Block& block, int64_t states);

/// A step waits for all of every trial.
static StepCost costOfSearch(newton::ImplicitOp op) {
  StepCost cost;
  if (op.hasTrial())
    cost = costOfBlock(op.trialBlock(), op.numCarried());
  cost.latency *= kTrials;
  cost.throughput *= kTrials;
  return cost;
}

static StepCost costOfBlock(Block& block, int64_t states) {
  StepCost cost;
  DenseMap<Value, double> ready;
  for (BlockArgument arg : block.getArguments())
    if (arg.getArgNumber() < states)
      ready[arg] = 0;
  for (Operation& op : block) {
    OpCost one = costOf(&op);
    if (auto implicit = dyn_cast<newton::ImplicitOp>(op)) {
      StepCost search = costOfSearch(implicit);
      one = {search.latency, search.throughput, false};
      cost.operations += search.operations - 1;
      cost.functions += search.functions;
    }
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

/// Two loads a cycle, one store.
StepCost rnnc::costOfStep(newton::SystemOp system) {
  StepCost cost = costOfBlock(system.stepBlock(), system.numStates());
  cost.throughput += 0.5 * static_cast<double>(system.numInputs()) +
                     static_cast<double>(system.numStates() + system.numOutputs());
  return cost;
}

/// The jacobian region repeats the step's ops that it needs; side by side they are shared, so only
/// what the region has beyond the step counts.
StepCost rnnc::costOfJacobian(newton::SystemOp system) {
  if (!system.hasJacobian())
    return {};
  StepCost both = costOfBlock(system.getJacobian().front(), system.numStates());
  StepCost step = costOfBlock(system.stepBlock(), system.numStates());
  both.operations = std::max<int64_t>(0, both.operations - step.operations);
  both.functions = std::max<int64_t>(0, both.functions - step.functions);
  both.throughput =
      std::max(0.5 * system.getStructure()->numValues(), both.throughput - step.throughput);
  return both;
}

int64_t rnnc::compositionOperations(newton::SystemOp system) {
  if (!system.getStructure())
    return 0;
  int64_t count = 0;
  for (const auto& terms : system.getStructure()->product())
    count += terms.size();
  return count;
}
