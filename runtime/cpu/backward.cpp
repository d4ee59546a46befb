// rnn_backward: the call of a plan's adjoint, from the arrays of the cell's own call.
#include "core/elements.hpp"
#include "cpu/forward.hpp"
#include "cpu/outer.hpp"
#include "cpu/training.hpp"

#include <algorithm>
#include <optional>

namespace rnnc::runtime::cpu {
namespace {

// [workspace of the adjoint][what forward left, or what it takes to have it again][args of the
// adjoint][args of the cell][gradients of params]
template <class F>
struct BackwardRoom {
  Workspace<F> workspace;
  std::optional<Sequences<F>> saved; ///< of the cell, in the reserve
  std::optional<Training<F>> again;  ///< or this
  rnn_tensor* args;                  ///< of the adjoint
  rnn_tensor* cellArgs;
  F** sums; ///< [tensors of the cell] of params: row-major, without holes

  BackwardRoom(const Plan& plan, Carver& carver, Carver& reserve)
      : workspace(*plan.adjoint, carver, carver) {
    if (Training<F>::keepsAll(plan)) {
      saved.emplace(plan, carver, reserve);
    } else {
      again.emplace(plan, carver, reserve);
    }
    args = carver.take<rnn_tensor>(int64_t(plan.adjoint->argCount()));
    cellArgs = carver.take<rnn_tensor>(int64_t(plan.argCount()));
    sums = carver.take<F*>(plan.table().tensors);
    for (uint32_t i = 0; i < plan.table().tensors; ++i) {
      const bool isParam = plan.table().tensor[i].role == RNN_ROLE_PARAM;
      F* room = carver.take<F>(isParam ? plan.elementsOf(i) : 0);
      if (sums) {
        sums[i] = isParam ? room : nullptr;
      }
    }
  }
};

// What solving again may write: nothing of the caller's. Its states are read where it has them all.
void bindCellArgs(const Plan& plan, const rnn_tensor* args, rnn_tensor* to) {
  std::copy_n(args, plan.argCount(), to);
  const bool isSolved = hasAllStates(plan, args);
  for (size_t i = 0; i < plan.module->args.size(); ++i) {
    const rnn_arg_desc& arg = plan.module->args[i];
    const bool isState = plan.table().tensor[arg.tensor].role == RNN_ROLE_STATE;
    if (arg.kind == RNN_ARG_FINAL || (arg.kind == RNN_ARG_SEQUENCE && !(isState && isSolved))) {
      to[i].data = nullptr;
    }
  }
}

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

template <class F>
void addOuter(const Plan& plan, const OuterPlan& outer, const BackwardRoom<F>& room) {
  const rnn_slot& slot = outer.desc->result;
  const uint32_t of = plan.adjoint->table().tensor[slot.tensor].of;
  const SumPlace place = placeOf(plan, slot, of);
  Outer<F>::addTo(outer, room.workspace.sums, place.fixed, place.alongLane, room.sums[of]);
}

// From the sums of systems and stages to the caller's arrays.
template <class F>
void giveParams(const Plan& plan, const rnn_tensor* grads, const BackwardRoom<F>& room) {
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    if (room.sums[i]) {
      std::fill_n(room.sums[i], plan.elementsOf(i), F(0));
    }
  }
  for (const SystemPlan& system : plan.adjoint->systems) {
    addSystem(plan, system, room);
  }
  for (const StagePlan& stage : plan.adjoint->stages) {
    if (stage.map.desc) {
      addSystem(plan, stage.map, room);
    }
    if (stage.outer.desc) {
      addOuter(plan, stage.outer, room);
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
Call beginAdjoint(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads,
                  const rnn_tensor* tensors, BackwardRoom<F>& room) {
  bindArgs(plan, args, grads, tensors, room.args);
  Call call = room.workspace.call(*plan.adjoint, room.args, nullptr);
  call.cell = {&plan, args, tensors};
  call.reset.behind = 1;
  prepare(call, room.workspace);
  beginSolve(call, room.workspace);
  return call;
}

// Window by window from the end of time: first what forward had there, then the adjoint.
template <class F>
void solveAgain(const Plan& plan, const rnn_tensor* grads, BackwardRoom<F>& room) {
  Training<F>& again = *room.again;
  Workspace<F>& workspace = room.workspace;
  Call cell = again.workspace.call(plan, room.cellArgs, nullptr);
  prepare(cell, again.workspace);
  if (plan.training == RNN_TRAINING_L3 && plan.window > 0 && !hasAllStates(plan, room.cellArgs)) {
    again.forward(cell);
  }
  beginSolve(cell, again.workspace);
  Call call = beginAdjoint(plan, room.cellArgs, grads, cell.tensors, room);
  const int64_t window = plan.window > 0 ? plan.window : plan.time;
  call.end = 0;
  do {
    call.begin = call.end;
    call.end = std::min(call.begin + window, plan.time);
    again.again(cell, plan.time - call.end, plan.time - call.begin);
    bindArgs(plan, room.cellArgs, grads, cell.tensors, room.args);
    call.tensors = workspace.sequences.bind(room.args, call.begin);
    solveSteps(call, workspace, true);
    workspace.sequences.advance(call.begin, call.end);
  } while (call.end < plan.time);
  endSolve(call, workspace);
}

template <class F>
rnn_status backwardAs(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads, void* base,
                      const void* reserve) {
  Carver carver(base), saved(const_cast<void*>(reserve)); // it is only read
  BackwardRoom<F> room(plan, carver, saved);
  clearOthers(plan, grads);
  if (room.again) {
    bindCellArgs(plan, args, room.cellArgs);
    solveAgain(plan, grads, room);
  } else {
    const rnn_tensor* tensors = room.saved->bind(args, 0);
    Call call = beginAdjoint(plan, args, grads, tensors, room);
    solveSteps(call, room.workspace, true);
    endSolve(call, room.workspace);
  }
  giveParams(plan, grads, room);
  return statusOf(*plan.adjoint, *room.workspace.header);
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
