#include "core/dense.hpp"

#include "core/status.hpp"

#include <algorithm>

namespace rnnc::runtime {
namespace {

int64_t elementsOf(const rnn_slot& slot, const std::vector<int64_t>& sizes, const char* owner) {
  int64_t count = 1;
  for (size_t a = 0; a < sizes.size(); ++a) {
    if (slot.lane_axis[a] == -1 && slot.at[a] == RNN_EVERY) {
      count = checkedProduct(count, sizes[a], owner);
    }
  }
  return count;
}

// Every element that the slot stands for, row-major, as slots of their own.
void expandSlot(const rnn_slot& slot, const std::vector<int64_t>& sizes, const char* owner,
                std::vector<rnn_slot>& out) {
  const int64_t count = elementsOf(slot, sizes, owner);
  if (count > maxDenseScalars - static_cast<int64_t>(out.size())) {
    invalid("system {}: a lane has more than {} scalars; smaller dims are needed", owner,
            maxDenseScalars);
  }
  for (int64_t element = 0; element < count; ++element) {
    rnn_slot one = slot;
    int64_t rest = element;
    for (size_t a = sizes.size(); a-- > 0;) {
      if (slot.lane_axis[a] == -1 && slot.at[a] == RNN_EVERY) {
        one.at[a] = rest % sizes[a];
        rest /= sizes[a];
      }
    }
    out.push_back(one);
  }
}

// All lanes read the same element, so the kernel takes the whole array as it is.
bool isShared(const rnn_slot& param, size_t rank) {
  return std::all_of(param.lane_axis, param.lane_axis + rank,
                     [](int32_t lane) { return lane == -1; });
}

} // namespace

std::shared_ptr<const DenseSystem> expandDense(const rnn_system_desc& system,
                                               const std::vector<std::vector<int64_t>>& tensorSizes,
                                               std::vector<int64_t> blockSizes) {
  auto dense = std::make_shared<DenseSystem>();
  dense->blockSizes = std::move(blockSizes);
  auto expand = [&](const rnn_slot* slots, uint32_t count, std::vector<rnn_slot>& out) {
    for (uint32_t i = 0; i < count; ++i) {
      expandSlot(slots[i], tensorSizes[slots[i].tensor], system.name, out);
    }
  };
  expand(system.state_slots, system.states, dense->states);
  expand(system.input_slots, system.inputs, dense->inputs);
  expand(system.output_slots, system.outputs, dense->outputs);
  int64_t packed = 0;
  for (uint32_t i = 0; i < system.params; ++i) {
    const rnn_slot& slot = system.param_slots[i];
    const std::vector<int64_t>& sizes = tensorSizes[slot.tensor];
    if (!isShared(slot, sizes.size())) {
      expandSlot(slot, sizes, system.name, dense->params);
      continue;
    }
    dense->shared.push_back(slot);
    dense->sharedOffsets.push_back(packed);
    packed = checkedSum(packed, elementsOf(slot, sizes, system.name), system.name);
  }
  dense->sharedOffsets.push_back(packed);
  dense->scratch = static_cast<int64_t>(dense->states.size());
  for (uint32_t i = 0; i < system.temporaries; ++i) {
    int64_t elements = 1;
    for (uint32_t a = 0; a < system.temporary[i].rank; ++a) {
      elements =
          checkedProduct(elements, dense->blockSizes[system.temporary[i].dim[a]], system.name);
    }
    dense->scratch = checkedSum(dense->scratch, elements, system.name);
  }

  rnn_system_desc& desc = dense->desc;
  desc = system;
  desc.states = static_cast<uint32_t>(dense->states.size());
  desc.inputs = static_cast<uint32_t>(dense->inputs.size());
  desc.params = static_cast<uint32_t>(dense->params.size());
  desc.outputs = static_cast<uint32_t>(dense->outputs.size());
  desc.state_slots = dense->states.data();
  desc.input_slots = dense->inputs.data();
  desc.param_slots = dense->params.data();
  desc.output_slots = dense->outputs.data();
  // Each element of a param is one multiply-add a lane.
  const double count = double(packed) + double(dense->params.size());
  const double states = double(dense->states.size());
  desc.cost = {system.cost.step_latency * count, system.cost.step_throughput * count,
               system.cost.jacobian_throughput * states};
  if (system.diagonal) {
    for (uint32_t i = 0; i < desc.states; ++i) {
      dense->carry.push_back({i, i, i, 1});
    }
    desc.carry = desc.carry_places = desc.states;
    desc.carry_place = dense->carry.data();
  }
  return dense;
}

} // namespace rnnc::runtime
