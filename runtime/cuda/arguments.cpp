#include "cuda/arguments.hpp"

#include "core/elements.hpp"
#include "core/status.hpp"
#include "core/tensors.hpp"

#include <algorithm>
#include <cstring>

namespace rnnc::runtime::cuda {
namespace {

/// Axes in front of a tensor's own.
enum Lead : uint32_t { OfParam = 0, OfBoundary = 1, OfSequence = 2 };

/// How many axes of a slot run over a block.
uint32_t blockAxesOf(const rnn_slot& slot, uint32_t rank) {
  uint32_t count = 0;
  for (uint32_t a = 0; a < rank; ++a) {
    count += slot.lane_axis[a] == -1 && slot.at[a] == RNN_EVERY;
  }
  return count;
}

/// The most that an array of a dense system has.
uint32_t blockAxes(const rnn_module_table& table, const rnn_system_desc& desc) {
  uint32_t most = 0;
  const auto see = [&](const rnn_slot* slots, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      most = std::max(most, blockAxesOf(slots[i], table.tensor[slots[i].tensor].rank));
    }
  };
  see(desc.state_slots, desc.states);
  see(desc.input_slots, desc.inputs);
  see(desc.param_slots, desc.params);
  see(desc.output_slots, desc.outputs);
  return most;
}

/// Writes words, or only counts them.
class Words {
public:
  explicit Words(void* to) : to_(static_cast<unsigned char*>(to)) {}

  template <class T>
  void put(T value) {
    static_assert(sizeof(T) == 8);
    if (to_) {
      std::memcpy(to_ + 8 * count_, &value, 8);
    }
    ++count_;
  }
  void zeros(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      put(int64_t(0));
    }
  }
  int64_t bytes() const { return 8 * count_; }

private:
  unsigned char* to_;
  int64_t count_ = 0;
};

/// Arrays of length 0 do not exist in the struct.
int64_t some(int64_t count) { return std::max<int64_t>(count, 1); }

class Packer {
public:
  Packer(const Plan& plan, uint32_t system, const rnn_tensor* args, const ArgumentPlaces& places,
         void* to)
      : plan_(plan), table_(plan.table()), desc_(table_.system[system]),
        bound_(plan.systems[system]), args_(args), places_(places), words_(to),
        isDense_(desc_.block_rank > 0), blockAxes_(isDense_ ? blockAxes(table_, desc_) : 0) {}

  int64_t pack() {
    words_.put(plan_.batch);
    words_.put(plan_.time);
    putSizes(bound_.laneSizes);
    if (isDense_) {
      putSizes(bound_.dense->blockSizes);
      words_.put(places_.report);
      words_.put(places_.scratch);
    } else {
      words_.put(plan_.tolerance);
      words_.put(plan_.maxSweeps);
      words_.put(places_.report);
    }
    for (uint32_t i = 0; i < desc_.states; ++i) {
      putState(desc_.state_slots[i]);
    }
    putSlots(desc_.input_slots, desc_.inputs, OfSequence);
    putSlots(desc_.param_slots, desc_.params, OfParam);
    putSlots(desc_.output_slots, desc_.outputs, OfSequence);
    return words_.bytes();
  }

private:
  void putSizes(const std::vector<int64_t>& sizes) {
    for (int64_t size : sizes) {
      words_.put(size);
    }
    words_.zeros(some(int64_t(sizes.size())) - int64_t(sizes.size()));
  }

  int64_t slotWords(Lead lead) const {
    return 1 + some(lead + desc_.lane_rank) + (isDense_ ? some(blockAxes_) : 0);
  }

  void putSlots(const rnn_slot* slots, uint32_t count, Lead lead) {
    for (uint32_t i = 0; i < count; ++i) {
      putSlot(argument(plan_.module->tensorArgs[slots[i].tensor].sequence), slots[i], lead);
    }
    words_.zeros(count == 0 ? slotWords(lead) : 0);
  }

  void putState(const rnn_slot& slot) {
    const TensorArgs& places = plan_.module->tensorArgs[slot.tensor];
    rnn_tensor start;
    const rnn_tensor* initial = argument(places.initial);
    if (!initial && startOf(slot.tensor, start)) {
      initial = &start;
    }
    putSlot(initial, slot, OfBoundary);
    putSlot(argument(places.final), slot, OfBoundary);
    putSlot(argument(places.sequence), slot, OfSequence);
    words_.put(table_.tensor[slot.tensor].fill);
  }

  /// Null where the caller gives none.
  const rnn_tensor* argument(int place) const {
    return args_ && place >= 0 && args_[place].data ? &args_[place] : nullptr;
  }

  /// The param that a state begins as, with the axes of an initial state.
  bool startOf(uint32_t tensor, rnn_tensor& out) const {
    const rnn_tensor_desc& state = table_.tensor[tensor];
    if (state.start == 0) {
      return false;
    }
    const rnn_tensor* param = argument(plan_.module->tensorArgs[state.start - 1].sequence);
    if (!param) {
      return false;
    }
    out = *param;
    out.rank = 1 + state.rank;
    out.strides[0] = 0;
    startStrides(plan_, tensor, *param, out.strides + 1);
    return true;
  }

  /// data + sum of index * stride: the element's fixed indices are in the pointer already.
  void putSlot(const rnn_tensor* tensor, const rnn_slot& slot, Lead lead) {
    if (!tensor) {
      words_.zeros(slotWords(lead));
      return;
    }
    const uint32_t rank = table_.tensor[slot.tensor].rank;
    const int64_t bytes = elementSize(plan_.compute);
    auto data = reinterpret_cast<Address>(tensor->data);
    for (uint32_t a = 0; a < rank; ++a) {
      if (slot.at[a] != RNN_EVERY) {
        data += static_cast<Address>(bytes * slot.at[a] * tensor->strides[lead + a]);
      }
    }
    words_.put(data);
    for (uint32_t a = 0; a < lead; ++a) {
      words_.put(tensor->strides[a]);
    }
    for (uint32_t lane = 0; lane < desc_.lane_rank; ++lane) {
      int64_t stride = 0;
      for (uint32_t a = 0; a < rank; ++a) {
        stride += slot.lane_axis[a] == static_cast<int32_t>(lane) ? tensor->strides[lead + a] : 0;
      }
      words_.put(stride);
    }
    words_.zeros(some(lead + desc_.lane_rank) - (lead + desc_.lane_rank));
    if (isDense_) {
      putElementStrides(*tensor, slot, lead, rank);
    }
  }

  void putElementStrides(const rnn_tensor& tensor, const rnn_slot& slot, Lead lead, uint32_t rank) {
    int64_t written = 0;
    for (uint32_t a = 0; a < rank; ++a) {
      if (slot.lane_axis[a] == -1 && slot.at[a] == RNN_EVERY) {
        words_.put(tensor.strides[lead + a]);
        ++written;
      }
    }
    words_.zeros(some(blockAxes_) - written);
  }

  const Plan& plan_;
  const rnn_module_table& table_;
  const rnn_system_desc& desc_; ///< of the table: in a dense system a slot is a whole array
  const SystemPlan& bound_;
  const rnn_tensor* const args_;
  const ArgumentPlaces& places_;
  Words words_;
  const bool isDense_;
  const uint32_t blockAxes_;
};

} // namespace

int64_t argumentBytes(const Plan& plan, uint32_t system) {
  return Packer(plan, system, nullptr, {}, nullptr).pack();
}

// dense_numbers of dense.cuh: the states twice, and the temporaries.
int64_t scratchNumbers(const Plan& plan, uint32_t system) {
  const SystemPlan& bound = plan.systems[system];
  if (!bound.dense) {
    return 0;
  }
  return checkedSum(bound.dense->scratch, bound.dense->desc.states, bound.desc->name);
}

void packArguments(const Plan& plan, uint32_t system, const rnn_tensor* args,
                   const ArgumentPlaces& places, void* to) {
  Packer(plan, system, args, places, to).pack();
}

} // namespace rnnc::runtime::cuda
