#include "harness.hpp"

#include <algorithm>

namespace rnnc::test {
namespace {

rnn_slot laneSlot(uint32_t tensor, int laneRank) {
  rnn_slot slot{};
  slot.tensor = tensor;
  for (int a = 0; a < RNN_MAX_RANK; ++a) {
    slot.lane_axis[a] = a < laneRank ? a : -1;
  }
  return slot;
}

} // namespace

const char* Table::keep(std::string text) {
  texts_.push_back(std::make_unique<std::string>(std::move(text)));
  return texts_.back()->c_str();
}

const char** Table::names(std::vector<const char*> list) {
  lists_.push_back(std::make_unique<std::vector<const char*>>(std::move(list)));
  return lists_.back()->data();
}

int64_t* Table::sizes(std::vector<int64_t> list) {
  sizes_.push_back(std::make_unique<std::vector<int64_t>>(std::move(list)));
  return sizes_.back()->data();
}

Table::Table(const CellInfo& cell, const Options& options) {
  axes = options.laneRank == 1   ? std::vector<const char*>{"d"}
         : options.laneRank == 2 ? std::vector<const char*>{"h", "d"}
                                 : std::vector<const char*>{};
  axisSizes.assign(axes.size(), -1);
  auto add = [&](std::string name, rnn_role role, int laneRank, int64_t block) {
    std::vector<const char*> dims(axes.begin(), axes.begin() + laneRank);
    std::vector<int64_t> dimSizes(axisSizes.begin(), axisSizes.begin() + laneRank);
    if (block) {
      dims.push_back("");
      dimSizes.push_back(block);
    }
    rnn_tensor_desc desc{};
    desc.name = keep(std::move(name));
    desc.role = role;
    desc.rank = static_cast<uint32_t>(dims.size());
    desc.dims = names(dims);
    desc.sizes = sizes(dimSizes);
    tensors.push_back(desc);
    return static_cast<uint32_t>(tensors.size() - 1);
  };
  for (int i = 0; i < cell.inputs; ++i) {
    const uint32_t tensor = i > 0 && options.oneInput
                                ? inputs[0].tensor
                                : add("x" + std::to_string(i), RNN_ROLE_INPUT, options.laneRank, 0);
    tensors[tensor].fill = options.before;
    inputs.push_back(laneSlot(tensor, options.laneRank));
    inputs.back().back = static_cast<size_t>(i) < options.back.size() ? options.back[i] : 0;
  }
  for (int i = 0; i < cell.params; ++i) {
    // The last of several is shared by all lanes.
    const int rank = i > 0 && i + 1 == cell.params ? 0 : options.laneRank;
    params.push_back(laneSlot(add("p" + std::to_string(i), RNN_ROLE_PARAM, rank, 0), rank));
  }
  if (options.blockState) {
    const uint32_t tensor = add("s", RNN_ROLE_STATE, options.laneRank, cell.states);
    for (int i = 0; i < cell.states; ++i) {
      states.push_back(laneSlot(tensor, options.laneRank));
      states.back().at[options.laneRank] = i;
    }
  } else {
    for (int i = 0; i < cell.states; ++i) {
      states.push_back(laneSlot(add("s" + std::to_string(i), RNN_ROLE_STATE, options.laneRank, 0),
                                options.laneRank));
    }
  }
  for (int i = 0; i < cell.outputs; ++i) {
    outputs.push_back(laneSlot(add("y" + std::to_string(i), RNN_ROLE_OUTPUT, options.laneRank, 0),
                               options.laneRank));
  }
  for (rnn_tensor_desc& tensor : tensors) {
    if (tensor.role == RNN_ROLE_STATE) {
      tensor.fill = .25;
      tensor.hidden = options.hideFirst && &tensor == &tensors[states[0].tensor];
    }
  }
  kernels = cell.kernels;
  carry = cell.carry;
  system.name = cell.name;
  system.lane_rank = static_cast<uint32_t>(axes.size());
  system.lane_axes = axes.data();
  system.lane_sizes = axisSizes.data();
  system.states = static_cast<uint32_t>(states.size());
  system.inputs = static_cast<uint32_t>(inputs.size());
  system.params = static_cast<uint32_t>(params.size());
  system.outputs = static_cast<uint32_t>(outputs.size());
  system.state_slots = states.data();
  system.input_slots = inputs.data();
  system.param_slots = params.data();
  system.output_slots = outputs.data();
  for (const rnn_carry_place& place : carry) {
    system.carry = std::max(system.carry, place.number + 1);
  }
  system.carry_places = static_cast<uint32_t>(carry.size());
  system.carry_place = carry.data();
  system.linear = cell.linear;
  system.constant = cell.constant;
  system.cost = options.cost;
  system.kernels = static_cast<uint32_t>(kernels.size());
  system.kernel = kernels.data();
  table.abi_version = RNN_ABI_VERSION;
  table.size = sizeof(rnn_module_table);
  table.cell = cell.name;
  table.tensors = static_cast<uint32_t>(tensors.size());
  table.tensor = tensors.data();
  table.systems = 1;
  table.system = &system;
}

ModuleHandle::ModuleHandle(const rnn_module_table* table) {
  status = rnn_context_create(&context);
  if (status == RNN_OK) {
    status = rnn_module_from_table(context, table, &module);
  }
}

ModuleHandle::~ModuleHandle() {
  rnn_module_destroy(module);
  rnn_context_destroy(context);
}

} // namespace rnnc::test
