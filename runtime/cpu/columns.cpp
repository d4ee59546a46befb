#include "cpu/columns.hpp"

#include "core/tensors.hpp"
#include "cpu/sequences.hpp"
#include "cpu/stage.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

namespace rnnc::runtime::cpu {
namespace {

template <class F>
bool isNan(F number) {
  return std::isnan(number);
}

} // namespace

template <class F>
Columns<F>::Columns(const SystemPlan& system, int64_t maxWidth, int64_t rows, Carver& carver)
    : system_(system), desc_(*system.desc), rows_(rows) {
  const int64_t results = int64_t(desc_.states) + desc_.outputs;
  inputs_ = carver.take<Sequence>(desc_.inputs);
  results_ = carver.take<Sequence>(results);
  params_ = carver.take<F>(desc_.params * maxWidth);
  scratch_ = carver.take<F>(maxWidth);
  nothing_ = carver.take<F>(maxWidth);
  sums_ = carver.take<F>(desc_.sums * maxWidth);
  index_ = carver.take<int64_t>((1 + desc_.lane_rank) * maxWidth);
  begin_ = carver.take<int64_t>(maxWidth);
  offset_ = carver.take<int64_t>(maxWidth);
  column_ = carver.take<void*>(maxWidth);
  inputPointers_ = carver.take<const void*>(desc_.inputs);
  inputStrides_ = carver.take<int64_t>(desc_.inputs);
  resultPointers_ = carver.take<void*>(results);
  resultStrides_ = carver.take<int64_t>(results);
  pieceStart_ = carver.take<F>(desc_.states * maxWidth);
  searchStart_ = carver.take<F>(desc_.states * maxWidth);
  probe_ = carver.take<F>(desc_.states * maxWidth);
  finite_ = carver.take<F>(maxWidth);
  unsolved_ = carver.take<int64_t>(desc_.implicit ? maxWidth : 0);
  shared_ = carver.take<const void*>(system.dense ? system.dense->shared.size() : 0);
  denseScratch_ = carver.take<F>(
      system.dense ? checkedProduct(system.dense->scratch, maxWidth, "the workspace") : 0);
  auto sequence = [&](Sequence* place, bool isDelayed, bool isAhead) {
    int64_t* offset = carver.take<int64_t>(maxWidth);
    int64_t* historyOffset = carver.take<int64_t>(isDelayed ? maxWidth : 0);
    F* behind = carver.take<F>(isAhead ? maxWidth : 0);
    F* anew = carver.take<F>(isAhead ? maxWidth : 0);
    int64_t* given = carver.take<int64_t>(isAhead ? maxWidth : 0);
    F* stage = carver.take<F>(checkedProduct(rows, maxWidth, "the workspace"));
    if (place) {
      std::construct_at(place);
      place->offset = offset;
      place->historyOffset = historyOffset;
      place->behind = behind;
      place->anew = anew;
      place->given = given;
      place->rows = stage;
    }
  };
  for (uint32_t i = 0; i < desc_.inputs; ++i) {
    sequence(inputs_ ? inputs_ + i : nullptr, desc_.input_slots[i].back > 0, system.ahead[i] > 0);
  }
  for (int64_t i = 0; i < results; ++i) {
    sequence(results_ ? results_ + i : nullptr, false, false);
  }
}

template <class F>
void Columns<F>::bind(const Call& call, const Kernel& kernel, int64_t firstLane, int64_t valid) {
  call_ = &call;
  kernel_ = kernel;
  width_ = kernel.width;
  valid_ = valid;
  firstLane_ = firstLane;
  staged_ = false;
  const bool isMap = system_.index >= call.plan.table().systems;
  isPacked_ = call.plan.segments.packed && !isMap;
  forgets_ = call.reset.data || (call.plan.segments.packed && isMap);
  std::fill_n(nothing_, width_, F(0));
  indexLanes(firstLane);
  indexSegments();
  bindParams(call);
  for (size_t i = 0; system_.dense && i < system_.dense->shared.size(); ++i) {
    shared_[i] =
        static_cast<const F*>(call.packed) + system_.packedOffset + system_.dense->sharedOffsets[i];
  }
  for (uint32_t i = 0; i < desc_.inputs; ++i) {
    bindSequence(call, desc_.input_slots[i], inputs_[i], system_.ahead[i]);
  }
  for (uint32_t i = 0; i < desc_.states; ++i) {
    bindSequence(call, desc_.state_slots[i], results_[i], 0);
  }
  for (uint32_t i = 0; i < desc_.outputs; ++i) {
    bindSequence(call, desc_.output_slots[i], results_[desc_.states + i], 0);
  }
}

// Batch element and index along each lane axis, counted up from one division.
template <class F>
void Columns<F>::indexLanes(int64_t firstLane) {
  const uint32_t rank = desc_.lane_rank;
  int64_t digit[1 + RNN_MAX_RANK] = {};
  int64_t rest = firstLane % system_.lanesPerBatch;
  digit[0] = firstLane / system_.lanesPerBatch;
  for (uint32_t a = rank; a > 0; --a) {
    digit[a] = rest % system_.laneSizes[a - 1];
    rest /= system_.laneSizes[a - 1];
  }
  for (int64_t j = 0; j < width_; ++j) {
    for (uint32_t a = 0; a <= rank; ++a) {
      index_[a * width_ + j] = digit[a];
    }
    if (j + 1 >= valid_) {
      continue;
    }
    uint32_t a = rank;
    while (a > 0 && digit[a] + 1 == system_.laneSizes[a - 1]) {
      digit[a--] = 0;
    }
    ++digit[a];
  }
}

// Lanes are numbered by length of their segments; arrays are not.
template <class F>
void Columns<F>::indexSegments() {
  for (int64_t j = 0; j < width_; ++j) {
    begin_[j] = 0;
    if (isPacked_) {
      const Segment& segment = call_->plan.segments.longestFirst[index_[j]];
      begin_[j] = segment.begin;
      index_[j] = segment.number;
    }
  }
}

template <class F>
void Columns<F>::narrow(int64_t valid, F* state) {
  bind(*call_, kernel_, firstLane_, valid);
  for (uint32_t i = 0; i < desc_.states; ++i) {
    F* of = state + i * width_;
    std::fill(of + valid, of + width_, of[valid - 1]);
  }
}

template <class F>
void Columns<F>::offsets(const rnn_slot& slot, const int64_t* strides, int64_t batchStride,
                         int64_t* out) {
  const uint32_t rank = call_->plan.table().tensor[slot.tensor].rank;
  int64_t fixed = 0;
  for (uint32_t a = 0; a < rank; ++a) {
    fixed += slot.at[a] * strides[a];
  }
  for (int64_t j = 0; j < width_; ++j) {
    out[j] = fixed + index_[j] * batchStride;
  }
  for (uint32_t a = 0; a < rank; ++a) {
    if (slot.lane_axis[a] != -1) {
      const int64_t* index = index_ + (1 + slot.lane_axis[a]) * width_;
      for (int64_t j = 0; j < width_; ++j) {
        out[j] += index[j] * strides[a];
      }
    }
  }
}

template <class F>
void Columns<F>::bindSequence(const Call& call, const rnn_slot& slot, Sequence& sequence,
                              int64_t ahead) {
  const rnn_tensor& tensor = call.tensors[slot.tensor];
  sequence.data = nullptr;
  sequence.back = int64_t(slot.back) - ahead;
  if (!tensor.data) { // a result that nobody wants, or an input that is 0 then
    sequence.back = 0;
    sequence.inPlace = true;
    return;
  }
  const SequenceStrides strides = sequenceStrides(call.plan, slot.tensor, tensor);
  sequence.data = static_cast<char*>(tensor.data);
  sequence.dtype = tensor.dtype;
  sequence.timeStride = strides.time;
  sequence.before = static_cast<F>(call.plan.table().tensor[slot.tensor].fill);
  offsets(slot, strides.dims, isPacked_ ? 0 : strides.batch, sequence.offset);
  for (int64_t j = 0; isPacked_ && j < width_; ++j) {
    sequence.offset[j] += begin_[j] * strides.time;
  }
  sequence.history = slot.back > 0 ? call.history<F>(slot.tensor) : History<F>{};
  if (const History<F>& history = sequence.history; history.data) {
    offsets(slot, history.strides, history.steps * history.elements, sequence.historyOffset);
  }
  // A column of chunks is valid once and repeated; only vectors of one column are whole then, and
  // their rows are the lane's steps.
  bool together = valid_ == width_ && elementSize(tensor.dtype) == int64_t(sizeof(F));
  for (int64_t j = 1; together && j < width_; ++j) {
    together = sequence.offset[j] == sequence.offset[0] + j;
  }
  sequence.inPlace = together;
  staged_ |= !together || sequence.back != 0;
  if (ahead > 0) {
    bindBehind(slot, sequence);
  }
}

template <class F>
void Columns<F>::bindParams(const Call& call) {
  for (uint32_t i = 0; i < desc_.params; ++i) {
    const rnn_slot& slot = desc_.param_slots[i];
    const rnn_tensor& tensor = call.tensors[slot.tensor];
    offsets(slot, tensor.strides, 0, offset_);
    loadColumns(tensor, params_ + i * width_);
  }
}

/// Where the stream keeps a state of the first lane; the others follow.
template <class F>
F* Columns<F>::streamed(uint32_t state) const {
  return call_->stream->numbers<F>() + call_->plan.stream.states[system_.index] +
         state * system_.lanes + firstLane_;
}

template <class F>
void Columns<F>::startState(F* state) {
  call_->begin > 0 ? stateBefore(call_->begin, state) : initialState(state);
}

// The states' own rows, of the step before.
template <class F>
void Columns<F>::stateBefore(int64_t time, F* state) {
  for (uint32_t i = 0; i < desc_.states; ++i) {
    const Sequence& of = results_[i];
    const int64_t size = elementSize(of.dtype);
    for (int64_t j = 0; j < width_; ++j) {
      const int64_t at = of.offset[j] + (time - 1) * of.timeStride;
      state[i * width_ + j] = loadElement<F>(of.data + at * size, of.dtype);
    }
  }
}

template <class F>
void Columns<F>::initialState(F* state) {
  for (uint32_t i = 0; i < desc_.states; ++i) {
    F* to = state + i * width_;
    if (call_->stream && !call_->stream->isNew) {
      for (int64_t j = 0; j < width_; ++j) {
        to[j] = streamed(i)[std::min(j, valid_ - 1)];
      }
      continue;
    }
    const rnn_slot& slot = desc_.state_slots[i];
    const int arg = call_->plan.module->tensorArgs[slot.tensor].initial;
    const rnn_tensor& tensor = call_->args[arg];
    if (!tensor.data) {
      ownStart(i, to);
      continue;
    }
    offsets(slot, tensor.strides + 1, tensor.strides[0], offset_);
    loadColumns(tensor, to);
  }
}

// What the cell says that a state begins with.
template <class F>
void Columns<F>::ownStart(uint32_t state, F* to) {
  const rnn_slot& slot = desc_.state_slots[state];
  const rnn_tensor_desc& desc = call_->plan.table().tensor[slot.tensor];
  if (desc.start == 0) {
    std::fill(to, to + width_, static_cast<F>(desc.fill));
    return;
  }
  // A learned one: the same in every batch element.
  const rnn_tensor& param = call_->tensors[desc.start - 1];
  int64_t strides[RNN_MAX_RANK];
  startStrides(call_->plan, slot.tensor, param, strides);
  offsets(slot, strides, 0, offset_);
  loadColumns(param, to);
}

template <class F>
bool Columns<F>::restartsAt(int64_t time) const {
  for (int64_t j = 0; call_->reset.data && j < valid_; ++j) {
    const bool isNew = j == 0 || batchOf(j) != batchOf(j - 1) || begin_[j] != begin_[j - 1];
    if (isNew && restartsAt(time, j)) {
      return true;
    }
  }
  return false;
}

template <class F>
int64_t Columns<F>::nextRestart(int64_t time, int64_t end) const {
  if (!call_->reset.data) {
    return end;
  }
  do {
    ++time;
  } while (time < end && !restartsAt(time));
  return std::min(time, end);
}

template <class F>
void Columns<F>::restart(int64_t time, F* state, F* total) {
  for (int64_t j = 0; j < valid_; ++j) {
    if (restartsAt(time, j)) {
      addStarts(state, j, total);
    }
  }
  for (uint32_t i = 0; i < desc_.states; ++i) {
    ownStart(i, scratch_);
    for (int64_t j = 0; j < width_; ++j) {
      if (restartsAt(time, j)) {
        state[i * width_ + j] = scratch_[j];
      }
    }
  }
}

// What a column's states, the adjoints of the cell's, owe to the params that those began with.
template <class F>
void Columns<F>::addStarts(const F* state, int64_t column, F* total) const {
  for (size_t n = 0; n < system_.starts.size(); ++n) {
    total[(desc_.sums + n) * width_ + column] += state[system_.starts[n] * width_ + column];
  }
}

// The elements of a tensor at `offset_`.
template <class F>
void Columns<F>::loadColumns(const rnn_tensor& tensor, F* to) const {
  const char* data = static_cast<const char*>(tensor.data);
  const int64_t size = elementSize(tensor.dtype);
  for (int64_t j = 0; j < width_; ++j) {
    to[j] = loadElement<F>(data + offset_[j] * size, tensor.dtype);
  }
}

template <class F>
void Columns<F>::finalState(const F* state, int64_t first, F* total) {
  for (size_t n = 0; n < system_.starts.size(); ++n) {
    const rnn_slot& slot = desc_.state_slots[system_.starts[n]];
    const uint32_t of = call_->plan.table().tensor[slot.tensor].of;
    const int arg = call_->cell.plan->module->tensorArgs[of].initial;
    const bool isGiven = arg >= 0 && call_->cell.args[arg].data;
    F* sum = total + (desc_.sums + n) * width_;
    for (int64_t j = first; j < valid_; ++j) {
      sum[j] += !isGiven || endsAnew(j) ? state[system_.starts[n] * width_ + j] : F(0);
    }
  }
  for (uint32_t i = 0; i < desc_.states; ++i) {
    if (call_->stream) {
      std::copy_n(state + i * width_ + first, valid_ - first, streamed(i) + first);
    }
    const rnn_slot& slot = desc_.state_slots[i];
    const rnn_tensor& tensor = call_->args[call_->plan.module->tensorArgs[slot.tensor].final];
    if (!tensor.data) {
      continue;
    }
    char* data = static_cast<char*>(tensor.data);
    offsets(slot, tensor.strides + 1, tensor.strides[0], offset_);
    for (int64_t j = first; j < valid_; ++j) {
      // What began anew before its first step did not begin with what the caller gave.
      storeElement(data + offset_[j] * elementSize(tensor.dtype), tensor.dtype,
                   call_->cell.plan && endsAnew(j) ? F(0) : state[i * width_ + j]);
    }
  }
}

template <class F>
void Columns<F>::frameLanes(int64_t time) {
  time_ = time;
  chunkSteps_ = 0;
}

template <class F>
void Columns<F>::frameChunks(int64_t time, int64_t chunkSteps, int64_t chunks) {
  time_ = time;
  chunkSteps_ = chunkSteps;
  chunks_ = chunks;
}

template <class F>
int64_t Columns<F>::columnTime(int64_t row, int64_t column) const {
  if (chunkSteps_ == 0) {
    return time_ + row;
  }
  // Columns past the last chunk repeat it.
  const int64_t chunk = std::min(row / chunkSteps_ * width_ + column, chunks_ - 1);
  return time_ + chunk * chunkSteps_ + row % chunkSteps_;
}

template <class F>
void Columns<F>::store(int64_t row, int64_t steps) {
  if (!staged_) {
    return;
  }
  const int64_t columns =
      chunkSteps_ == 0 ? valid_ : std::min(width_, chunks_ - row / chunkSteps_ * width_);
  for (uint32_t i = 0; i < desc_.states + desc_.outputs; ++i) {
    const Sequence& result = results_[i];
    if (!result.data || result.inPlace) {
      continue;
    }
    const int64_t size = elementSize(result.dtype);
    for (int64_t j = 0; j < columns; ++j) {
      column_[j] = result.data + (result.offset[j] + columnTime(row, j) * result.timeStride) * size;
    }
    scatter(result.rows + row * width_, width_, column_, columns, result.dtype, result.timeStride,
            steps);
  }
}

template <class F>
void Columns<F>::run(rnn_shoot_fn kernel, int64_t row, int64_t steps, F* state, F* carry, F* finite,
                     int64_t* unsolved, F* sums, bool keepResults) {
  for (uint32_t i = 0; i < desc_.inputs; ++i) {
    const Sequence& input = inputs_[i];
    const int64_t step = time_ + row - input.back;
    if (!input.data) {
      inputStrides_[i] = 0;
      inputPointers_[i] = nothing_;
      continue;
    }
    const bool inPlace = isInPlace(input, row, steps);
    inputStrides_[i] = inPlace ? input.timeStride : width_;
    inputPointers_[i] =
        inPlace ? reinterpret_cast<const F*>(input.data) + input.offset[0] + step * input.timeStride
                : input.rows + row * width_;
  }
  for (uint32_t i = 0; i < desc_.states + desc_.outputs; ++i) {
    const Sequence& result = results_[i];
    if (!keepResults || !result.data) {
      resultPointers_[i] = scratch_;
      resultStrides_[i] = 0;
      continue;
    }
    resultStrides_[i] = result.inPlace ? result.timeStride : width_;
    resultPointers_[i] = result.inPlace ? reinterpret_cast<F*>(result.data) + result.offset[0] +
                                              (time_ + row) * result.timeStride
                                        : result.rows + row * width_;
  }
  rnn_shoot_args args;
  args.steps = steps;
  args.inputs = inputPointers_;
  args.input_strides = inputStrides_;
  args.params = params_;
  args.state = state;
  args.carry = carry;
  args.outputs = resultPointers_;
  args.output_strides = resultStrides_;
  args.finite = finite;
  args.block_sizes = system_.dense ? system_.dense->blockSizes.data() : nullptr;
  args.shared = shared_;
  args.scratch = denseScratch_;
  args.unsolved = unsolved;
  args.sums = sums;
  kernel(&args);
}

template <class F>
void Columns<F>::shoot(int64_t row, int64_t steps, F* state, F* carry, F* finite, int64_t* unsolved,
                       F* sums) {
  run(carry ? kernel_.jacobian : kernel_.shoot, row, steps, state, carry, finite, unsolved, sums,
      true);
}

template <class F>
void Columns<F>::map(int64_t row, int64_t steps, F* total) {
  shoot(row, steps, nullptr, nullptr, finite_, nullptr, sums_);
  addSums(sums_, total);
}

template <class F>
void Columns<F>::addSums(const F* sums, F* total) const {
  for (uint32_t i = 0; i < desc_.sums; ++i) {
    for (int64_t j = 0; j < valid_; ++j) {
      total[i * width_ + j] += sums[i * width_ + j];
    }
  }
}

template <class F>
void Columns<F>::jacobian(int64_t row, const F* start, F* carry) {
  std::memcpy(probe_, start, sizeof(F) * desc_.states * width_);
  run(kernel_.jacobian, row, 1, probe_, carry, finite_, unsolved_, sums_, false);
}

// Columns of segments are each at a place of their own.
template <class F>
void Columns<F>::noteNonfinite(const F* flags, int64_t row, int64_t steps, const F* start,
                               int64_t first, int64_t last, int64_t& nonfinite) {
  const int64_t together = isPacked_ ? 1 : last - first;
  for (int64_t j = first; j < last; j += together) {
    const bool finite = std::none_of(flags + j, flags + j + together, isNan<F>);
    const int64_t time = arrayTime(row, j);
    if (!finite && time < nonfinite) {
      nonfinite = std::min(nonfinite, time + locateNonfinite(row, steps, start, j, j + together));
    }
  }
}

// The step (0..steps-1) at which one of the columns has its first state that is not finite, given
// that there is one. Halves the stretch that holds it; together the halves are no longer than the
// stretch.
template <class F>
int64_t Columns<F>::locateNonfinite(int64_t row, int64_t steps, const F* start, int64_t first,
                                    int64_t last) {
  const size_t bytes = sizeof(F) * desc_.states * width_;
  int64_t begin = 0;
  std::memcpy(searchStart_, start, bytes);
  while (steps > 1) {
    const int64_t half = steps / 2;
    std::memcpy(probe_, searchStart_, bytes);
    run(kernel_.shoot, row + begin, half, probe_, nullptr, finite_, unsolved_, sums_, false);
    if (std::any_of(finite_ + first, finite_ + last, isNan<F>)) {
      steps = half;
    } else {
      std::memcpy(searchStart_, probe_, bytes);
      begin += half;
      steps -= half;
    }
  }
  return begin;
}

template <class F>
void Columns<F>::noteUnsolved(const int64_t* flags, int64_t row, int64_t first, int64_t last,
                              Unsolved& unsolved) const {
  if (!desc_.implicit) {
    return;
  }
  for (int64_t j = first; j < last; ++j) {
    if (flags[j] >= 0) {
      const int64_t lane = firstLane_ + std::min(j, valid_ - 1);
      // As the caller numbers segments.
      unsolved.add({arrayTime(row, j) + flags[j], system_.index,
                    index_[j] * system_.lanesPerBatch + lane % system_.lanesPerBatch});
    }
  }
}

template <class F>
void Columns<F>::walk(int64_t time, int64_t steps, F* state, int64_t& nonfinite, Unsolved& unsolved,
                      F* total) {
  const int64_t longest = desc_.sums > 0 ? sumSteps : steps;
  const int64_t piece = staged_ ? std::min(rows_, longest) : longest;
  int64_t count = 0;
  for (const int64_t end = time + steps; time < end; time += count) {
    const int64_t left = desc_.sums > 0 ? piece - time % piece : piece;
    count = std::min(left, end - time);
    frameLanes(time);
    load(0, count);
    std::memcpy(pieceStart_, state, sizeof(F) * desc_.states * width_);
    shoot(0, count, state, nullptr, finite_, unsolved_, sums_);
    store(0, count);
    addSums(sums_, total);
    noteUnsolved(unsolved_, 0, 0, valid_, unsolved);
    // The search for the place uses up finite_.
    std::copy_n(finite_, width_, scratch_);
    noteNonfinite(scratch_, 0, count, pieceStart_, 0, valid_, nonfinite);
  }
}

template class Columns<float>;
template class Columns<double>;

} // namespace rnnc::runtime::cpu
