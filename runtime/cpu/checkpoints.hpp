// The states at every K-th step, from which a backward call solves the steps between again.
#pragma once

#include "cpu/call.hpp"
#include "cpu/carver.hpp"

namespace rnnc::runtime::cpu {

/// Of every state an array (batch, count, dims...) of the compute type: number n is the state at
/// step (n + 1) * plan.checkpoint - 1, which the step (n + 1) * plan.checkpoint begins from.
template <class F>
class Checkpoints {
public:
  /// No room where the plan has none.
  Checkpoints(const Plan& plan, Carver& carver);

  /// Takes those that lie within the steps that the call has just solved.
  void save(const Call& call);
  /// Puts the states that step `time`, a multiple of K above 0, begins from into the call's
  /// tensors, as those of the step before.
  void restore(const Call& call, int64_t time) const;

private:
  int64_t count() const;
  rnn_tensor array(uint32_t tensor) const;

  const Plan& plan_;
  F** numbers_; ///< [tensors] null: no state
};

} // namespace rnnc::runtime::cpu
