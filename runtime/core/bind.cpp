#include "core/bind.hpp"

#include "core/status.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace rnnc::runtime {
namespace {

class DimTable {
public:
  explicit DimTable(const rnn_module_table& table) {
    for (uint32_t i = 0; i < table.tensors; ++i) {
      for (uint32_t a = 0; a < table.tensor[i].rank; ++a) {
        declare(table.tensor[i].dims[a], table.tensor[i].sizes[a]);
      }
    }
    for (uint32_t i = 0; i < table.systems; ++i) {
      for (uint32_t a = 0; a < table.system[i].lane_rank; ++a) {
        declare(table.system[i].lane_axes[a], table.system[i].lane_sizes[a]);
      }
    }
  }

  void bind(const rnn_dim_value& value) {
    if (!value.name) {
      invalid("dim: a name is null");
    }
    auto place = sizes_.find(value.name);
    if (place == sizes_.end()) {
      invalid("dim {}: the module has no such dim{}", value.name, listOfFree());
    }
    if (value.size < 0) {
      invalid("dim {}: size {} is negative", value.name, value.size);
    }
    if (place->second.fixed && place->second.size != value.size) {
      invalid("dim {}: size {} was asked for, the module was compiled with {}", value.name,
              value.size, place->second.size);
    }
    if (!place->second.fixed && place->second.size != -1 && place->second.size != value.size) {
      invalid("dim {}: two sizes were given, {} and {}", value.name, place->second.size,
              value.size);
    }
    place->second.size = value.size;
  }

  void checkAllBound() const {
    for (const auto& [name, dim] : sizes_) {
      if (dim.size == -1) {
        invalid("dim {} has no size; give one in `dim`", name);
      }
    }
  }

  int64_t size(const char* name, int64_t fixed) const {
    return fixed != -1 ? fixed : sizes_.find(name)->second.size;
  }

private:
  struct Dim {
    int64_t size;
    bool fixed;
  };

  void declare(const char* name, int64_t size) {
    if (*name) {
      sizes_.emplace(name, Dim{size, size != -1});
    }
  }

  std::string listOfFree() const {
    std::string list;
    for (const auto& [name, dim] : sizes_) {
      if (!dim.fixed) {
        list += fmt::format("{}{}", list.empty() ? " (it has " : ", ", name);
      }
    }
    return list.empty() ? list : list + ")";
  }

  std::map<std::string_view, Dim> sizes_;
};

void checkSlots(const Plan& plan, const rnn_slot* slots, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const rnn_tensor_desc& tensor = plan.table().tensor[slots[i].tensor];
    for (uint32_t a = 0; a < tensor.rank; ++a) {
      const int64_t size = plan.tensorSizes[slots[i].tensor][a];
      if (slots[i].lane_axis[a] == -1 && slots[i].at[a] >= size) {
        invalid("dim {} is {}, but the module uses element {} of {}", tensor.dims[a], size,
                slots[i].at[a], tensor.name);
      }
    }
  }
}

// Slots of results do not overlap (validateTable), so counting them is enough to know that nothing
// stays unwritten.
void checkCoverage(const Plan& plan) {
  const rnn_module_table& table = plan.table();
  std::vector<int64_t> written(table.tensors, 0);
  auto count = [&](const SystemPlan& system) {
    for (uint32_t i = 0; i < system.desc->states; ++i) {
      written[system.desc->state_slots[i].tensor] += system.lanesPerBatch;
    }
    for (uint32_t i = 0; i < system.desc->outputs; ++i) {
      written[system.desc->output_slots[i].tensor] += system.lanesPerBatch;
    }
  };
  std::for_each(plan.systems.begin(), plan.systems.end(), count);
  for (const StagePlan& stage : plan.stages) {
    if (stage.map.desc) {
      count(stage.map);
    }
    for (const ProductPart& part : stage.product.parts) {
      written[part.desc->result] += stage.product.heads * stage.product.rows * part.columns;
    }
  }
  for (uint32_t i = 0; i < table.tensors; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[i];
    if (tensor.role == RNN_ROLE_INPUT || tensor.role == RNN_ROLE_PARAM ||
        tensor.role == RNN_ROLE_GRADIENT) {
      continue;
    }
    int64_t elements = 1;
    for (int64_t size : plan.tensorSizes[i]) {
      elements *= size;
    }
    if (elements != written[i]) {
      invalid("module {}: {} of {} elements of {} are computed", table.cell, written[i], elements,
              tensor.name);
    }
  }
}

// From here on the system's slots are scalars.
void expand(Plan& plan, SystemPlan& system, const DimTable& dims) {
  std::vector<int64_t> sizes;
  for (uint32_t a = 0; a < system.desc->block_rank; ++a) {
    sizes.push_back(dims.size(system.desc->block_dims[a], system.desc->block_sizes[a]));
  }
  system.dense = expandDense(*system.desc, plan.tensorSizes, std::move(sizes));
  system.desc = &system.dense->desc;
  system.packedOffset = plan.packedNumbers;
  plan.packedNumbers =
      checkedSum(plan.packedNumbers, system.dense->sharedOffsets.back(), system.desc->name);
}

// What only an adjoint's systems have.
void bindAdjoint(const Plan& plan, SystemPlan& system) {
  const rnn_module_table& table = plan.table();
  system.ahead.assign(system.desc->inputs, 0);
  for (uint32_t i = 0; plan.cell && i < system.desc->inputs; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[system.desc->input_slots[i].tensor];
    system.ahead[i] = tensor.relation == RNN_RELATION_VALUE ? tensor.back : 0;
  }
  for (uint32_t i = 0; plan.cell && i < system.desc->states; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[system.desc->state_slots[i].tensor];
    if (tensor.relation == RNN_RELATION_CARRIED && plan.cell->table().tensor[tensor.of].start) {
      system.starts.push_back(i);
    }
  }
}

void bindSystem(Plan& plan, const DimTable& dims, const rnn_system_desc& desc, uint32_t index,
                int64_t batch, SystemPlan& system) {
  system.desc = &desc;
  system.index = index;
  for (uint32_t a = 0; a < desc.lane_rank; ++a) {
    system.laneSizes.push_back(dims.size(desc.lane_axes[a], desc.lane_sizes[a]));
    system.lanesPerBatch = checkedProduct(system.lanesPerBatch, system.laneSizes.back(), desc.name);
  }
  system.lanes = checkedProduct(system.lanesPerBatch, batch, desc.name);
  checkSlots(plan, desc.state_slots, desc.states);
  checkSlots(plan, desc.input_slots, desc.inputs);
  checkSlots(plan, desc.param_slots, desc.params);
  checkSlots(plan, desc.output_slots, desc.outputs);
  checkSlots(plan, desc.sum_slots, desc.sums);
  if (desc.block_rank > 0) {
    expand(plan, system, dims);
  }
  bindAdjoint(plan, system);
}

} // namespace

void bindDims(Plan& plan, const rnn_plan_options& options) {
  const rnn_module_table& table = plan.table();
  if (options.dims && !options.dim) {
    invalid("`dim` is null, but `dims` is {}", options.dims);
  }
  DimTable dims(table);
  for (uint32_t i = 0; i < options.dims; ++i) {
    dims.bind(options.dim[i]);
  }
  dims.checkAllBound();

  const int64_t sequence = checkedProduct(plan.batch, plan.time, "batch x time");
  plan.tensorSizes.resize(table.tensors);
  for (uint32_t i = 0; i < table.tensors; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[i];
    int64_t elements = sequence > 0 ? sequence : 1;
    for (uint32_t a = 0; a < tensor.rank; ++a) {
      plan.tensorSizes[i].push_back(dims.size(tensor.dims[a], tensor.sizes[a]));
      elements = checkedProduct(elements, plan.tensorSizes[i].back(), tensor.name);
    }
  }
  plan.systems.resize(table.systems);
  for (uint32_t i = 0; i < table.systems; ++i) {
    bindSystem(plan, dims, table.system[i], i, plan.sequences(), plan.systems[i]);
  }
  plan.stages.resize(table.stages);
  for (uint32_t i = 0; i < table.stages; ++i) {
    const rnn_stage& stage = table.stage[i];
    plan.stages[i].phase = stage.phase;
    if (stage.product) {
      plan.stages[i].product = bindProduct(plan, *stage.product);
    } else if (stage.outer) {
      for (const rnn_slot* slot : {&stage.outer->left, &stage.outer->right, &stage.outer->result}) {
        checkSlots(plan, slot, 1);
      }
      plan.stages[i].outer = bindOuter(plan, *stage.outer);
    } else {
      bindSystem(plan, dims, *stage.map, table.systems + i, batchOf(plan, stage.phase),
                 plan.stages[i].map);
    }
  }
  listKept(plan);
  checkCoverage(plan);
}

} // namespace rnnc::runtime
