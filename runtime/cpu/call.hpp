// A call while it runs: what it was given, and where everything lies.
#pragma once

#include "core/plan.hpp"
#include "core/report.hpp"

namespace rnnc::runtime::cpu {

/// A streaming state during a call.
struct Stream {
  StreamHeader* header;
  bool isNew; ///< it is being begun: its states come from the arguments

  /// As plan.stream says.
  template <class F>
  F* numbers() const {
    return reinterpret_cast<F*>(header + 1);
  }
};

/// What a delayed input reads before the first step of a call that goes on with a stream.
template <class F>
struct History {
  const F* data = nullptr; ///< null: there is none
  int64_t steps = 0, elements = 0, time = 0;
  const int64_t* strides = nullptr; ///< of the tensor's dims

  /// Row-major elements of batch element 0 at step `time` < 0 of the call; those of the others are
  /// steps * elements further each.
  const F* at(int64_t step) const {
    const int64_t place = (time + step) % steps;
    return data + (place < 0 ? place + steps : place) * elements;
  }
};

/// The caller's mask of steps before which a sequence begins anew.
struct ResetMask {
  const uint8_t* data = nullptr; ///< null: there are none
  int64_t batchStride = 0, timeStride = 0;
  /// Of an adjoint the cell's mask: a step before which the cell began anew is behind the one
  /// before which the adjoint does, and the first step of all has none behind it.
  int64_t behind = 0;

  bool at(int64_t batch, int64_t time) const {
    return time >= behind && data[batch * batchStride + (time - behind) * timeStride] != 0;
  }
};

/// Of an adjoint's call: the cell's.
struct CellCall {
  const Plan* plan = nullptr;
  const rnn_tensor* args = nullptr;
  const rnn_tensor* tensors = nullptr;
};

struct Call {
  const Plan& plan;
  const rnn_tensor* args;
  /// Of the table: the caller's, or the workspace's; null data: absent. Time 0 is the first of the
  /// computation, so that of a reversed plan the caller's have been turned round.
  const rnn_tensor* tensors;
  const void* packed; ///< numbers of the compute type: the shared params of dense systems
  Progress progress;
  const Stream* stream; ///< null: a whole sequence
  ResetMask reset;
  /// Numbers of the compute type: what systems and maps sum, as plans place it.
  void* sums = nullptr;
  /// The steps that run now, of those of the whole call. Systems that begin later than at step 0 go
  /// on from the states at the step before, where `tensors` have them.
  int64_t begin = 0, end = 0;
  CellCall cell = {};

  /// Of a stage in that phase.
  int64_t beginOf(rnn_phase phase) const { return phase == RNN_PHASE_CALL ? 0 : begin; }
  int64_t endOf(rnn_phase phase) const { return phase == RNN_PHASE_CALL ? 1 : end; }

  template <class F>
  History<F> history(uint32_t tensor) const {
    const StreamLayout& layout = plan.stream;
    if (!stream || layout.steps[tensor] == 0) {
      return {};
    }
    return {stream->numbers<F>() + layout.history[tensor], layout.steps[tensor],
            layout.elements[tensor], stream->header->time, layout.strides[tensor].data()};
  }

  /// What an adjoint's step reads of the cell's sequence in front of its first step, given that it
  /// reads across the end of its own in the arrays: the sequence's number, and whether it is the
  /// cell's own start, because it begins anew there.
  struct Start {
    int64_t sequence;
    bool isAnew;
  };
  Start startBehind(int64_t batch, int64_t time) const {
    int64_t sequence = batch, end = plan.time;
    if (plan.segments.packed) {
      const Segment& segment = plan.segments.at(time);
      sequence = segment.number;
      end = segment.begin + segment.steps;
    }
    return {sequence, time + 1 < end || (reset.data && reset.at(batch, end))};
  }

  /// Does a sequence begin after step `time` - `back`, up to `time`, in the arrays? What a delayed
  /// input reads was before it then.
  bool beginsWithin(int64_t batch, int64_t time, int64_t back) const {
    if (plan.segments.packed && plan.segments.beginsWithin(time, back)) {
      return true;
    }
    for (int64_t t = time; reset.data && t >= 0 && t > time - back; --t) {
      if (reset.at(batch, t)) {
        return true;
      }
    }
    return false;
  }
};

} // namespace rnnc::runtime::cpu
