#include "core/tensors.hpp"

#include "core/overlap.hpp"
#include "core/status.hpp"

#include <algorithm>
#include <array>

namespace rnnc::runtime {
namespace {

constexpr uint32_t maxRank = RNN_MAX_RANK + 2;

struct Shape {
  uint32_t rank = 0;
  std::array<int64_t, maxRank> size{};
  bool empty = false;

  void add(int64_t value) {
    size[rank++] = value;
    empty |= value == 0;
  }
};

Shape expectedShape(const Plan& plan, const rnn_arg_desc& arg) {
  Shape shape;
  if (arg.kind != RNN_ARG_PARAM) {
    shape.add(plan.batch);
  }
  if (arg.kind == RNN_ARG_INPUT || arg.kind == RNN_ARG_SEQUENCE) {
    shape.add(plan.time);
  }
  for (int64_t size : plan.tensorSizes[arg.tensor]) {
    shape.add(size);
  }
  return shape;
}

std::string shapeText(const int64_t* size, uint32_t rank) {
  std::string text = "[";
  for (uint32_t a = 0; a < rank; ++a) {
    text += fmt::format("{}{}", a ? ", " : "", size[a]);
  }
  return text + "]";
}

bool isResult(const rnn_arg_desc& arg) {
  return arg.kind == RNN_ARG_SEQUENCE || arg.kind == RNN_ARG_FINAL;
}

bool isRequired(const rnn_arg_desc& arg) {
  return arg.kind == RNN_ARG_INPUT || arg.kind == RNN_ARG_PARAM;
}

int64_t checkedElementSize(const Plan& plan, size_t index, const rnn_tensor& tensor) {
  switch (tensor.dtype) {
  case RNN_F32:
    return 4;
  case RNN_F64:
    return 8;
  case RNN_BF16:
  case RNN_F16:
    fail(RNN_UNSUPPORTED, "{}: {} arrays are not supported yet; convert it to f32",
         argName(*plan.module, index), tensor.dtype == RNN_BF16 ? "bf16" : "f16");
  }
  invalid("{}: dtype {} is unknown", argName(*plan.module, index), static_cast<int>(tensor.dtype));
}

// The tensor alone. False where there is nothing to read or write.
bool checkOne(const Plan& plan, size_t index, const rnn_tensor& tensor, Footprint& footprint) {
  const rnn_arg_desc& arg = plan.module->args[index];
  auto name = [&] { return argName(*plan.module, index); };
  const Shape shape = expectedShape(plan, arg);
  if (!tensor.data && !(isRequired(arg) && !shape.empty)) {
    return false;
  }
  if (!tensor.data) {
    invalid("{}: data is null, but it is required", name());
  }
  const int64_t elementSize = checkedElementSize(plan, index, tensor);
  if (tensor.rank != shape.rank) {
    invalid("{}: rank is {}, the plan has {}, {}", name(), tensor.rank, shape.rank,
            shapeText(shape.size.data(), shape.rank));
  }
  for (uint32_t a = 0; a < shape.rank; ++a) {
    if (tensor.shape[a] != shape.size[a]) {
      invalid("{}: shape is {}, the plan has {}", name(), shapeText(tensor.shape, tensor.rank),
              shapeText(shape.size.data(), shape.rank));
    }
  }
  if (reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(elementSize) != 0) {
    invalid("{}: data is not aligned to the {} bytes of an element", name(), elementSize);
  }
  if (!makeFootprint(tensor, elementSize, footprint)) {
    invalid("{}: its strides reach beyond the address space", name());
  }
  if (isResult(arg) && !elementsAreApart(footprint)) {
    invalid("{}: its strides {} let elements overlap; a result needs a place for each", name(),
            shapeText(tensor.strides, tensor.rank));
  }
  return !footprint.empty();
}

// Footprints are made again where they are needed: rnn_forward allocates nothing.
bool footprintOf(const rnn_tensor& tensor, Footprint& footprint) {
  return tensor.data && makeFootprint(tensor, tensor.dtype == RNN_F32 ? 4 : 8, footprint) &&
         !footprint.empty();
}

Footprint footprintOf(Memory memory) {
  Footprint all;
  all.elementSize = 1;
  all.base = all.low = reinterpret_cast<intptr_t>(memory.data);
  all.high = all.low + static_cast<intptr_t>(memory.bytes);
  return all;
}

void checkResultIsApart(const Plan& plan, size_t index, const rnn_tensor* args) {
  const std::vector<rnn_arg_desc>& kinds = plan.module->args;
  Footprint result, other;
  if (!footprintOf(args[index], result)) {
    return;
  }
  for (size_t j = 0; j < kinds.size(); ++j) {
    const bool isSeen = j == index || (j > index && isResult(kinds[j]));
    if (!isSeen && footprintOf(args[j], other) && !areApart(result, other)) {
      invalid("{}: overlaps {}; results need memory of their own", argName(*plan.module, index),
              argName(*plan.module, j));
    }
  }
}

} // namespace

void checkArgs(const Plan& plan, const rnn_tensor* args, std::initializer_list<Memory> own,
               ArgUse use, const char* function) {
  const std::vector<rnn_arg_desc>& kinds = plan.module->args;
  if (!kinds.empty() && !args) {
    invalid("{}: argument `args` is null", function);
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    const bool isInitial = kinds[i].kind == RNN_ARG_INITIAL;
    if (use == ArgUse::Begin && !isInitial && kinds[i].kind != RNN_ARG_PARAM) {
      continue;
    }
    if (use == ArgUse::GoOn && isInitial && args[i].data) {
      invalid("{}: the sequence has begun, and goes on from `state`; give no data here, or begin "
              "anew with rnn_state_init",
              argName(*plan.module, i));
    }
    Footprint footprint;
    if (!checkOne(plan, i, args[i], footprint)) {
      continue;
    }
    if (std::ranges::any_of(own, [&](Memory m) { return !areApart(footprint, footprintOf(m)); })) {
      invalid("{}: overlaps the {}", argName(*plan.module, i),
              use == ArgUse::Whole ? "workspace" : "state or the workspace");
    }
  }
  for (size_t i = 0; i < kinds.size() && use != ArgUse::Begin; ++i) {
    if (isResult(kinds[i])) {
      checkResultIsApart(plan, i, args);
    }
  }
}

void checkWorkspace(const Plan& plan, const void* workspace, const char* function) {
  if (!workspace) {
    invalid("{}: argument `workspace` is null; rnn_plan_sizes tells how many bytes it needs ({})",
            function, plan.workspaceBytes);
  }
  checkAlignment(workspace, "workspace", function);
}

void checkAlignment(const void* memory, const char* name, const char* function) {
  if (reinterpret_cast<uintptr_t>(memory) % 64 != 0) {
    invalid("{}: argument `{}` is not aligned to 64 bytes", function, name);
  }
}

void checkStream(const void* stream, const char* function) {
  if (stream) {
    invalid("{}: argument `stream` must be null on the CPU", function);
  }
}

} // namespace rnnc::runtime
