// The rules of module.h, checked once, so that nothing behind them needs to doubt a table.
#include "core/carry_form.hpp"
#include "core/module.hpp"
#include "core/status.hpp"
#include "cuda/module_table.hpp"

#include <algorithm>
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

bool isResult(const SlotList& list) {
  return list.role == RNN_ROLE_STATE || list.role == RNN_ROLE_OUTPUT;
}

// Nobody else's place: but a sum may be one over lanes.
bool isSum(const SlotList& list) { return list.role == RNN_ROLE_GRADIENT; }

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
      system(table_.system[i], i, nullptr);
    }
    stages();
    resultsAreDisjoint();
    hints(table_.solve);
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
      if (tensor.role > RNN_ROLE_GRADIENT) {
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
    for (uint32_t i = 0; i < table_.tensors; ++i) {
      if (table_.tensor[i].start != 0) {
        start(table_.tensor[i]);
      }
    }
  }

  // A learned initial state broadcasts to the state.
  void start(const rnn_tensor_desc& state) const {
    if (state.start > table_.tensors || table_.tensor[state.start - 1].role != RNN_ROLE_PARAM) {
      fail("tensor {} starts from tensor {}, which is no param", state.name, state.start - 1);
    }
    const rnn_tensor_desc& param = table_.tensor[state.start - 1];
    bool fits = state.role == RNN_ROLE_STATE && param.rank <= state.rank;
    for (uint32_t a = 0; fits && a < param.rank; ++a) {
      const uint32_t axis = state.rank - param.rank + a;
      fits = param.sizes[a] == 1 ||
             (param.sizes[a] == state.sizes[axis] &&
              (param.sizes[a] != -1 || std::string_view(param.dims[a]) == state.dims[axis]));
    }
    if (!fits) {
      fail("tensor {} cannot start from the param {}", state.name, param.name);
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

  // `stage`: of a map, else null.
  void system(const rnn_system_desc& system, uint32_t index, const rnn_stage* stage) {
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
    if (!stage && system.states == 0) {
      fail("there is no state");
    }
    if (stage && (system.states || system.carry)) {
      fail("a map has neither states nor a carry");
    }
    stage_ = stage;
    block(system);
    for (const SlotList& list :
         {SlotList{"state", RNN_ROLE_STATE, system.states, system.state_slots},
          SlotList{"input", RNN_ROLE_INPUT, system.inputs, system.input_slots},
          SlotList{"param", RNN_ROLE_PARAM, system.params, system.param_slots},
          SlotList{"output", RNN_ROLE_OUTPUT, system.outputs, system.output_slots},
          SlotList{"sum", RNN_ROLE_GRADIENT, system.sums, system.sum_slots}}) {
      slots(system, list);
    }
    validateCarry(system, where_);
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
    if (system.sums) {
      fail("a dense system has no sums, this one has {}", system.sums);
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
      if (isResult(list) || isSum(list)) {
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
    if (!fits(tensor.role, list.role, stage_)) {
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
    if (isResult(list)) {
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

  // May a tensor of that role stand where `place` is asked for?
  static bool fits(rnn_role role, rnn_role place, const rnn_stage* stage) {
    const bool once = stage && stage->phase == RNN_PHASE_CALL;
    switch (place) {
    case RNN_ROLE_INPUT:
      return !once && (role == RNN_ROLE_INPUT || role == RNN_ROLE_HOISTED ||
                       (role == RNN_ROLE_STATE && stage && stage->phase == RNN_PHASE_AFTER));
    case RNN_ROLE_PARAM:
      return role == RNN_ROLE_PARAM || role == RNN_ROLE_DERIVED;
    case RNN_ROLE_OUTPUT:
      return once ? role == RNN_ROLE_DERIVED : role == RNN_ROLE_OUTPUT || role == RNN_ROLE_HOISTED;
    default:
      return role == place;
    }
  }

  void stages() {
    if (table_.stages && !table_.stage) {
      fail("`stage` is null");
    }
    for (uint32_t i = 0; i < table_.stages; ++i) {
      const rnn_stage& stage = table_.stage[i];
      if (stage.phase > RNN_PHASE_AFTER || (i && stage.phase < table_.stage[i - 1].phase)) {
        fail("stage {}: phase {} is unknown, or comes too late", i,
             static_cast<unsigned>(stage.phase));
      }
      if ((stage.product != nullptr) + (stage.map != nullptr) + (stage.outer != nullptr) != 1) {
        fail("stage {}: is one of a product, a map and an outer product", i);
      }
      if (stage.outer) {
        where_ = fmt::format("module {}, stage {}", table_.cell, i);
        outer(stage, *stage.outer);
        where_ = fmt::format("module {}", table_.cell);
      } else if (stage.map) {
        system(*stage.map, table_.systems + i, &stage);
        stage_ = nullptr;
      } else {
        where_ = fmt::format("module {}, stage {}", table_.cell, i);
        product(stage, *stage.product);
        where_ = fmt::format("module {}", table_.cell);
      }
    }
  }

  // Its axes as the lanes of a system, whose names and sizes are those of the result's.
  void outer(const rnn_stage& stage, const rnn_outer& outer) {
    if (stage.phase == RNN_PHASE_CALL) {
      fail("an outer product runs over steps");
    }
    if (outer.result.tensor >= table_.tensors) {
      fail("result: tensor {} of {}", outer.result.tensor, table_.tensors);
    }
    const rnn_tensor_desc& result = table_.tensor[outer.result.tensor];
    const char* names[RNN_MAX_RANK] = {};
    int64_t sizes[RNN_MAX_RANK] = {};
    uint32_t known = 0;
    for (uint32_t a = 0; a < result.rank; ++a) {
      const int32_t axis = outer.result.lane_axis[a];
      if (axis >= 0 && uint32_t(axis) < std::min<uint32_t>(outer.axes, RNN_MAX_RANK) &&
          !names[axis]) {
        names[axis] = result.dims[a];
        sizes[axis] = result.sizes[a];
        ++known;
      } else if (axis >= 0) {
        fail("result: axis {} of {} is axis {} of {}, or not the first such one", a, result.name,
             axis, outer.axes);
      }
    }
    if (known != outer.axes) {
      fail("result: {} has {} of the {} axes", result.name, known, outer.axes);
    }
    rnn_system_desc lanes{};
    lanes.lane_rank = outer.axes;
    lanes.lane_axes = names;
    lanes.lane_sizes = sizes;
    stage_ = &stage;
    slot(lanes, {"left", RNN_ROLE_INPUT, 1, &outer.left}, 0);
    slot(lanes, {"right", RNN_ROLE_INPUT, 1, &outer.right}, 0);
    slot(lanes, {"result", RNN_ROLE_GRADIENT, 1, &outer.result}, 0);
    stage_ = nullptr;
    if (outer.left.back != 0 || outer.right.back != 0) {
      fail("an outer product's factors cannot be delayed");
    }
    factorsShare(outer);
  }

  void factorsShare(const rnn_outer& outer) const {
    bool hasRow = false, hasColumn = false;
    for (uint32_t axis = 0; axis < outer.axes; ++axis) {
      auto runs = [&](const rnn_slot& slot) {
        const int32_t* end = slot.lane_axis + table_.tensor[slot.tensor].rank;
        return std::find(slot.lane_axis, end, int32_t(axis)) != end;
      };
      const bool isLeft = runs(outer.left), isRight = runs(outer.right);
      if (!isLeft && !isRight) {
        fail("neither factor has axis {} of the outer product", axis);
      }
      hasRow |= !isRight;
      hasColumn |= !isLeft;
    }
    if (!hasRow || !hasColumn) {
      fail("a factor of the outer product has no axis that the other one lacks");
    }
  }

  const rnn_tensor_desc& operand(uint32_t index, rnn_role place, const rnn_stage& stage,
                                 const char* what) const {
    if (index >= table_.tensors) {
      fail("{}: tensor {} of {}", what, index, table_.tensors);
    }
    if (!fits(table_.tensor[index].role, place, &stage)) {
      fail("{}: tensor {} has another role", what, table_.tensor[index].name);
    }
    return table_.tensor[index];
  }

  void sameAxis(const rnn_tensor_desc& a, uint32_t axisOfA, const rnn_tensor_desc& b,
                uint32_t axisOfB) const {
    const int64_t size = a.sizes[axisOfA];
    if (size != b.sizes[axisOfB] ||
        (size == -1 && std::string_view(a.dims[axisOfA]) != b.dims[axisOfB])) {
      fail("axis {} of {} is not axis {} of {}", axisOfA, a.name, axisOfB, b.name);
    }
  }

  void product(const rnn_stage& stage, const rnn_product& product) {
    const rnn_role role = stage.phase == RNN_PHASE_CALL ? RNN_ROLE_PARAM : RNN_ROLE_INPUT;
    const rnn_tensor_desc& sequence = operand(product.sequence, role, stage, "sequence");
    if (product.back && sequence.role != RNN_ROLE_INPUT) {
      fail("sequence: only inputs can be delayed");
    }
    if (product.parts == 0 || !product.part) {
      fail("there is no weight");
    }
    for (uint32_t i = 0; i < product.parts; ++i) {
      const rnn_product_part& part = product.part[i];
      const rnn_tensor_desc& weight = operand(part.weight, RNN_ROLE_PARAM, stage, "weight");
      const rnn_tensor_desc& result = operand(part.result, RNN_ROLE_OUTPUT, stage, "result");
      const rnn_tensor_desc& left = product.left ? sequence : weight;
      const rnn_tensor_desc& right = product.left ? weight : sequence;
      const uint32_t heads = product.heads;
      const bool oneForAll = heads == 0 && !product.left && left.rank > 2 && right.rank == 1;
      const bool isBatch =
          left.rank == heads + 2 && (right.rank == heads + 2 || right.rank == heads + 1);
      if (!(oneForAll || isBatch) ||
          result.rank != (oneForAll ? left.rank - 1 : uint32_t(right.rank))) {
        fail("{} @ {}: no product has these ranks", left.name, right.name);
      }
      for (uint32_t a = 0; a < heads; ++a) {
        sameAxis(left, a, right, a);
      }
      sameAxis(left, left.rank - 1, right, heads);
      for (uint32_t a = 0; a + 1 < left.rank; ++a) {
        sameAxis(left, a, result, a);
      }
      const bool isMatrix = right.rank == heads + 2;
      if (isMatrix) {
        sameAxis(right, heads + 1, result, heads + 1);
      }
      bias(stage, product, part, result, isMatrix);
      wholes_.push_back(part.result);
    }
  }

  // The column is the last axis of what has a bias, and no row stands in front of it in the bias.
  void bias(const rnn_stage& stage, const rnn_product& product, const rnn_product_part& part,
            const rnn_tensor_desc& result, bool isMatrix) const {
    if (part.bias == -1) {
      return;
    }
    if (part.bias < -1) {
      fail("bias: tensor {}", part.bias);
    }
    const rnn_tensor_desc& bias =
        operand(static_cast<uint32_t>(part.bias), RNN_ROLE_PARAM, stage, "bias");
    if (bias.rank == 0 || bias.rank > result.rank || product.left != isMatrix ||
        (isMatrix && bias.rank > 1)) {
      fail("bias: {} does not have the last axes of {}", bias.name, result.name);
    }
    for (uint32_t a = 0; a < bias.rank; ++a) {
      sameAxis(bias, a, result, result.rank - bias.rank + a);
    }
  }

  // Two slots are apart where some axis holds two different fixed indices.
  void resultsAreDisjoint() const {
    std::set<uint32_t> wholes;
    for (uint32_t tensor : wholes_) {
      if (!wholes.insert(tensor).second || results_.count(tensor)) {
        fail("{} is computed twice", table_.tensor[tensor].name);
      }
    }
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

  void cost(const rnn_cost& cost) const {
    for (double value : {cost.step_latency, cost.step_throughput, cost.jacobian_throughput}) {
      if (!std::isfinite(value) || value < 0) {
        fail("`cost` holds {}", value);
      }
    }
  }

  void hints(const rnn_solve_hints& solve) const {
    if (solve.has_tolerance && (!std::isfinite(solve.tolerance) || solve.tolerance < 0)) {
      fail("`solve` wishes the tolerance {}", solve.tolerance);
    }
    if (solve.max_sweeps < 0 || solve.chunk < 0) {
      fail("`solve` wishes {} {}", solve.chunk < 0 ? "the chunk" : "max_sweeps",
           solve.chunk < 0 ? solve.chunk : solve.max_sweeps);
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
  std::vector<uint32_t> wholes_;     ///< results of products
  const rnn_stage* stage_ = nullptr; ///< of the map that is being looked at
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
  if (table->size < cuda::smallestTable) {
    invalid("module table: size is {}, this runtime needs {}", table->size, cuda::smallestTable);
  }
  Validator(*table).run();
  cuda::validate(*table);
}

} // namespace rnnc::runtime
