// Tables with products and maps around the solve, and arrays for them.
#pragma once

#include "harness.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace rnnc::test {

// One lane a batch element and index of [d]: h' = h / 2 + g.
template <class F>
inline void shootHalf(const rnn_shoot_args* args) {
  F& state = *static_cast<F*>(args->state);
  for (int64_t t = 0; t < args->steps; ++t) {
    state = state / 2 + static_cast<const F*>(args->inputs[0])[t * args->input_strides[0]];
    static_cast<F*>(args->outputs[0])[t * args->output_strides[0]] = state;
  }
  *static_cast<F*>(args->finite) = 0;
}

// A map: one output, twice its input, plus its param.
template <class F>
inline void shootTwice(const rnn_shoot_args* args) {
  for (int64_t t = 0; t < args->steps; ++t) {
    const F value = static_cast<const F*>(args->inputs[0])[t * args->input_strides[0]];
    static_cast<F*>(args->outputs[0])[t * args->output_strides[0]] =
        2 * value + *static_cast<const F*>(args->params);
  }
}

// Once a call: the square of a param.
template <class F>
inline void shootSquare(const rnn_shoot_args* args) {
  const F value = *static_cast<const F*>(args->params);
  *static_cast<F*>(args->outputs[0]) = value * value;
}

template <class F>
inline std::vector<rnn_cpu_kernel> kernelOf(rnn_shoot_fn f32, rnn_shoot_fn f64) {
  return {{RNN_F32, 1, f32, nullptr}, {RNN_F64, 1, f64, nullptr}};
}

inline double drawn(uint64_t seed) { return std::sin(12.9898 * double(seed) + 78.233) * .7; }

// An array whose axes lie in memory in another order, with gaps, and of either type.
struct Strided {
  std::vector<int64_t> shape, strides;
  std::vector<double> wide;
  std::vector<float> narrow;
  rnn_dtype dtype;

  Strided(std::vector<int64_t> sizes, rnn_dtype type, bool shuffled, uint64_t seed)
      : shape(std::move(sizes)), strides(shape.size()), dtype(type) {
    int64_t stride = shuffled ? 2 : 1;
    for (size_t i = 0; i < shape.size(); ++i) {
      const size_t axis = shuffled ? (i + 1) % shape.size() : shape.size() - 1 - i;
      strides[axis] = stride;
      stride *= shape[axis] + (shuffled ? 1 : 0);
    }
    wide.resize(size_t(stride) + 1);
    for (double& value : wide) {
      value = type == RNN_F32 ? double(float(drawn(++seed))) : drawn(++seed);
    }
    narrow.assign(wide.begin(), wide.end());
  }
  int64_t offset(const std::vector<int64_t>& index) const {
    int64_t at = 0;
    for (size_t a = 0; a < index.size(); ++a) {
      at += index[a] * strides[a];
    }
    return at;
  }
  double get(const std::vector<int64_t>& index) const {
    return dtype == RNN_F32 ? narrow[size_t(offset(index))] : wide[size_t(offset(index))];
  }
  rnn_tensor tensor() {
    rnn_tensor t{};
    t.data = dtype == RNN_F32 ? static_cast<void*>(narrow.data()) : wide.data();
    t.dtype = dtype;
    t.rank = uint32_t(shape.size());
    std::copy(shape.begin(), shape.end(), t.shape);
    std::copy(strides.begin(), strides.end(), t.strides);
    return t;
  }
};

/// A module of one system; the lists must outlive it.
inline rnn_module_table tableOf(const char* cell, const std::vector<rnn_tensor_desc>& tensors,
                                const rnn_system_desc& system,
                                const std::vector<rnn_stage>& stages) {
  rnn_module_table table{};
  table.abi_version = RNN_ABI_VERSION;
  table.size = sizeof(table);
  table.cell = cell;
  table.tensors = uint32_t(tensors.size());
  table.tensor = tensors.data();
  table.systems = 1;
  table.system = &system;
  table.stages = uint32_t(stages.size());
  table.stage = stages.data();
  return table;
}

struct Form {
  const char* name;
  bool heads, left, matrix, bias;
  bool oneForAll = false; // x has no heads: the rows of W are [h, n]
  bool narrow = false;    // and the bias has none
};
inline constexpr Form forms[] = {
    {"W @ x", false, false, false, false},
    {"W @ x + b", false, false, false, true},
    {"heads, W @ x + b", true, false, false, true},
    {"W @ X", false, false, true, false},
    {"heads, W @ X", true, false, true, false},
    {"X @ w", false, true, false, false},
    {"X @ W + b", false, true, true, true},
    {"heads, X @ W", true, true, true, false},
    {"[h, n, k] @ x", true, false, false, false, true},
    {"[h, n, k] @ x + [h, n]", true, false, false, true, true},
    {"[h, n, k] @ x + [n]", true, false, false, true, true, true},
};

// x [h?, r, k] or [h?, k, r?], W likewise, y what the product gives; beside them the system.
struct ProductTable {
  Form form;
  uint32_t back = 0;
  double before = 0;
  std::vector<const char*> xDims, wDims, yDims, bDims, dDims{"d"};
  std::vector<int64_t> freeSizes = std::vector<int64_t>(RNN_MAX_RANK, -1);
  std::vector<rnn_tensor_desc> tensors;
  rnn_slot lane{4, 0, {0}, {0}}, laneOfG{5, 0, {0}, {0}};
  std::vector<rnn_cpu_kernel> kernels = kernelOf<float>(shootHalf<float>, shootHalf<double>);
  rnn_system_desc system{};
  std::vector<rnn_product_part> parts{{1, -1, 3}};
  rnn_product product{};
  std::vector<rnn_stage> stages;
  rnn_module_table table{};

  explicit ProductTable(const Form& f) : form(f) {
    auto add = [&](std::vector<const char*>& to, std::initializer_list<const char*> dims) {
      if (form.heads) {
        to.push_back("h");
      }
      to.insert(to.end(), dims);
    };
    if (form.left) {
      add(xDims, {"r", "k"});
      form.matrix ? add(wDims, {"k", "n"}) : add(wDims, {"k"});
      form.matrix ? add(yDims, {"r", "n"}) : add(yDims, {"r"});
    } else {
      add(wDims, {"n", "k"});
      if (form.oneForAll) {
        xDims = {"k"};
      } else {
        form.matrix ? add(xDims, {"k", "r"}) : add(xDims, {"k"});
      }
      form.matrix ? add(yDims, {"n", "r"}) : add(yDims, {"n"});
    }
    form.matrix || form.narrow ? bDims.push_back("n") : add(bDims, {"n"});
  }

  rnn_tensor_desc tensor(const char* name, rnn_role role, std::vector<const char*>& dims) {
    rnn_tensor_desc desc{};
    desc.name = name;
    desc.role = role;
    desc.rank = uint32_t(dims.size());
    desc.dims = dims.data();
    desc.sizes = freeSizes.data();
    return desc;
  }

  const rnn_module_table* get() {
    tensors = {tensor("x", RNN_ROLE_INPUT, xDims), tensor("W", RNN_ROLE_PARAM, wDims),
               tensor("b", RNN_ROLE_PARAM, bDims), tensor("y", RNN_ROLE_OUTPUT, yDims),
               tensor("s", RNN_ROLE_STATE, dDims), tensor("g", RNN_ROLE_INPUT, dDims)};
    tensors[0].fill = before;
    if (form.bias) {
      parts[0].bias = 2;
    }
    system.name = "system";
    system.lane_rank = 1;
    system.lane_axes = dDims.data();
    system.lane_sizes = freeSizes.data();
    system.states = system.inputs = 1;
    system.state_slots = &lane;
    system.input_slots = &laneOfG;
    system.kernels = 2;
    system.kernel = kernels.data();
    product = {0,
               back,
               form.heads && !form.oneForAll ? 1u : 0u,
               form.left ? 1u : 0u,
               uint32_t(parts.size()),
               parts.data()};
    if (stages.empty()) {
      stages = {{RNN_PHASE_BEFORE, &product, nullptr, nullptr}};
    }
    table = tableOf("Product", tensors, system, stages);
    return &table;
  }
};

// x -> map u = 2 x + square(p) -> g = W u (hoisted) -> h' = h / 2 + g -> y = C h, with the state in
// the workspace, in the caller's array, or in both.
struct ChainTable {
  std::vector<const char*> m{"m"}, d{"d"}, dm{"d", "m"}, nd{"n", "d"}, n{"n"};
  std::vector<int64_t> freeSizes{-1, -1};
  std::vector<rnn_tensor_desc> tensors;
  rnn_slot slotX{0, 0, {0}, {0}}, slotP{1, 0, {}, {}}, slotSquare{6, 0, {}, {}},
      slotU{7, 0, {0}, {0}}, slotG{8, 0, {0}, {0}}, slotH{4, 0, {0}, {0}};
  std::vector<rnn_cpu_kernel> half = kernelOf<float>(shootHalf<float>, shootHalf<double>),
                              twice = kernelOf<float>(shootTwice<float>, shootTwice<double>),
                              square = kernelOf<float>(shootSquare<float>, shootSquare<double>);
  rnn_system_desc system{}, twiceMap{}, squareMap{};
  rnn_product_part ofG{2, -1, 8}, ofY{3, -1, 5};
  rnn_product productG{7, 0, 0, 0, 1, &ofG}, productY{4, 0, 0, 0, 1, &ofY};
  std::vector<rnn_stage> stages;
  rnn_module_table table{};

  const rnn_module_table* get() {
    auto add = [&](const char* name, rnn_role role, std::vector<const char*>* dims) {
      rnn_tensor_desc desc{};
      desc.name = name;
      desc.role = role;
      desc.rank = dims ? uint32_t(dims->size()) : 0;
      desc.dims = dims ? dims->data() : nullptr;
      desc.sizes = freeSizes.data();
      tensors.push_back(desc);
    };
    add("x", RNN_ROLE_INPUT, &m);
    add("p", RNN_ROLE_PARAM, nullptr);
    add("W", RNN_ROLE_PARAM, &dm);
    add("C", RNN_ROLE_PARAM, &nd);
    add("h", RNN_ROLE_STATE, &d);
    add("y", RNN_ROLE_OUTPUT, &n);
    add("q", RNN_ROLE_DERIVED, nullptr);
    add("u", RNN_ROLE_HOISTED, &m);
    add("g", RNN_ROLE_HOISTED, &d);
    auto describe = [&](rnn_system_desc& desc, const char* name, std::vector<const char*>* lanes,
                        std::vector<rnn_cpu_kernel>& kernels) {
      desc.name = name;
      desc.lane_rank = lanes ? 1 : 0;
      desc.lane_axes = lanes ? lanes->data() : nullptr;
      desc.lane_sizes = freeSizes.data();
      desc.kernels = 2;
      desc.kernel = kernels.data();
    };
    describe(system, "system", &d, half);
    system.states = system.inputs = 1;
    system.state_slots = &slotH;
    system.input_slots = &slotG;
    describe(twiceMap, "twice", &m, twice);
    twiceMap.inputs = twiceMap.params = twiceMap.outputs = 1;
    twiceMap.input_slots = &slotX;
    twiceMap.param_slots = &slotSquare;
    twiceMap.output_slots = &slotU;
    describe(squareMap, "square", nullptr, square);
    squareMap.params = squareMap.outputs = 1;
    squareMap.param_slots = &slotP;
    squareMap.output_slots = &slotSquare;
    if (stages.empty()) {
      stages = {{RNN_PHASE_CALL, nullptr, &squareMap, nullptr},
                {RNN_PHASE_BEFORE, nullptr, &twiceMap, nullptr},
                {RNN_PHASE_BEFORE, &productG, nullptr, nullptr},
                {RNN_PHASE_AFTER, &productY, nullptr, nullptr}};
    }
    table = tableOf("Chain", tensors, system, stages);
    return &table;
  }
};

} // namespace rnnc::test
