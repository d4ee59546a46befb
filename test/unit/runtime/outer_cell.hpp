// A cell whose params are matrices, with its adjoint, written by hand: h[t] = h[t-1] / 2 + x[t]
// over [g, m], beside it an input u over [g, n]. What the params' gradients are is not what any use
// of them would give: sums of outer products, of every kind.
//
//   W [g, m, n]   the sum of h[t-1] u[t]        reads ahead
//   V [g, n, m]   of l[t] u[t]                  a hoisted sequence, the other factor's axes in
//   front P [1, n]      minus that of d.h[t] u[t]     summed over g and m too Q [g, m, n]   of
//   d.h[t] u[t], guarded       plus one element of h[t] times u[t], in another
//                                               outer product: h[t][g, 0] u[t][g, n] to [g, 0, n]
#pragma once

#include "rnn/module.h"
#include "stage_tables.hpp"

#include <vector>

namespace rnnc::test {

/// State c, input d.h, output l = c + d.h: c' = l / 2.
template <class F>
inline void shootOwed(const rnn_shoot_args* args) {
  F& state = *static_cast<F*>(args->state);
  for (int64_t t = 0; t < args->steps; ++t) {
    const F owed = state + static_cast<const F*>(args->inputs[0])[t * args->input_strides[0]];
    state = owed / 2;
    static_cast<F*>(args->outputs[0])[t * args->output_strides[0]] = state;
    static_cast<F*>(args->outputs[1])[t * args->output_strides[1]] = owed;
  }
  *static_cast<F*>(args->finite) = 0;
}

class OuterTable {
public:
  enum Tensor { X, U, W, V, P, Q, S, H };
  enum AdjointTensor { Before, Now, Input, Upstream, Carried, Owed, OfW, OfV, OfP, OfQ };

  /// The state begins as the param says, else with .25.
  explicit OuterTable(bool startsFromParam) {
    auto add = [this](auto& list, const char* name, rnn_role role, std::vector<const char*>& dims) {
      rnn_tensor_desc desc{};
      desc.name = name;
      desc.role = role;
      desc.rank = uint32_t(dims.size());
      desc.dims = dims.data();
      desc.sizes = freeSizes_;
      list.push_back(desc);
    };
    add(tensors, "x", RNN_ROLE_INPUT, gm_);
    add(tensors, "u", RNN_ROLE_INPUT, gn_);
    add(tensors, "W", RNN_ROLE_PARAM, gmn_);
    add(tensors, "V", RNN_ROLE_PARAM, gnm_);
    add(tensors, "P", RNN_ROLE_PARAM, one_);
    tensors[P].sizes = oneSizes_;
    add(tensors, "Q", RNN_ROLE_PARAM, gmn_);
    add(tensors, "s", RNN_ROLE_PARAM, m_);
    add(tensors, "h", RNN_ROLE_STATE, gm_);
    tensors[H].fill = .25;
    tensors[H].start = startsFromParam ? 1 + S : 0;
    auto relate = [&](rnn_relation relation, uint32_t of, uint32_t back = 0) {
      adjointTensors.back().relation = relation;
      adjointTensors.back().of = of;
      adjointTensors.back().back = back;
    };
    add(adjointTensors, "h.back1", RNN_ROLE_INPUT, gm_);
    relate(RNN_RELATION_VALUE, H, 1);
    add(adjointTensors, "h", RNN_ROLE_INPUT, gm_);
    relate(RNN_RELATION_VALUE, H);
    add(adjointTensors, "u", RNN_ROLE_INPUT, gn_);
    relate(RNN_RELATION_VALUE, U);
    add(adjointTensors, "d.h", RNN_ROLE_INPUT, gm_);
    relate(RNN_RELATION_UPSTREAM, H);
    add(adjointTensors, "c.h", RNN_ROLE_STATE, gm_);
    relate(RNN_RELATION_CARRIED, H);
    adjointTensors[Carried].hidden = 1;
    add(adjointTensors, "owed", RNN_ROLE_HOISTED, gm_);
    add(adjointTensors, "d.W", RNN_ROLE_GRADIENT, gmn_);
    relate(RNN_RELATION_SUM, W);
    add(adjointTensors, "d.V", RNN_ROLE_GRADIENT, gnm_);
    relate(RNN_RELATION_SUM, V);
    add(adjointTensors, "d.P", RNN_ROLE_GRADIENT, gmn_);
    relate(RNN_RELATION_SUM, P);
    add(adjointTensors, "d.Q", RNN_ROLE_GRADIENT, gmn_);
    relate(RNN_RELATION_SUM, Q);

    describe(system, "Outer", stateSlot_, inputSlot_, half_);
    describe(adjointSystem, "Outer.adjoint", carriedSlot_, upstreamSlot_, owed_);
    adjointSystem.outputs = 1;
    adjointSystem.output_slots = &owedSlot_;
    // Lane axes g, m, n, but of V: g, n, m.
    const rnn_slot u{Input, 0, {0, 2}, {}};
    outers = {{{Before, 0, {0, 1}, {}}, u, {OfW, 0, {0, 1, 2}, {}}, 3, 0, 0},
              {{Owed, 0, {0, 2}, {}}, {Input, 0, {0, 1}, {}}, {OfV, 0, {0, 1, 2}, {}}, 3, 0, 0},
              {{Upstream, 0, {0, 1}, {}}, u, {OfP, 0, {0, 1, 2}, {}}, 3, 0, 1},
              {{Upstream, 0, {0, 1}, {}}, u, {OfQ, 0, {0, 1, 2}, {}}, 3, 1, 0},
              // Without a batch: row g is h[t][g, 0], column n is u[t][0, n].
              {{Now, 0, {0, -1}, {}}, {Input, 0, {-1, 1}, {}}, {OfQ, 0, {0, -1, 1}, {}}, 2, 0, 0}};
    for (const rnn_outer& outer : outers) {
      stages.push_back({RNN_PHASE_AFTER, nullptr, nullptr, &outer});
    }
    table = tableOf("Outer", tensors, system, none_);
    adjoint = tableOf("Outer.adjoint", adjointTensors, adjointSystem, stages);
    table.adjoint = &adjoint;
  }
  OuterTable(const OuterTable&) = delete;

  std::vector<rnn_tensor_desc> tensors, adjointTensors;
  std::vector<rnn_outer> outers;
  std::vector<rnn_stage> stages;
  rnn_system_desc system{}, adjointSystem{};
  rnn_module_table table{}, adjoint{};

private:
  void describe(rnn_system_desc& desc, const char* name, const rnn_slot& state,
                const rnn_slot& input, const std::vector<rnn_cpu_kernel>& kernels) {
    desc.name = name;
    desc.lane_rank = 2;
    desc.lane_axes = gm_.data();
    desc.lane_sizes = freeSizes_;
    desc.states = desc.inputs = 1;
    desc.state_slots = &state;
    desc.input_slots = &input;
    desc.kernels = uint32_t(kernels.size());
    desc.kernel = kernels.data();
  }

  std::vector<const char*> gm_{"g", "m"}, gn_{"g", "n"}, gmn_{"g", "m", "n"}, gnm_{"g", "n", "m"},
      one_{"", "n"}, m_{"m"};
  const int64_t freeSizes_[3] = {-1, -1, -1}, oneSizes_[2] = {1, -1};
  const rnn_slot stateSlot_{H, 0, {0, 1}, {}}, inputSlot_{X, 0, {0, 1}, {}},
      carriedSlot_{Carried, 0, {0, 1}, {}}, upstreamSlot_{Upstream, 0, {0, 1}, {}},
      owedSlot_{Owed, 0, {0, 1}, {}};
  const std::vector<rnn_cpu_kernel> half_ = kernelOf<float>(shootHalf<float>, shootHalf<double>),
                                    owed_ = kernelOf<float>(shootOwed<float>, shootOwed<double>);
  const std::vector<rnn_stage> none_;
};

} // namespace rnnc::test
