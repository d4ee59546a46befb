// What kernels cannot read where it lies: other types, columns that are no neighbours, and elements
// in front of the first step or behind the last one.
#include "core/tensors.hpp"
#include "cpu/columns.hpp"
#include "cpu/stage.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {

// What the cell's sequence was before its first step.
template <class F>
void Columns<F>::bindBehind(const rnn_slot& slot, Sequence& input) {
  const Plan& plan = *call_->cell.plan;
  const uint32_t of = call_->plan.table().tensor[slot.tensor].of;
  const rnn_tensor_desc& desc = plan.table().tensor[of];
  std::fill_n(input.anew, width_, static_cast<F>(desc.fill));
  if (desc.start != 0) {
    const rnn_tensor& param = call_->cell.tensors[desc.start - 1];
    int64_t strides[RNN_MAX_RANK];
    startStrides(plan, of, param, strides);
    offsets(slot, strides, 0, offset_);
    loadColumns(param, input.anew);
  }
  std::copy_n(input.anew, width_, input.behind);
  const int arg = plan.module->tensorArgs[of].initial;
  input.initial = arg >= 0 && call_->cell.args[arg].data ? &call_->cell.args[arg] : nullptr;
  if (input.initial) {
    offsets(slot, input.initial->strides + 1, 0, input.given);
    offsets(slot, input.initial->strides + 1, input.initial->strides[0], offset_);
    loadColumns(*input.initial, input.behind);
  }
}

// The same for a map over a packed batch, whose columns go through all of its segments.
template <class F>
F Columns<F>::inFront(const Sequence& input, int64_t column, int64_t time) const {
  const Call::Start start = call_->startBehind(batchOf(column), time);
  if (start.isAnew || !input.initial) {
    return input.anew[column];
  }
  const rnn_tensor& initial = *input.initial;
  const int64_t at = input.given[column] + start.sequence * initial.strides[0];
  return loadElement<F>(static_cast<char*>(initial.data) + at * elementSize(initial.dtype),
                        initial.dtype);
}

template <class F>
void Columns<F>::load(int64_t row, int64_t steps) {
  if (!staged_) {
    return;
  }
  for (uint32_t i = 0; i < desc_.inputs; ++i) {
    if (!isInPlace(inputs_[i], row, steps)) {
      stage(inputs_[i], row, steps);
    }
  }
}

template <class F>
void Columns<F>::stage(const Sequence& input, int64_t row, int64_t steps) {
  input.back < 0 ? gatherAhead(input, row, steps) : gatherRows(input, row, steps);
  if (forgets_ && input.back != 0) {
    forget(input, row, steps);
  }
}

// Rows of later steps, as far as there are any.
template <class F>
void Columns<F>::gatherAhead(const Sequence& input, int64_t row, int64_t steps) {
  const int64_t size = elementSize(input.dtype);
  F* rows = input.rows + row * width_;
  auto stepsLeft = [&](int64_t column) { // from the first row's element on
    const int64_t first = columnTime(row, column) - input.back;
    return std::clamp<int64_t>(stepsOf(std::min(column, valid_ - 1)) - first, 0, steps);
  };
  auto address = [&](int64_t column, int64_t r) {
    return input.data +
           (input.offset[column] + (columnTime(row, column) - input.back + r) * input.timeStride) *
               size;
  };
  int64_t together = steps;
  for (int64_t j = 0; j < width_; ++j) {
    together = std::min(together, stepsLeft(j));
  }
  if (together > 0) {
    for (int64_t j = 0; j < width_; ++j) {
      column_[j] = address(j, 0);
    }
    gather(rows, width_, column_, input.dtype, input.timeStride, together);
  }
  for (int64_t j = 0; j < width_; ++j) {
    const int64_t left = stepsLeft(j);
    for (int64_t r = together; r < steps; ++r) {
      rows[r * width_ + j] = r < left ? loadElement<F>(address(j, r), input.dtype)
                             : endsAnew(std::min(j, valid_ - 1)) ? input.anew[j]
                                                                 : input.behind[j];
    }
  }
}

// Rows that read across the begin of a sequence: there was nothing before it. An adjoint's go from
// behind it to the front.
template <class F>
void Columns<F>::forget(const Sequence& input, int64_t row, int64_t steps) {
  const int64_t ahead = std::max<int64_t>(-input.back, 0);
  const bool isOverAll = call_->plan.segments.packed && !isPacked_; // a map
  for (int64_t r = 0; r < steps; ++r) {
    F* elements = input.rows + (row + r) * width_;
    int64_t batch = -1, time = -1;
    bool forgotten = false;
    for (int64_t j = 0; j < width_; ++j) {
      const int64_t here = arrayTime(row, j) + r;
      if (batchOf(j) != batch || here != time) { // neighbours are mostly at the same place
        batch = batchOf(j);
        time = here;
        const bool isBehind = columnTime(row, j) + r + ahead >= stepsOf(std::min(j, valid_ - 1));
        forgotten = ahead > 0 && isBehind
                        ? isOverAll
                        : call_->beginsWithin(batch, time + ahead, std::max(input.back, ahead));
      }
      if (forgotten) {
        elements[j] = ahead == 0  ? input.before
                      : isOverAll ? inFront(input, j, here)
                                  : input.anew[j];
      }
    }
  }
}

// Columns of chunks reach time 0 at rows of their own. The rows that are before it in all columns
// are filled first; the rest is gathered, and where a column starts late it is gathered from time 0
// on and put right afterwards: no read is outside the array.
template <class F>
void Columns<F>::gatherRows(const Sequence& input, int64_t row, int64_t steps) {
  const int64_t size = elementSize(input.dtype);
  auto first = [&](int64_t column) { return columnTime(row, column) - input.back; };
  int64_t filled = steps;
  for (int64_t j = 0; j < width_; ++j) {
    filled = std::clamp<int64_t>(-first(j), 0, filled);
  }
  F* rows = input.rows + row * width_;
  if (!input.history.data) {
    std::fill(rows, rows + filled * width_, input.before);
  }
  for (int64_t j = 0; input.history.data && j < width_; ++j) {
    for (int64_t r = 0; r < filled; ++r) {
      rows[r * width_ + j] = earlier(input, j, first(j) + r);
    }
  }
  if (filled == steps) {
    return;
  }
  rows += filled * width_;
  steps -= filled;
  auto address = [&](int64_t column, int64_t time) {
    return input.data + (input.offset[column] + time * input.timeStride) * size;
  };
  for (int64_t j = 0; j < width_; ++j) {
    column_[j] = address(j, std::max<int64_t>(first(j) + filled, 0));
  }
  gather(rows, width_, column_, input.dtype, input.timeStride, steps);
  for (int64_t j = 0; j < width_; ++j) {
    const int64_t time = first(j) + filled;
    for (int64_t r = 0; time < 0 && r < steps; ++r) {
      rows[r * width_ + j] = time + r < 0 ? earlier(input, j, time + r)
                                          : loadElement<F>(address(j, time + r), input.dtype);
    }
  }
}

template void Columns<float>::bindBehind(const rnn_slot&, Sequence&);
template void Columns<double>::bindBehind(const rnn_slot&, Sequence&);
template void Columns<float>::load(int64_t, int64_t);
template void Columns<double>::load(int64_t, int64_t);

} // namespace rnnc::runtime::cpu
