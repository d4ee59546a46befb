// Where every tensor of the table lies during a call.
#pragma once

#include "cpu/columns.hpp"

namespace rnnc::runtime::cpu {

/// How a tensor is stepped through as a sequence: what has no batch and no time is the same at all
/// of them.
struct SequenceStrides {
  int64_t batch, time;
  const int64_t* dims;
};
SequenceStrides sequenceStrides(const Plan& plan, uint32_t index, const rnn_tensor& tensor);

/// A sequence with its time in the order of the computation.
rnn_tensor inOrder(const Plan& plan, rnn_tensor sequence);

/// Copies one batch element of a tensor of the table from one step to another, converted, whatever
/// the strides.
void copyStep(const Plan& plan, uint32_t index, int64_t batch, const rnn_tensor& from,
              int64_t fromTime, const rnn_tensor& to, int64_t toTime);

/// The tensors of a call, in the workspace.
template <class F>
class Sequences {
public:
  /// Tensors that no caller gives lie in `kept`.
  Sequences(const Plan& plan, Carver& carver, Carver& kept);

  /// The caller's tensors where they will do, the workspace's elsewhere; [tensors of the table].
  /// Of a plan with windows for the one that begins at step `begin`: steps are counted as in the
  /// caller's, and reach from plan.lead before it to its end.
  const rnn_tensor* bind(const rnn_tensor* args, int64_t begin);
  /// What the window behind `begin`..`end` reads of it moves to where that one looks for it.
  void advance(int64_t begin, int64_t end);
  /// States that went to the workspace although the caller wants them, of another type.
  void copyToCaller(const rnn_tensor* args, int64_t begin, int64_t end);
  /// Null where the workspace has no room for it.
  F* kept(uint32_t tensor) const { return kept_[tensor]; }

private:
  const Plan& plan_;
  rnn_tensor* tensors_; ///< [tensors]
  F** kept_;            ///< [tensors] null: none
};

} // namespace rnnc::runtime::cpu
