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

/// Copies one batch element at one step of a tensor of the table, whatever the strides; `source`
/// and `target` are its first elements.
void copyElements(const Plan& plan, uint32_t index, const rnn_tensor& from, const char* source,
                  const rnn_tensor& to, char* target);

/// The tensors of a call, in the workspace.
template <class F>
class Sequences {
public:
  Sequences(const Plan& plan, Carver& carver);

  /// The caller's tensors where they will do, the workspace's elsewhere; [tensors of the table].
  const rnn_tensor* bind(const rnn_tensor* args);
  /// States that went to the workspace although the caller wants them, of another type.
  void copyToCaller(const rnn_tensor* args);

private:
  const Plan& plan_;
  rnn_tensor* tensors_; ///< [tensors]
  F** kept_;            ///< [tensors] null: none
};

} // namespace rnnc::runtime::cpu
