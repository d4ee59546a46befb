// A stage that sums the matrix that two sequences make.
#pragma once

#include "cpu/call.hpp"

namespace rnnc::runtime::cpu {

/// Every element is a sum of chains of multiply-adds, in the order that rnn_outer has: the same
/// bits for every number of threads, in every layout, and in windows of whole blocks.
template <class F>
class Outer {
public:
  /// What all threads share while it runs: a block's steps of both factors, in the kernels' layout.
  static int64_t sharedBytes(const Plan& plan, const OuterPlan& outer);

  /// Adds the call's steps to the sums.
  static void run(const Call& call, const StagePlan& stage, char* shared);

  /// Adds the sums to `to`, where the element at an index along the axes stands at `fixed` plus
  /// `along` of each.
  static void addTo(const OuterPlan& outer, const F* sums, int64_t fixed, const int64_t* along,
                    F* to);
};

} // namespace rnnc::runtime::cpu
