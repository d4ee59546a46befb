//===- Cost.h - what a step costs, from its IR -----------------------------------------------===//
#pragma once

#include "Newton/Newton.h"

namespace rnnc {

/// Operation counts of a block of scalar ops, and the cost model's view of them. Latency and
/// throughput are in cycles of one vector register of columns.
struct StepCost {
  int64_t operations = 0; // arith and math ops, an fma counted once
  int64_t functions = 0;  // exp, tanh, ...
  double latency = 0;     // the longest chain from a state to a new state
  double throughput = 0;  // all of it, issue bound
};

/// Cost of the step, or of the Jacobian beside the step (what it adds).
StepCost costOfStep(newton::SystemOp system);
StepCost costOfJacobian(newton::SystemOp system);
/// Multiplying one more Jacobian onto the carry: the multiply-adds of its numbers.
int64_t compositionOperations(newton::SystemOp system);

} // namespace rnnc
