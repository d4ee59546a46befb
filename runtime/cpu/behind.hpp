// What an adjoint reads behind its last step: what the cell's sequence was before its first one.
#pragma once

#include "cpu/call.hpp"

namespace rnnc::runtime::cpu {

/// Elements of an array without time, of which `strides` are those along the sequence's axes.
struct Behind {
  const rnn_tensor* from = nullptr; ///< null: every element is `fill`
  int64_t base = 0;
  int64_t strides[RNN_MAX_RANK] = {};
  double fill = 0;
};

/// Does step `time` of the adjoint read `tensor`, which is of `ahead` steps later, behind the end
/// of its sequence?
inline bool isBehind(const Call& call, int64_t batch, int64_t time, int64_t ahead) {
  return ahead > 0 &&
         (time + ahead >= call.plan.time || call.beginsWithin(batch, time + ahead, ahead));
}

/// What it reads there.
Behind behindOf(const Call& call, uint32_t tensor, int64_t batch, int64_t time);

} // namespace rnnc::runtime::cpu
