// rnn_backward: the call of a plan's adjoint, from the arrays of the cell's own call.
#include "core/elements.hpp"
#include "cpu/forward.hpp"
#include "cpu/workspace.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {
namespace {

// [workspace of the adjoint][the cell's tensors][args of the adjoint][gradients of params]
template <class F>
struct BackwardRoom {
  Workspace<F> workspace;
  Sequences<F> sequences; ///< of the cell, in the reserve
  rnn_tensor* args;       ///< of the adjoint
  F** sums;               ///< [tensors of the cell] of params: row-major, without holes

  BackwardRoom(const Plan& plan, Carver& carver, Carver& saved)
      : workspace(*plan.adjoint, carver, carver), sequences(plan, carver, saved),
        args(carver.take<rnn_tensor>(int64_t(plan.adjoint->argCount()))),
        sums(carver.take<F*>(plan.table().tensors)) {
    for (uint32_t i = 0; i < plan.table().tensors; ++i) {
      const bool isParam = plan.table().tensor[i].role == RNN_ROLE_PARAM;
      F* room = carver.take<F>(isParam ? elementsOf(plan, i) : 0);
      if (sums) {
        sums[i] = isParam ? room : nullptr;
      }
    }
  }

  static int64_t elementsOf(const Plan& plan, uint32_t tensor) {
    int64_t elements = 1;
    for (int64_t size : plan.tensorSizes[tensor]) {
      elements = checkedProduct(elements, size, "a gradient");
    }
    return elements;
  }
};

// Arrays of the cell's and of its caller's stand as the caller has them; those of the workspace
// have their time in the order of the computation.
rnn_tensor asGiven(const Plan& plan, uint32_t tensor, const rnn_tensor* args,
                   const rnn_tensor* tensors) {
  const int arg = plan.module->tensorArgs[tensor].sequence;
  const rnn_tensor& bound = tensors[tensor];
  const rnn_role role = plan.table().tensor[tensor].role;
  if (role == RNN_ROLE_PARAM || role == RNN_ROLE_DERIVED) {
    return bound;
  }
  return arg >= 0 && inOrder(plan, args[arg]).data == bound.data ? args[arg] : inOrder(plan, bound);
}

// What the adjoint's arguments are to the cell's call.
void bindArgs(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads,
              const rnn_tensor* tensors, rnn_tensor* to) {
  const Plan& adjoint = *plan.adjoint;
  for (size_t i = 0; i < adjoint.module->args.size(); ++i) {
    const rnn_arg_desc& arg = adjoint.module->args[i];
    const rnn_tensor_desc& tensor = adjoint.table().tensor[arg.tensor];
    const TensorArgs& own = plan.module->tensorArgs[tensor.of];
    to[i] = {};
    switch (tensor.relation) {
    case RNN_RELATION_VALUE:
      to[i] = asGiven(plan, tensor.of, args, tensors);
      break;
    case RNN_RELATION_UPSTREAM:
    case RNN_RELATION_GRADIENT:
      to[i] = grads[own.sequence];
      break;
    case RNN_RELATION_CARRIED:
      if (arg.kind == RNN_ARG_INITIAL) {
        to[i] = grads[own.final];
      } else if (arg.kind == RNN_ARG_FINAL) {
        to[i] = grads[own.initial];
      }
      break;
    case RNN_RELATION_NONE:
    case RNN_RELATION_SUM:
      break;
    }
  }
  if (adjoint.reset) {
    to[adjoint.module->args.size()] = args[plan.module->args.size()];
  }
}

// An input that no step reads, or that only what nobody differentiates does, has no derivative in
// the adjoint: it is 0.
void clearOthers(const Plan& plan, const rnn_tensor* grads) {
  const rnn_module_table& adjoint = plan.adjoint->table();
  for (size_t i = 0; i < plan.module->args.size(); ++i) {
    const rnn_arg_desc& arg = plan.module->args[i];
    const bool isMade = std::any_of(
        adjoint.tensor, adjoint.tensor + adjoint.tensors, [&](const rnn_tensor_desc& tensor) {
          return tensor.relation == RNN_RELATION_GRADIENT && tensor.of == arg.tensor;
        });
    if (arg.kind != RNN_ARG_INPUT || isMade || !grads[i].data) {
      continue;
    }
    const double zero = 0;
    rnn_tensor nothing{};
    nothing.data = const_cast<double*>(&zero);
    nothing.dtype = RNN_F64;
    for (int64_t item = 0; item < plan.batch * plan.time; ++item) {
      copyStep(plan, arg.tensor, item / plan.time, nothing, 0, grads[i], item % plan.time);
    }
  }
}

// Where the numbers of one slot go: a lane's place in the gradient of `of`, whose axes stand last
// and may be 1 where the slot's are not.
struct SumPlace {
  int64_t fixed = 0;
  int64_t alongLane[RNN_MAX_RANK] = {};
};

SumPlace placeOf(const Plan& plan, const rnn_slot& slot, uint32_t of) {
  const rnn_tensor_desc& tensor = plan.adjoint->table().tensor[slot.tensor];
  const std::vector<int64_t>& sizes = plan.tensorSizes[of];
  const uint32_t lacks = tensor.rank - uint32_t(sizes.size());
  SumPlace place;
  int64_t stride = 1;
  for (uint32_t a = tensor.rank; a-- > lacks;) {
    const int64_t size = sizes[a - lacks];
    if (size > 1) {
      place.fixed += slot.at[a] * stride;
      if (slot.lane_axis[a] >= 0) {
        place.alongLane[slot.lane_axis[a]] += stride;
      }
    }
    stride *= size;
  }
  return place;
}

// Lane by lane, in their order.
template <class F>
void addRow(const SystemPlan& system, int64_t row, const SumPlace& place, const F* sums, F* to) {
  const int64_t width = groupWidth(system);
  for (int64_t group = 0; group < system.groups; ++group) {
    const GroupLanes lanes = system.lanesOf(group);
    const int64_t columns = system.chunksInVectors() ? 1 : lanes.kernel.width;
    const F* from = sums + system.sumsOffset + group * system.sumRows() * width + row * columns;
    for (int64_t j = 0; j < lanes.count; ++j) {
      int64_t rest = (lanes.first + j) % system.lanesPerBatch, at = place.fixed;
      for (uint32_t a = system.desc->lane_rank; a-- > 0;) {
        at += rest % system.laneSizes[a] * place.alongLane[a];
        rest /= system.laneSizes[a];
      }
      to[at] += from[j];
    }
  }
}

template <class F>
void addSystem(const Plan& plan, const SystemPlan& system, const BackwardRoom<F>& room) {
  const rnn_module_table &table = plan.adjoint->table(), &cell = plan.table();
  const F* sums = room.workspace.sums;
  for (uint32_t i = 0; i < system.desc->sums; ++i) {
    const rnn_slot& slot = system.desc->sum_slots[i];
    const uint32_t of = table.tensor[slot.tensor].of;
    addRow(system, i, placeOf(plan, slot, of), sums, room.sums[of]);
  }
  for (size_t n = 0; n < system.starts.size(); ++n) {
    const rnn_slot& slot = system.desc->state_slots[system.starts[n]];
    const uint32_t of = cell.tensor[table.tensor[slot.tensor].of].start - 1;
    addRow(system, int64_t(system.desc->sums) + int64_t(n), placeOf(plan, slot, of), sums,
           room.sums[of]);
  }
}

// From the sums of systems and maps to the caller's arrays.
template <class F>
void giveParams(const Plan& plan, const rnn_tensor* grads, const BackwardRoom<F>& room) {
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    if (room.sums[i]) {
      std::fill_n(room.sums[i], BackwardRoom<F>::elementsOf(plan, i), F(0));
    }
  }
  for (const SystemPlan& system : plan.adjoint->systems) {
    addSystem(plan, system, room);
  }
  for (const StagePlan& stage : plan.adjoint->stages) {
    if (stage.map.desc) {
      addSystem(plan, stage.map, room);
    }
  }
  for (size_t i = 0; i < plan.module->args.size(); ++i) {
    const rnn_arg_desc& arg = plan.module->args[i];
    if (arg.kind != RNN_ARG_PARAM || !grads[i].data) {
      continue;
    }
    rnn_tensor from{}, to = grads[i];
    from.data = room.sums[arg.tensor];
    from.dtype = dtypeOf<F>;
    int64_t stride = 1;
    for (uint32_t a = to.rank; a-- > 0;) { // as sequences of one step
      from.strides[2 + a] = stride;
      stride *= plan.tensorSizes[arg.tensor][a];
      to.strides[2 + a] = grads[i].strides[a];
    }
    to.strides[0] = to.strides[1] = 0;
    copyStep(plan, arg.tensor, 0, from, 0, to, 0);
  }
}

template <class F>
size_t bytesOf(const Plan& plan) {
  Carver carver(nullptr), saved(nullptr);
  BackwardRoom<F>(plan, carver, saved);
  return static_cast<size_t>(carver.used());
}

template <class F>
rnn_status backwardAs(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads, void* base,
                      const void* reserve) {
  const Plan& adjoint = *plan.adjoint;
  Carver carver(base), saved(const_cast<void*>(reserve)); // it is only read
  BackwardRoom<F> room(plan, carver, saved);
  const rnn_tensor* tensors = room.sequences.bind(args);
  bindArgs(plan, args, grads, tensors, room.args);
  clearOthers(plan, grads);
  Call call = room.workspace.call(adjoint, room.args, nullptr);
  call.cell = {&plan, args, tensors};
  call.reset.behind = 1;
  prepare(call, room.workspace);
  solve(call, room.workspace);
  giveParams(plan, grads, room);
  return statusOf(adjoint, *room.workspace.header);
}

} // namespace

size_t backwardBytes(const Plan& plan) {
  return plan.compute == RNN_F32 ? bytesOf<float>(plan) : bytesOf<double>(plan);
}

rnn_status backward(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads,
                    void* workspace, const void* reserve) {
  return plan.compute == RNN_F32 ? backwardAs<float>(plan, args, grads, workspace, reserve)
                                 : backwardAs<double>(plan, args, grads, workspace, reserve);
}

} // namespace rnnc::runtime::cpu
