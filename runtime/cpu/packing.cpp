#include "cpu/packing.hpp"

#include "cpu/stage.hpp"

namespace rnnc::runtime::cpu {
namespace {

template <class F>
F* packOne(const Plan& plan, const rnn_tensor& tensor, const rnn_slot& slot, F* to) {
  const std::vector<int64_t>& sizes = plan.tensorSizes[slot.tensor];
  const auto rank = static_cast<int64_t>(sizes.size());
  const char* data = static_cast<const char*>(tensor.data);
  int64_t index[RNN_MAX_RANK] = {}, offset = 0;
  for (int64_t a = 0; a < rank; ++a) {
    if (slot.at[a] != RNN_EVERY) {
      offset += slot.at[a] * tensor.strides[a];
    } else if (sizes[a] == 0) {
      return to;
    }
  }
  while (true) {
    *to++ = loadElement<F>(data + offset * elementSize(tensor.dtype), tensor.dtype);
    int64_t a = rank - 1;
    for (; a >= 0; --a) {
      if (slot.at[a] != RNN_EVERY) {
        continue;
      }
      offset += tensor.strides[a];
      if (++index[a] < sizes[a]) {
        break;
      }
      offset -= sizes[a] * tensor.strides[a];
      index[a] = 0;
    }
    if (a < 0) {
      return to;
    }
  }
}

} // namespace

template <class F>
void packShared(const Call& call, const SystemPlan& system, F* to) {
  if (!system.dense || system.lanes == 0) {
    return;
  }
  F* next = to + system.packedOffset;
  for (const rnn_slot& slot : system.dense->shared) {
    next = packOne(call.plan, call.tensors[slot.tensor], slot, next);
  }
}

template void packShared<float>(const Call&, const SystemPlan&, float*);
template void packShared<double>(const Call&, const SystemPlan&, double*);

} // namespace rnnc::runtime::cpu
