#include "core/stream.hpp"

#include "core/elements.hpp"
#include "core/plan.hpp"
#include "core/status.hpp"
#include "core/tensors.hpp"
#include "cpu/stream.hpp"

#include <cstring>
#include <string_view>

namespace rnnc::runtime {
namespace {

// FNV-1a.
class Fingerprint {
public:
  void add(int64_t value) {
    for (int i = 0; i < 64; i += 8) {
      addByte(static_cast<unsigned char>(value >> i));
    }
  }
  void add(std::string_view text) {
    for (char c : text) {
      addByte(static_cast<unsigned char>(c));
    }
    addByte(0);
  }
  uint64_t value() const { return value_; }

private:
  void addByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  uint64_t value_ = 0xcbf29ce484222325u;
};

void noteDelays(const Plan& plan, StreamLayout& layout) {
  layout.steps.assign(plan.table().tensors, 0);
  auto note = [&](uint32_t tensor, uint32_t back) {
    layout.steps[tensor] = std::max<int64_t>(layout.steps[tensor], back);
  };
  auto noteSlots = [&](const SystemPlan& system) {
    for (uint32_t i = 0; i < system.desc->inputs; ++i) {
      note(system.desc->input_slots[i].tensor, system.desc->input_slots[i].back);
    }
  };
  for (const SystemPlan& system : plan.systems) {
    noteSlots(system);
  }
  for (const StagePlan& stage : plan.stages) {
    if (stage.map.desc) {
      noteSlots(stage.map);
    } else if (stage.product.desc) {
      note(stage.product.desc->sequence, stage.product.desc->back);
    }
  }
}

uint64_t fingerprintOf(const Plan& plan, const StreamLayout& layout) {
  const rnn_module_table& table = plan.table();
  Fingerprint print;
  print.add(table.cell);
  print.add(plan.compute);
  print.add(plan.batch);
  for (uint32_t i = 0; i < table.tensors; ++i) {
    print.add(table.tensor[i].name);
    print.add(table.tensor[i].role);
    print.add(layout.steps[i]);
    for (int64_t size : plan.tensorSizes[i]) {
      print.add(size);
    }
  }
  for (const SystemPlan& system : plan.systems) {
    print.add(system.desc->name);
    print.add(system.desc->states);
    print.add(system.lanes);
  }
  return print.value();
}

/// Checks what all calls of a stream share.
void checkStreaming(const rnn_plan* plan, const void* state, const char* function) {
  if (!plan || !state) {
    invalid("{}: argument `{}` is null", function, plan ? "state" : "plan");
  }
  if (!plan->state->step) {
    invalid("{}: the plan is not for streaming; set `streaming` in rnn_plan_options", function);
  }
  checkAlignment(state, "state", function);
}

void checkBegun(const Plan& plan, const void* state, const char* function) {
  const StreamHeader& header = *cpu::streamHeader(plan, const_cast<void*>(state));
  if (header.magic != StreamHeader::magicValue) {
    invalid("{}: argument `state` holds no sequence; begin one with rnn_state_init", function);
  }
  if (header.fingerprint != plan.stream.fingerprint) {
    invalid("{}: argument `state` is of another cell, or of other dims, batch or compute type than "
            "the plan",
            function);
  }
}

bool overlap(Memory a, Memory b) {
  const auto first = reinterpret_cast<uintptr_t>(a.data);
  const auto second = reinterpret_cast<uintptr_t>(b.data);
  return first < second + b.bytes && second < first + a.bytes;
}

size_t savedBytes(const Plan& plan) {
  return sizeof(StreamHeader) + size_t(plan.stream.numbers) * size_t(elementSize(plan.compute));
}

// What a sequence begins with; a restored one has initial states of its own.
std::vector<rnn_tensor> firstArgs(const Plan& plan, const rnn_tensor* args, bool isRestored) {
  const std::vector<rnn_arg_desc>& kinds = plan.module->args;
  std::vector<rnn_tensor> first(plan.argCount());
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i].kind == RNN_ARG_PARAM || (kinds[i].kind == RNN_ARG_INITIAL && !isRestored)) {
      first[i] = args[i];
    }
  }
  return first;
}

void begin(const rnn_plan* plan, void* state, const rnn_tensor* args, bool isRestored,
           const char* function) {
  const Plan& step = *plan->state->step;
  checkArgs(step, args, {{state, plan->state->stateBytes}}, ArgUse::Begin, function);
  cpu::beginStream(*plan->state, firstArgs(step, args, isRestored).data(), state);
}

} // namespace

StreamLayout layoutStream(const Plan& plan) {
  constexpr const char* what = "the streaming state";
  StreamLayout layout;
  for (const SystemPlan& system : plan.systems) {
    layout.states.push_back(layout.numbers);
    layout.numbers =
        checkedSum(layout.numbers, checkedProduct(system.desc->states, system.lanes, what), what);
  }
  noteDelays(plan, layout);
  for (uint32_t i = 0; i < plan.table().tensors; ++i) {
    const std::vector<int64_t>& sizes = plan.tensorSizes[i];
    std::vector<int64_t> strides(sizes.size());
    int64_t elements = 1;
    for (size_t a = sizes.size(); a-- > 0;) {
      strides[a] = elements;
      elements *= sizes[a]; // bindDims checked it
    }
    layout.elements.push_back(elements);
    layout.strides.push_back(std::move(strides));
    layout.history.push_back(layout.numbers);
    const int64_t each = checkedProduct(layout.steps[i], elements, what);
    layout.numbers = checkedSum(layout.numbers, checkedProduct(each, plan.batch, what), what);
  }
  layout.fingerprint = fingerprintOf(plan, layout);
  return layout;
}

} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_state_init(const rnn_plan* plan, void* state, const rnn_tensor* args) {
  return guarded([&] {
    checkStreaming(plan, state, "rnn_state_init");
    begin(plan, state, args, false, "rnn_state_init");
    return RNN_OK;
  });
}

rnn_status rnn_step(const rnn_plan* plan, void* state, const rnn_tensor* args, void* stream) {
  return guarded([&] {
    checkStreaming(plan, state, "rnn_step");
    checkStream(stream, "rnn_step");
    checkBegun(*plan->state, state, "rnn_step");
    checkArgs(*plan->state->step, args, {{state, plan->state->stateBytes}}, ArgUse::GoOn,
              "rnn_step");
    return cpu::step(*plan->state, args, state);
  });
}

rnn_status rnn_steps(const rnn_plan* plan, void* state, const rnn_tensor* args, void* workspace,
                     void*, void* stream) {
  return guarded([&] {
    checkStreaming(plan, state, "rnn_steps");
    checkStream(stream, "rnn_steps");
    checkBegun(*plan->state, state, "rnn_steps");
    checkWorkspace(*plan->state, workspace, "rnn_steps");
    const Memory kept{state, plan->state->stateBytes};
    const Memory work{workspace, plan->state->workspaceBytes};
    if (overlap(kept, work)) {
      invalid("rnn_steps: argument `workspace` overlaps `state`");
    }
    checkArgs(*plan->state, args, {kept, work}, ArgUse::GoOn, "rnn_steps");
    return cpu::steps(*plan->state, args, workspace, state);
  });
}

rnn_status rnn_state_save(const rnn_plan* plan, const void* state, void* to, size_t* bytes) {
  return guarded([&] {
    checkStreaming(plan, state, "rnn_state_save");
    checkBegun(*plan->state, state, "rnn_state_save");
    if (!bytes) {
      invalid("rnn_state_save: argument `bytes` is null");
    }
    const size_t needed = savedBytes(*plan->state);
    if (to && *bytes < needed) {
      invalid("rnn_state_save: argument `bytes` is {}, but {} are needed", *bytes, needed);
    }
    *bytes = needed;
    if (to) {
      std::memcpy(to, cpu::streamHeader(*plan->state, const_cast<void*>(state)), needed);
    }
    return RNN_OK;
  });
}

rnn_status rnn_state_restore(const rnn_plan* plan, void* state, const rnn_tensor* args,
                             const void* from, size_t bytes) {
  return guarded([&] {
    checkStreaming(plan, state, "rnn_state_restore");
    const size_t needed = savedBytes(*plan->state);
    if (!from) {
      invalid("rnn_state_restore: argument `from` is null");
    }
    if (bytes != needed) {
      invalid("rnn_state_restore: argument `from` has {} bytes, a state of this plan has {}", bytes,
              needed);
    }
    StreamHeader header;
    std::memcpy(&header, from, sizeof(header));
    if (header.magic != StreamHeader::magicValue || header.time < 0) {
      invalid(
          "rnn_state_restore: argument `from` was not written by rnn_state_save on a machine of "
          "this byte order");
    }
    if (header.fingerprint != plan->state->stream.fingerprint) {
      invalid("rnn_state_restore: argument `from` is of another cell, or of other dims, batch or "
              "compute type than the plan");
    }
    begin(plan, state, args, true, "rnn_state_restore");
    std::memcpy(cpu::streamHeader(*plan->state, state), from, needed);
    return RNN_OK;
  });
}
