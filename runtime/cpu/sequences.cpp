#include "cpu/sequences.hpp"

#include "cpu/stage.hpp"
#include "cpu/threads.hpp"

#include <algorithm>
#include <cstring>

namespace rnnc::runtime::cpu {
namespace {

bool isSequence(const Plan& plan, uint32_t index) {
  const rnn_role role = plan.table().tensor[index].role;
  return role != RNN_ROLE_PARAM && role != RNN_ROLE_DERIVED && role != RNN_ROLE_GRADIENT;
}

} // namespace

namespace {

/// Row-major over `sizes`; of axis a the strides are from[a] and to[a].
template <class From, class To>
void copyElements(const std::vector<int64_t>& sizes, const From* source, const int64_t* from,
                  To* target, const int64_t* to) {
  const auto rank = static_cast<uint32_t>(sizes.size());
  if (std::ranges::count(sizes, 0) > 0) {
    return;
  }
  const int64_t row = rank > 0 ? sizes[rank - 1] : 1;
  const int64_t fromStride = rank > 0 ? from[rank - 1] : 0, toStride = rank > 0 ? to[rank - 1] : 0;
  int64_t at[RNN_MAX_RANK] = {};
  while (true) {
    // By way of double: exact, and rounded once.
    for (int64_t i = 0; i < row; ++i) {
      target[i * toStride] = static_cast<To>(static_cast<double>(source[i * fromStride]));
    }
    int64_t a = int64_t(rank) - 2;
    for (; a >= 0; --a) {
      source += from[a];
      target += to[a];
      if (++at[a] < sizes[a]) {
        break;
      }
      source -= sizes[a] * from[a];
      target -= sizes[a] * to[a];
      at[a] = 0;
    }
    if (a < 0) {
      return;
    }
  }
}

} // namespace

void copyStep(const Plan& plan, uint32_t index, int64_t batch, const rnn_tensor& from,
              int64_t fromTime, const rnn_tensor& to, int64_t toTime) {
  const int64_t source = batch * from.strides[0] + fromTime * from.strides[1];
  const int64_t target = batch * to.strides[0] + toTime * to.strides[1];
  withNumber(from.dtype, [&]<class From>() {
    withNumber(to.dtype, [&]<class To>() {
      copyElements(plan.tensorSizes[index], static_cast<const From*>(from.data) + source,
                   from.strides + 2, static_cast<To*>(to.data) + target, to.strides + 2);
    });
  });
}

rnn_tensor inOrder(const Plan& plan, rnn_tensor sequence) {
  if (plan.reversed && sequence.data && plan.time > 0) {
    sequence.data = static_cast<char*>(sequence.data) +
                    (plan.time - 1) * sequence.strides[1] * elementSize(sequence.dtype);
    sequence.strides[1] = -sequence.strides[1];
  }
  return sequence;
}

SequenceStrides sequenceStrides(const Plan& plan, uint32_t index, const rnn_tensor& tensor) {
  if (isSequence(plan, index)) {
    return {tensor.strides[0], tensor.strides[1], tensor.strides + 2};
  }
  return {0, 0, tensor.strides};
}

template <class F>
Sequences<F>::Sequences(const Plan& plan, Carver& carver, Carver& kept) : plan_(plan) {
  const uint32_t count = plan.table().tensors;
  tensors_ = carver.take<rnn_tensor>(count);
  kept_ = carver.take<F*>(count);
  for (uint32_t i = 0; kept_ && i < count; ++i) {
    kept_[i] = nullptr;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!plan.kept[i]) {
      continue;
    }
    const char* name = plan.table().tensor[i].name;
    const int64_t rows =
        isSequence(plan, i) ? checkedProduct(plan.batch, plan.keptSteps(), name) : 1;
    F* room = kept.take<F>(checkedProduct(rows, plan.elementsOf(i), name));
    if (kept_) {
      kept_[i] = room;
    }
  }
}

template <class F>
const rnn_tensor* Sequences<F>::bind(const rnn_tensor* args, int64_t begin) {
  for (uint32_t i = 0; i < plan_.table().tensors; ++i) {
    rnn_tensor& tensor = tensors_[i];
    tensor = {};
    const int arg = plan_.module->tensorArgs[i].sequence;
    if (arg >= 0) {
      tensor = isSequence(plan_, i) ? inOrder(plan_, args[arg]) : args[arg];
    }
    if (!plan_.kept[i] || (tensor.data && tensor.dtype == dtypeOf<F>)) {
      continue;
    }
    tensor.data = kept_[i];
    tensor.dtype = dtypeOf<F>;
    tensor.rank = 0;
    if (isSequence(plan_, i)) {
      tensor.shape[tensor.rank++] = plan_.batch;
      tensor.shape[tensor.rank++] = plan_.keptSteps();
    }
    for (int64_t size : plan_.tensorSizes[i]) {
      tensor.shape[tensor.rank++] = size;
    }
    int64_t stride = 1;
    for (uint32_t a = tensor.rank; a-- > 0;) {
      tensor.strides[a] = stride;
      stride *= tensor.shape[a];
    }
    if (plan_.window > 0 && isSequence(plan_, i)) {
      // Where step 0 would be. Nobody goes there: an address, and no pointer into the array.
      const int64_t bytes = (plan_.lead - begin) * tensor.strides[1] * int64_t(sizeof(F));
      tensor.data = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(tensor.data) + bytes);
    }
  }
  return tensors_;
}

template <class F>
void Sequences<F>::advance(int64_t begin, int64_t end) {
  if (plan_.window == 0) {
    return;
  }
  const int64_t first = plan_.lead - plan_.carried, steps = plan_.keptSteps();
  for (uint32_t i = 0; i < plan_.table().tensors; ++i) {
    if (!kept_[i] || !isSequence(plan_, i)) {
      continue;
    }
    const int64_t row = plan_.elementsOf(i);
    for (int64_t batch = 0; batch < plan_.batch; ++batch) {
      F* of = kept_[i] + batch * steps * row;
      std::memmove(of + first * row, of + (first + end - begin) * row,
                   plan_.carried * row * sizeof(F));
    }
  }
}

template <class F>
void Sequences<F>::copyToCaller(const rnn_tensor* args, int64_t begin, int64_t end) {
  for (uint32_t i = 0; i < plan_.table().tensors; ++i) {
    const int arg = plan_.module->tensorArgs[i].sequence;
    if (!plan_.kept[i] || arg < 0 || !args[arg].data || args[arg].dtype == dtypeOf<F>) {
      continue;
    }
    const rnn_tensor &from = tensors_[i], to = inOrder(plan_, args[arg]);
    const int64_t steps = end - begin, items = plan_.elementsOf(i) ? plan_.batch * steps : 0;
    parallelFor(*plan_.arena, items, [&](int64_t item, int) {
      const int64_t time = begin + item % steps;
      copyStep(plan_, i, item / steps, from, time, to, time);
    });
  }
}

template class Sequences<float>;
template class Sequences<double>;

} // namespace rnnc::runtime::cpu
