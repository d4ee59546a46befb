// The rules of module.h, checked once, so that nothing behind them needs to doubt a table.
#include "core/module.hpp"
#include "core/status.hpp"

#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace rnnc::runtime {
namespace {

constexpr uint32_t maxWidth = 4096;

struct SlotList {
  const char* what;
  rnn_role role;
  uint32_t count;
  const rnn_slot* slots;
};

class Validator {
public:
  explicit Validator(const rnn_module_table& table) : table_(table) {}

  void run() {
    if (!table_.cell) {
      fail("`cell` is null");
    }
    where_ = fmt::format("module {}", table_.cell);
    tensors();
    if (table_.systems == 0 || !table_.system) {
      fail("there is no system");
    }
    for (uint32_t i = 0; i < table_.systems; ++i) {
      system(i);
    }
    resultsAreDisjoint();
  }

private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    invalid("{}: {}", where_, fmt::format(format, std::forward<Args>(args)...));
  }

  void tensors() {
    if (table_.tensors && !table_.tensor) {
      fail("`tensor` is null");
    }
    std::set<std::string_view> names;
    for (uint32_t i = 0; i < table_.tensors; ++i) {
      const rnn_tensor_desc& tensor = table_.tensor[i];
      if (!tensor.name || !*tensor.name) {
        fail("tensor {} has no name", i);
      }
      if (!names.insert(tensor.name).second) {
        fail("two tensors are called {}", tensor.name);
      }
      if (tensor.role > RNN_ROLE_OUTPUT) {
        fail("tensor {}: role {} is unknown", tensor.name, static_cast<unsigned>(tensor.role));
      }
      if (tensor.hidden && tensor.role != RNN_ROLE_STATE) {
        fail("tensor {} is hidden, but no state", tensor.name);
      }
      if (tensor.rank > RNN_MAX_RANK) {
        fail("tensor {}: rank {} is above {}", tensor.name, tensor.rank, RNN_MAX_RANK);
      }
      if (tensor.rank && (!tensor.dims || !tensor.sizes)) {
        fail("tensor {}: `dims` or `sizes` is null", tensor.name);
      }
      for (uint32_t a = 0; a < tensor.rank; ++a) {
        dim(tensor.dims[a], tensor.sizes[a], tensor.name);
      }
    }
  }

  // A name stands for one size everywhere. A dim without a name is a number.
  void dim(const char* name, int64_t size, const char* owner) {
    if (!name) {
      fail("{}: the name of a dim is null", owner);
    }
    if (size < -1 || (size == -1 && !*name)) {
      fail("{}: dim {} has size {}", owner, name, size);
    }
    if (!*name) {
      return;
    }
    auto [place, isNew] = dims_.emplace(name, size);
    if (!isNew && place->second != size) {
      fail("{}: dim {} has size {}, elsewhere {} (-1: bound by the plan)", owner, name, size,
           place->second);
    }
  }

  void system(uint32_t index) {
    const rnn_system_desc& system = table_.system[index];
    if (!system.name) {
      fail("system {} has no name", index);
    }
    where_ = fmt::format("module {}, system {}", table_.cell, system.name);
    if (system.lane_rank > RNN_MAX_RANK) {
      fail("lane rank {} is above {}", system.lane_rank, RNN_MAX_RANK);
    }
    if (system.lane_rank && (!system.lane_axes || !system.lane_sizes)) {
      fail("`lane_axes` or `lane_sizes` is null");
    }
    for (uint32_t a = 0; a < system.lane_rank; ++a) {
      dim(system.lane_axes[a], system.lane_sizes[a], "a lane axis");
    }
    if (system.states == 0) {
      fail("there is no state");
    }
    block(system);
    for (const SlotList& list :
         {SlotList{"state", RNN_ROLE_STATE, system.states, system.state_slots},
          SlotList{"input", RNN_ROLE_INPUT, system.inputs, system.input_slots},
          SlotList{"param", RNN_ROLE_PARAM, system.params, system.param_slots},
          SlotList{"output", RNN_ROLE_OUTPUT, system.outputs, system.output_slots}}) {
      slots(system, list);
    }
    carry(system);
    cost(system.cost);
    kernels(system);
    where_ = fmt::format("module {}", table_.cell);
  }

  // What only a dense system has.
  void block(const rnn_system_desc& system) {
    if (system.block_rank == 0) {
      return;
    }
    if (!system.block_dims || !system.block_sizes || (system.temporaries && !system.temporary)) {
      fail("`block_dims`, `block_sizes` or `temporary` is null");
    }
    if (system.carry) {
      fail("a dense system has no carry, this one has {} numbers", system.carry);
    }
    for (uint32_t a = 0; a < system.block_rank; ++a) {
      dim(system.block_dims[a], system.block_sizes[a], "a block dim");
    }
    for (uint32_t i = 0; i < system.temporaries; ++i) {
      const rnn_temporary& array = system.temporary[i];
      if (array.rank > RNN_MAX_RANK) {
        fail("temporary {}: rank {} is above {}", i, array.rank, RNN_MAX_RANK);
      }
      for (uint32_t a = 0; a < array.rank; ++a) {
        if (array.dim[a] >= system.block_rank) {
          fail("temporary {}: block dim {} of {}", i, array.dim[a], system.block_rank);
        }
      }
    }
  }

  static bool isBlockDim(const rnn_system_desc& system, const char* name, int64_t size) {
    for (uint32_t a = 0; a < system.block_rank; ++a) {
      if (std::string_view(system.block_dims[a]) == name && system.block_sizes[a] == size) {
        return true;
      }
    }
    return false;
  }

  void slots(const rnn_system_desc& system, const SlotList& list) {
    if (list.count && !list.slots) {
      fail("`{}_slots` is null", list.what);
    }
    for (uint32_t i = 0; i < list.count; ++i) {
      slot(system, list, i);
      if (list.role == RNN_ROLE_STATE || list.role == RNN_ROLE_OUTPUT) {
        results_[list.slots[i].tensor].push_back(&list.slots[i]);
      }
    }
  }

  void slot(const rnn_system_desc& system, const SlotList& list, uint32_t index) const {
    const rnn_slot& slot = list.slots[index];
    if (slot.tensor >= table_.tensors) {
      fail("{} slot {}: tensor {} of {}", list.what, index, slot.tensor, table_.tensors);
    }
    const rnn_tensor_desc& tensor = table_.tensor[slot.tensor];
    if (tensor.role != list.role) {
      fail("{} slot {}: tensor {} has another role", list.what, index, tensor.name);
    }
    if (slot.back != 0 && list.role != RNN_ROLE_INPUT) {
      fail("{} slot {}: only inputs can be delayed", list.what, index);
    }
    uint32_t used = 0;
    for (uint32_t a = 0; a < tensor.rank; ++a) {
      const int32_t lane = slot.lane_axis[a];
      if (lane == -1) {
        if (slot.at[a] == RNN_EVERY && isBlockDim(system, tensor.dims[a], tensor.sizes[a])) {
          continue;
        }
        if (slot.at[a] < 0 || (tensor.sizes[a] != -1 && slot.at[a] >= tensor.sizes[a])) {
          fail("{} slot {}: index {} along axis {} of {} is out of range", list.what, index,
               slot.at[a], a, tensor.name);
        }
        continue;
      }
      if (lane < 0 || static_cast<uint32_t>(lane) >= system.lane_rank) {
        fail("{} slot {}: lane axis {} of {}", list.what, index, lane, system.lane_rank);
      }
      laneAlong(system, list, index, a);
      used |= 1u << lane;
    }
    if (list.role == RNN_ROLE_STATE || list.role == RNN_ROLE_OUTPUT) {
      everyLaneItsOwn(system, list, index, used);
    }
  }

  // The lanes have the axis to themselves; of an input's or a param's they may be a part.
  void laneAlong(const rnn_system_desc& system, const SlotList& list, uint32_t index,
                 uint32_t a) const {
    const rnn_slot& slot = list.slots[index];
    const rnn_tensor_desc& tensor = table_.tensor[slot.tensor];
    const char* axis = system.lane_axes[slot.lane_axis[a]];
    const int64_t lanes = system.lane_sizes[slot.lane_axis[a]];
    const bool isRead = list.role == RNN_ROLE_INPUT || list.role == RNN_ROLE_PARAM;
    const bool isWhole = slot.at[a] == 0 && tensor.sizes[a] == lanes &&
                         (lanes != -1 || std::string_view(tensor.dims[a]) == axis);
    const bool isPart = isRead && lanes != -1 && tensor.sizes[a] != -1 && slot.at[a] >= 0 &&
                        slot.at[a] <= tensor.sizes[a] - lanes;
    if (!isWhole && !isPart) {
      fail("{} slot {}: axis {} of {} is no lane axis {}", list.what, index, a, tensor.name, axis);
    }
  }

  // Two lanes must not write to the same place.
  void everyLaneItsOwn(const rnn_system_desc& system, const SlotList& list, uint32_t index,
                       uint32_t used) const {
    for (uint32_t a = 0; a < system.lane_rank; ++a) {
      if (!(used >> a & 1) && system.lane_sizes[a] != 1) {
        fail("{} slot {}: does not use lane axis {}, so lanes would share a place", list.what,
             index, system.lane_axes[a]);
      }
    }
  }

  // Two slots are apart where some axis holds two different fixed indices.
  void resultsAreDisjoint() const {
    for (const auto& [tensor, slots] : results_) {
      const uint32_t rank = table_.tensor[tensor].rank;
      for (size_t i = 0; i < slots.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          bool apart = false;
          for (uint32_t a = 0; a < rank; ++a) {
            apart |= slots[i]->lane_axis[a] == -1 && slots[j]->lane_axis[a] == -1 &&
                     slots[i]->at[a] != RNN_EVERY && slots[j]->at[a] != RNN_EVERY &&
                     slots[i]->at[a] != slots[j]->at[a];
          }
          if (!apart) {
            fail("two slots write to the same place of {}", table_.tensor[tensor].name);
          }
        }
      }
    }
  }

  void carry(const rnn_system_desc& system) const {
    if (system.carry == 0) {
      return;
    }
    if (!system.carry_index) {
      fail("`carry_index` is null");
    }
    if (system.states > maxCarryStates) {
      fail("{} states with a carry; at most {} are possible", system.states, maxCarryStates);
    }
    bool has[maxCarryStates][maxCarryStates] = {};
    int64_t last = -1;
    for (uint32_t c = 0; c < system.carry; ++c) {
      const uint32_t row = system.carry_index[2 * c];
      const uint32_t column = system.carry_index[2 * c + 1];
      const int64_t place = static_cast<int64_t>(row) * system.states + column;
      if (row >= system.states || column >= system.states || place <= last) {
        fail("`carry_index` is not a row-major list of places in a {0} x {0} block", system.states);
      }
      last = place;
      has[row][column] = true;
    }
    for (uint32_t i = 0; i < system.states; ++i) {
      if (!has[i][i]) {
        fail("`carry_index` lacks ({0}, {0})", i);
      }
      for (uint32_t j = 0; j < system.states; ++j) {
        for (uint32_t l = 0; l < system.states; ++l) {
          if (has[i][j] && has[j][l] && !has[i][l]) {
            fail("`carry_index` has ({0}, {1}) and ({1}, {2}), but not ({0}, {2})", i, j, l);
          }
        }
      }
    }
  }

  void cost(const rnn_cost& cost) const {
    for (double value : {cost.step_latency, cost.step_throughput, cost.jacobian_throughput}) {
      if (!std::isfinite(value) || value < 0) {
        fail("`cost` holds {}", value);
      }
    }
  }

  void kernels(const rnn_system_desc& system) const {
    if (system.kernels == 0 || !system.kernel) {
      fail("there is no kernel");
    }
    for (uint32_t i = 0; i < system.kernels; ++i) {
      const rnn_cpu_kernel& kernel = system.kernel[i];
      if (kernel.compute != RNN_F32 && kernel.compute != RNN_F64) {
        fail("kernel {}: `compute` is neither f32 nor f64", i);
      }
      if (kernel.width == 0 || kernel.width > maxWidth) {
        fail("kernel {}: width {} is not in 1..{}", i, kernel.width, maxWidth);
      }
      if (i && (kernel.compute < system.kernel[i - 1].compute ||
                (kernel.compute == system.kernel[i - 1].compute &&
                 kernel.width <= system.kernel[i - 1].width))) {
        fail("kernel {}: not sorted by compute type, then width", i);
      }
      if (!table_.resolve && (!kernel.shoot || (system.carry && !kernel.shoot_jacobian))) {
        fail("kernel {}: a function is null and there is no `resolve`", i);
      }
    }
  }

  const rnn_module_table& table_;
  std::string where_ = "module table";
  std::map<std::string_view, int64_t> dims_;
  std::map<uint32_t, std::vector<const rnn_slot*>> results_;
};

} // namespace

void validateTable(const rnn_module_table* table) {
  if (!table) {
    invalid("rnn_module_from_table: argument `table` is null");
  }
  if (table->abi_version != RNN_ABI_VERSION) {
    invalid("module table: ABI version {}, this runtime has {}; build the module again",
            table->abi_version, RNN_ABI_VERSION);
  }
  if (table->size < sizeof(rnn_module_table)) {
    invalid("module table: size is {}, this runtime needs {}", table->size,
            sizeof(rnn_module_table));
  }
  Validator(*table).run();
}

} // namespace rnnc::runtime
