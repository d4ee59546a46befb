#include "cpu/stream.hpp"

#include "cpu/stage.hpp"
#include "cpu/threads.hpp"
#include "cpu/workspace.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {
namespace {

// [workspace of a step][header][numbers]
template <class F>
struct State {
  Workspace<F> workspace;
  StreamHeader* header;

  State(const Plan& plan, Carver& carver)
      : workspace(*plan.step, carver, carver),
        header(reinterpret_cast<StreamHeader*>(carver.take<char>(
            checkedSum(sizeof(StreamHeader),
                       checkedProduct(plan.stream.numbers, sizeof(F), "the streaming state"),
                       "the streaming state")))) {}
};

/// Where a tensor's history lies, as an array (batch, steps, dims...).
template <class F>
rnn_tensor historyTensor(const StreamLayout& layout, uint32_t index, F* numbers) {
  rnn_tensor tensor{};
  tensor.data = numbers + layout.history[index];
  tensor.dtype = dtypeOf<F>;
  tensor.strides[0] = layout.elements[index] * layout.steps[index];
  tensor.strides[1] = layout.elements[index];
  std::ranges::copy(layout.strides[index], tensor.strides + 2);
  return tensor;
}

// Where a sequence began anew, what was before it is not read any more.
template <class F>
void forgetHistory(const Call& call, uint32_t tensor, int64_t batch) {
  const StreamLayout& layout = call.plan.stream;
  const int64_t steps = layout.steps[tensor], elements = layout.elements[tensor];
  F* of = call.stream->numbers<F>() + layout.history[tensor] + batch * steps * elements;
  int64_t last = call.reset.data ? call.plan.time - 1 : -1;
  while (last >= 0 && !call.reset.at(batch, last)) {
    --last;
  }
  if (last < 0) {
    return;
  }
  // Of the `steps` steps up to the call's last one, those before `last`.
  for (int64_t t = call.plan.time - steps; t < last; ++t) {
    const int64_t place = (call.stream->header->time + t + steps) % steps;
    std::fill_n(of + place * elements, elements,
                static_cast<F>(call.plan.table().tensor[tensor].fill));
  }
}

// Takes the last steps of what is read later on. (The threads' loop converts as IEEE says.)
template <class F>
void keepHistory(const Call& call) {
  const Plan& plan = call.plan;
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    const int64_t steps = plan.stream.steps[i];
    if (steps == 0 || plan.stream.elements[i] == 0) {
      continue;
    }
    const rnn_tensor to = historyTensor(plan.stream, i, call.stream->numbers<F>());
    parallelFor(*plan.arena, plan.batch, [&](int64_t batch, int) {
      for (int64_t t = std::max<int64_t>(0, plan.time - steps); t < plan.time; ++t) {
        copyStep(plan, i, batch, call.tensors[i], t, to, (call.stream->header->time + t) % steps);
      }
      forgetHistory<F>(call, i, batch);
    });
  }
}

template <class F>
void beginAs(const Plan& plan, const rnn_tensor* args, void* base) {
  Carver carver(base);
  State<F> state(plan, carver);
  *state.header = {StreamHeader::magicValue, plan.stream.fingerprint, 0};
  const Stream stream{state.header, true};
  parallelFor(*plan.step->arena, plan.table().tensors, [&](int64_t i, int) {
    std::fill_n(stream.numbers<F>() + plan.stream.history[i],
                plan.stream.elements[i] * plan.stream.steps[i] * plan.batch,
                static_cast<F>(plan.table().tensor[i].fill));
  });
  const Call call = state.workspace.call(*plan.step, args, &stream);
  state.workspace.header->magic = 0; // no report yet
  prepare(call, state.workspace);
  for (const SystemPlan& system : plan.step->systems) {
    parallelFor(*plan.step->arena, system.groups, [&](int64_t group, int slot) {
      Carver slice(state.workspace.threads.slice(slot));
      GroupSolver<F> solver(system, slice);
      solver.bind(call, group);
      solver.startState(solver.state());
      solver.finalState(solver.state());
    });
  }
}

template <class F>
rnn_status goOn(const Plan& plan, const rnn_tensor* args, Workspace<F>& workspace,
                StreamHeader* header) {
  const Stream stream{header, false};
  Call call = workspace.call(plan, args, &stream);
  if (!plan.isStep) { // a step's workspace has been since the stream began
    prepare(call, workspace);
  }
  solve(call, workspace);
  keepHistory<F>(call);
  header->time += plan.time;
  return statusOf(plan, *workspace.header);
}

template <class F>
rnn_status stepAs(const Plan& plan, const rnn_tensor* args, void* base) {
  Carver carver(base);
  State<F> state(plan, carver);
  return goOn(*plan.step, args, state.workspace, state.header);
}

template <class F>
rnn_status stepsAs(const Plan& plan, const rnn_tensor* args, void* base, void* stateBase) {
  Carver carver(base);
  Workspace<F> workspace(plan, carver, carver);
  return goOn(plan, args, workspace, streamHeader(plan, stateBase));
}

template <class F>
size_t bytesOf(const Plan& plan) {
  Carver carver(nullptr);
  State<F>(plan, carver);
  return static_cast<size_t>(carver.used());
}

} // namespace

size_t stateBytes(const Plan& plan) {
  return plan.compute == RNN_F32 ? bytesOf<float>(plan) : bytesOf<double>(plan);
}

// The workspace of a step ends at a multiple of the carver's alignment.
StreamHeader* streamHeader(const Plan& plan, void* state) {
  return reinterpret_cast<StreamHeader*>(static_cast<char*>(state) + plan.step->workspaceBytes);
}

void beginStream(const Plan& plan, const rnn_tensor* args, void* state) {
  plan.compute == RNN_F32 ? beginAs<float>(plan, args, state) : beginAs<double>(plan, args, state);
}

rnn_status step(const Plan& plan, const rnn_tensor* args, void* state) {
  return plan.compute == RNN_F32 ? stepAs<float>(plan, args, state)
                                 : stepAs<double>(plan, args, state);
}

rnn_status steps(const Plan& plan, const rnn_tensor* args, void* workspace, void* state) {
  return plan.compute == RNN_F32 ? stepsAs<float>(plan, args, workspace, state)
                                 : stepsAs<double>(plan, args, workspace, state);
}

} // namespace rnnc::runtime::cpu
