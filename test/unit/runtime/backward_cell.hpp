// A cell with its adjoint, written by hand: h[t] = a h[t-1] + x[t], h before the first step as the
// param s says; y[t] = h[t] x[t-1]. Lanes have the dim d.
//
// The adjoint l of h[t] is c + d.h[t] + d.y[t] x[t-1], with c = a l of the step behind; x[t] has
// gradient l[t] + d.y[t+1] h[t+1], a the sum of l[t] h[t-1], s what the first step hands back.
#pragma once

#include "rnn/module.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace rnnc::test {

constexpr uint32_t backwardWidth = 4;

/// One step of a column, without (A = 0) or with the product of its Jacobians.
template <class Step>
void shootColumns(const rnn_shoot_args& args, bool withCarry, uint32_t outputs, uint32_t sums,
                  const Step& step) {
  auto* state = static_cast<double*>(args.state);
  auto* carry = static_cast<double*>(args.carry);
  auto* finite = static_cast<double*>(args.finite);
  auto* params = static_cast<const double*>(args.params);
  for (uint32_t j = 0; j < backwardWidth; ++j) {
    double sum = 0;
    if (withCarry) {
      carry[j] = 1;
    }
    finite[j] = 0;
    for (int64_t t = 0; t < args.steps; ++t) {
      auto input = [&](uint32_t i) {
        return static_cast<const double*>(args.inputs[i])[t * args.input_strides[i] + j];
      };
      std::array<double, 3> results{};
      double jacobian = 0;
      step(state[j], input, params[j], results, jacobian, sum);
      state[j] = results[0];
      for (uint32_t i = 0; i <= outputs; ++i) {
        static_cast<double*>(args.outputs[i])[t * args.output_strides[i] + j] = results[i];
      }
      if (withCarry) {
        carry[j] = jacobian * carry[j];
      }
      finite[j] = std::fma(state[j], 0.0, finite[j]);
    }
    if (sums > 0) {
      static_cast<double*>(args.sums)[j] = sum;
    }
  }
}

template <bool withCarry>
void shootForward(const rnn_shoot_args* args) {
  shootColumns(*args, withCarry, 1, 0,
               [](double h, auto& input, double a, auto& results, double& jacobian, double&) {
                 results[0] = a * h + input(0);
                 results[1] = results[0] * input(1); // x[t-1]
                 jacobian = a;
               });
}

/// Inputs: h, h.back1, x.back1, d.h, d.y. Results: c.h, what x[t] and what x[t-1] is owed.
template <bool withCarry>
void shootAdjoint(const rnn_shoot_args* args) {
  shootColumns(*args, withCarry, 2, 1,
               [](double c, auto& input, double a, auto& results, double& jacobian, double& sum) {
                 const double l = c + input(3) + input(4) * input(2);
                 results[0] = a * l;
                 results[1] = l;
                 results[2] = input(4) * input(0);
                 sum += l * input(1);
                 jacobian = a;
               });
}

/// d.x[t] = d.x.back0[t] + d.x.back1[one step ago, in the adjoint's time].
inline void shootGather(const rnn_shoot_args* args) {
  for (uint32_t j = 0; j < backwardWidth; ++j) {
    for (int64_t t = 0; t < args->steps; ++t) {
      auto input = [&](uint32_t i) {
        return static_cast<const double*>(args->inputs[i])[t * args->input_strides[i] + j];
      };
      static_cast<double*>(args->outputs[0])[t * args->output_strides[0] + j] = input(0) + input(1);
    }
  }
}

/// The tables of both.
class BackwardTable {
public:
  BackwardTable() {
    // The cell.
    tensors = {tensor("x", RNN_ROLE_INPUT), tensor("a", RNN_ROLE_PARAM),
               tensor("s", RNN_ROLE_PARAM), tensor("h", RNN_ROLE_STATE),
               tensor("y", RNN_ROLE_OUTPUT)};
    tensors[2].rank = 0;
    tensors[3].start = 1 + 2;
    inputSlots = {slot(0), slot(0)};
    inputSlots[1].back = 1;
    paramSlots = {slot(1)};
    stateSlots = {slot(3)};
    outputSlots = {slot(4)};
    system = describe("Leaky", stateSlots, inputSlots, paramSlots, outputSlots, &kernel);
    kernel = {RNN_F64, backwardWidth, shootForward<false>, shootForward<true>};
    table = tableOf("Leaky", tensors, system);
    table.adjoint = &adjoint;
    // Its adjoint.
    adjointTensors = {tensor("h", RNN_ROLE_INPUT, RNN_RELATION_VALUE, 3),
                      tensor("h.back1", RNN_ROLE_INPUT, RNN_RELATION_VALUE, 3, 1),
                      tensor("x.back1", RNN_ROLE_INPUT, RNN_RELATION_VALUE, 0, 1),
                      tensor("d.h", RNN_ROLE_INPUT, RNN_RELATION_UPSTREAM, 3),
                      tensor("d.y", RNN_ROLE_INPUT, RNN_RELATION_UPSTREAM, 4),
                      tensor("a", RNN_ROLE_PARAM, RNN_RELATION_VALUE, 1),
                      tensor("c.h", RNN_ROLE_STATE, RNN_RELATION_CARRIED, 3),
                      tensor("d.x.back0", RNN_ROLE_HOISTED),
                      tensor("d.x.back1", RNN_ROLE_HOISTED),
                      tensor("d.x", RNN_ROLE_OUTPUT, RNN_RELATION_GRADIENT, 0),
                      tensor("d.a", RNN_ROLE_GRADIENT, RNN_RELATION_SUM, 1)};
    adjointTensors[6].hidden = 1;
    adjointInputs = {slot(0), slot(1), slot(2), slot(3), slot(4)};
    adjointParams = {slot(5)};
    adjointStates = {slot(6)};
    adjointOutputs = {slot(7), slot(8)};
    sumSlots = {slot(10)};
    adjointKernel = {RNN_F64, backwardWidth, shootAdjoint<false>, shootAdjoint<true>};
    adjointSystem = describe("Leaky.adjoint", adjointStates, adjointInputs, adjointParams,
                             adjointOutputs, &adjointKernel);
    adjointSystem.sums = 1;
    adjointSystem.sum_slots = sumSlots.data();
    adjoint = tableOf("Leaky.adjoint", adjointTensors, adjointSystem);
    gatherInputs = {slot(7), slot(8)};
    gatherInputs[1].back = 1;
    gatherOutputs = {slot(9)};
    gatherKernel = {RNN_F64, backwardWidth, shootGather, shootGather};
    gather = describe("gather", {}, gatherInputs, {}, gatherOutputs, &gatherKernel);
    gather.carry = gather.carry_places = gather.linear = gather.constant = 0;
    stage.phase = RNN_PHASE_AFTER;
    stage.map = &gather;
    adjoint.stages = 1;
    adjoint.stage = &stage;
  }
  BackwardTable(const BackwardTable&) = delete;

  std::vector<rnn_tensor_desc> tensors, adjointTensors;
  std::vector<rnn_slot> sumSlots;
  rnn_system_desc system{}, adjointSystem{};
  rnn_module_table table{}, adjoint{};

private:
  static rnn_tensor_desc tensor(const char* name, rnn_role role,
                                rnn_relation relation = RNN_RELATION_NONE, uint32_t of = 0,
                                uint32_t back = 0) {
    static const char* const dims[] = {"d"};
    static const int64_t sizes[] = {-1};
    rnn_tensor_desc desc{};
    desc.name = name;
    desc.role = role;
    desc.rank = 1;
    desc.dims = dims;
    desc.sizes = sizes;
    desc.relation = relation;
    desc.of = of;
    desc.back = back;
    return desc;
  }
  static rnn_slot slot(uint32_t tensor) {
    rnn_slot slot{};
    slot.tensor = tensor;
    return slot;
  }
  rnn_system_desc describe(const char* name, const std::vector<rnn_slot>& states,
                           const std::vector<rnn_slot>& inputs, const std::vector<rnn_slot>& params,
                           const std::vector<rnn_slot>& outputs, const rnn_cpu_kernel* kernels) {
    static const char* const axes[] = {"d"};
    static const int64_t sizes[] = {-1};
    static const rnn_carry_place place[] = {{0, 0, 0, 1}};
    rnn_system_desc desc{};
    desc.name = name;
    desc.lane_rank = 1;
    desc.lane_axes = axes;
    desc.lane_sizes = sizes;
    desc.states = uint32_t(states.size());
    desc.inputs = uint32_t(inputs.size());
    desc.params = uint32_t(params.size());
    desc.outputs = uint32_t(outputs.size());
    desc.state_slots = states.data();
    desc.input_slots = inputs.data();
    desc.param_slots = params.data();
    desc.output_slots = outputs.data();
    desc.carry = desc.carry_places = 1;
    desc.carry_place = place;
    desc.kernels = 1;
    desc.kernel = kernels;
    return desc;
  }
  static rnn_module_table tableOf(const char* cell, const std::vector<rnn_tensor_desc>& tensors,
                                  const rnn_system_desc& system) {
    rnn_module_table table{};
    table.abi_version = RNN_ABI_VERSION;
    table.size = sizeof(table);
    table.cell = cell;
    table.tensors = uint32_t(tensors.size());
    table.tensor = tensors.data();
    table.systems = 1;
    table.system = &system;
    return table;
  }

  std::vector<rnn_slot> inputSlots, paramSlots, stateSlots, outputSlots;
  std::vector<rnn_slot> adjointInputs, adjointParams, adjointStates, adjointOutputs;
  std::vector<rnn_slot> gatherInputs, gatherOutputs;
  rnn_system_desc gather{};
  rnn_cpu_kernel kernel{}, adjointKernel{}, gatherKernel{};
  rnn_stage stage{};
};

} // namespace rnnc::test
