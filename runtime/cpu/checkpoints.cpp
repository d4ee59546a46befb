#include "cpu/checkpoints.hpp"

#include "core/elements.hpp"
#include "cpu/sequences.hpp"
#include "cpu/threads.hpp"

namespace rnnc::runtime::cpu {

template <class F>
Checkpoints<F>::Checkpoints(const Plan& plan, Carver& carver) : plan_(plan) {
  const uint32_t tensors = plan.table().tensors;
  numbers_ = carver.take<F*>(plan.checkpoint > 0 ? tensors : 0);
  for (uint32_t i = 0; plan.checkpoint > 0 && i < tensors; ++i) {
    const bool isState = plan.table().tensor[i].role == RNN_ROLE_STATE;
    const int64_t rows = checkedProduct(plan.batch, count(), "the reserve");
    F* room = carver.take<F>(isState ? checkedProduct(rows, plan.elementsOf(i), "the reserve") : 0);
    if (numbers_) {
      numbers_[i] = isState ? room : nullptr;
    }
  }
}

// None behind the last step: nothing begins there.
template <class F>
int64_t Checkpoints<F>::count() const {
  return plan_.time > 0 ? (plan_.time - 1) / plan_.checkpoint : 0;
}

template <class F>
rnn_tensor Checkpoints<F>::array(uint32_t tensor) const {
  const std::vector<int64_t>& sizes = plan_.tensorSizes[tensor];
  rnn_tensor view{};
  view.data = numbers_[tensor];
  view.dtype = dtypeOf<F>;
  int64_t stride = 1;
  for (size_t a = sizes.size(); a-- > 0;) {
    view.strides[2 + a] = stride;
    stride *= sizes[a];
  }
  view.strides[1] = stride;
  view.strides[0] = stride * count();
  return view;
}

template <class F>
void Checkpoints<F>::save(const Call& call) {
  const int64_t k = plan_.checkpoint;
  if (k == 0) {
    return;
  }
  const int64_t first = call.begin / k, last = std::min(call.end / k, count());
  for (uint32_t i = 0; i < plan_.table().tensors; ++i) {
    if (!numbers_[i] || plan_.elementsOf(i) == 0) {
      continue;
    }
    const rnn_tensor to = array(i);
    parallelFor(*plan_.arena, plan_.batch * (last - first), [&](int64_t item, int) {
      const int64_t batch = item % plan_.batch, n = first + item / plan_.batch;
      copyStep(plan_, i, batch, call.tensors[i], (n + 1) * k - 1, to, n);
    });
  }
}

template <class F>
void Checkpoints<F>::restore(const Call& call, int64_t time) const {
  for (uint32_t i = 0; i < plan_.table().tensors; ++i) {
    for (int64_t batch = 0; numbers_[i] && batch < plan_.batch; ++batch) {
      copyStep(plan_, i, batch, array(i), time / plan_.checkpoint - 1, call.tensors[i], time - 1);
    }
  }
}

template class Checkpoints<float>;
template class Checkpoints<double>;

} // namespace rnnc::runtime::cpu
