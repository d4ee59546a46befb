#include "core/tensors.hpp"

#include "core/elements.hpp"
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
  if (arg.kind == RNN_ARG_INPUT || arg.kind == RNN_ARG_SEQUENCE) {
    shape.add(plan.batch);
    shape.add(plan.time);
  } else if (arg.kind != RNN_ARG_PARAM) {
    shape.add(plan.sequences());
  }
  for (int64_t size : plan.tensorSizes[arg.tensor]) {
    shape.add(size);
  }
  return shape;
}

Shape maskShape(const Plan& plan) {
  Shape shape;
  shape.add(plan.batch);
  shape.add(plan.time);
  return shape;
}

std::string shapeText(const int64_t* size, uint32_t rank) {
  std::string text = "[";
  for (uint32_t a = 0; a < rank; ++a) {
    text += fmt::format("{}{}", a ? ", " : "", size[a]);
  }
  return text + "]";
}

bool isRequired(const rnn_arg_desc& arg) {
  return arg.kind == RNN_ARG_INPUT || arg.kind == RNN_ARG_PARAM;
}

// What an error is about.
enum class Of { Argument, Gradient };

std::string nameOf(const Plan& plan, size_t index, Of of = Of::Argument) {
  const std::string name = index < plan.module->args.size()
                               ? argName(*plan.module, index)
                               : fmt::format("argument {} (reset mask)", index);
  return of == Of::Gradient ? "gradient of " + name : name;
}

// Names are made for errors alone: rnn_forward allocates nothing.
void checkType(const Plan& plan, size_t index, rnn_dtype dtype, Of of = Of::Argument) {
  switch (dtype) {
  case RNN_F32:
  case RNN_F64:
  case RNN_BF16:
  case RNN_F16:
    return;
  case RNN_U8:
    invalid("{}: dtype is u8, which is for masks alone", nameOf(plan, index, of));
  }
  invalid("{}: dtype {} is unknown", nameOf(plan, index, of), static_cast<int>(dtype));
}

// What of a tensor there is to check whatever it is. False where there is nothing in it.
bool checkTensor(const Plan& plan, size_t index, const rnn_tensor& tensor, const Shape& shape,
                 Footprint& footprint, Of of = Of::Argument) {
  auto name = [&] { return nameOf(plan, index, of); };
  const int64_t bytes = elementSize(tensor.dtype);
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
  if (reinterpret_cast<uintptr_t>(tensor.data) % static_cast<uintptr_t>(bytes) != 0) {
    invalid("{}: data is not aligned to the {} bytes of an element", name(), bytes);
  }
  if (!makeFootprint(tensor, bytes, footprint)) {
    invalid("{}: its strides reach beyond the address space", name());
  }
  return !footprint.empty();
}

// The tensor alone. False where there is nothing to read or write.
bool checkOne(const Plan& plan, size_t index, const rnn_tensor& tensor, Footprint& footprint) {
  const rnn_arg_desc& arg = plan.module->args[index];
  const Shape shape = expectedShape(plan, arg);
  if (!tensor.data && !(isRequired(arg) && !shape.empty)) {
    return false;
  }
  if (!tensor.data) {
    invalid("{}: data is null, but it is required", nameOf(plan, index));
  }
  checkType(plan, index, tensor.dtype);
  const bool isThere = checkTensor(plan, index, tensor, shape, footprint);
  if (isResult(arg.kind) && !elementsAreApart(footprint)) {
    invalid("{}: its strides {} let elements overlap; a result needs a place for each",
            nameOf(plan, index), shapeText(tensor.strides, tensor.rank));
  }
  return isThere;
}

// Of a plan with a mask.
bool checkMask(const Plan& plan, const rnn_tensor& tensor, Footprint& footprint) {
  const size_t index = plan.module->args.size();
  if (!tensor.data) {
    return false;
  }
  if (tensor.dtype != RNN_U8) {
    invalid("{}: dtype must be u8, one byte a step", nameOf(plan, index));
  }
  return checkTensor(plan, index, tensor, maskShape(plan), footprint);
}

// Footprints are made again where they are needed: rnn_forward allocates nothing.
bool footprintOf(const rnn_tensor& tensor, Footprint& footprint) {
  return tensor.data && makeFootprint(tensor, elementSize(tensor.dtype), footprint) &&
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
  for (size_t j = 0; j < plan.argCount(); ++j) {
    const bool isSeen = j == index || (j > index && j < kinds.size() && isResult(kinds[j].kind));
    if (!isSeen && footprintOf(args[j], other) && !areApart(result, other)) {
      invalid("{}: overlaps {}; results need memory of their own", nameOf(plan, index),
              nameOf(plan, j));
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
  for (size_t i = 0; i < plan.argCount(); ++i) {
    const bool isMask = i == kinds.size();
    const bool isInitial = !isMask && kinds[i].kind == RNN_ARG_INITIAL;
    const bool isParam = !isMask && kinds[i].kind == RNN_ARG_PARAM;
    if (use == ArgUse::Begin && !isInitial && !isParam) {
      continue;
    }
    if (use == ArgUse::GoOn && isInitial && args[i].data) {
      invalid("{}: the sequence has begun, and goes on from `state`; give no data here, or begin "
              "anew with rnn_state_init",
              nameOf(plan, i));
    }
    Footprint footprint;
    if (!(isMask ? checkMask(plan, args[i], footprint) : checkOne(plan, i, args[i], footprint))) {
      continue;
    }
    if (std::ranges::any_of(own, [&](Memory m) { return !areApart(footprint, footprintOf(m)); })) {
      invalid("{}: overlaps the {}", nameOf(plan, i),
              use == ArgUse::Whole ? "workspace" : "state or the workspace");
    }
  }
  for (size_t i = 0; i < kinds.size() && use != ArgUse::Begin; ++i) {
    if (isResult(kinds[i].kind)) {
      checkResultIsApart(plan, i, args);
    }
  }
}

namespace {

// Every argument has a gradient of its shape, absent or not: of results it is given, of everything
// else made.
bool isMade(const rnn_arg_desc& arg) { return !isResult(arg.kind); }

bool checkGrad(const Plan& plan, size_t index, const rnn_tensor& grad, Footprint& footprint) {
  if (!grad.data) {
    return false;
  }
  checkType(plan, index, grad.dtype, Of::Gradient);
  const rnn_arg_desc& arg = plan.module->args[index];
  const bool isThere =
      checkTensor(plan, index, grad, expectedShape(plan, arg), footprint, Of::Gradient);
  if (isMade(arg) && !elementsAreApart(footprint)) {
    invalid("{}: its strides {} let elements overlap; a result needs a place for each",
            nameOf(plan, index, Of::Gradient), shapeText(grad.strides, grad.rank));
  }
  return isThere;
}

void checkGradIsApart(const Plan& plan, size_t index, const rnn_tensor* args,
                      const rnn_tensor* grads) {
  const std::vector<rnn_arg_desc>& kinds = plan.module->args;
  Footprint result, other;
  if (!footprintOf(grads[index], result)) {
    return;
  }
  for (size_t j = 0; j < kinds.size(); ++j) {
    const bool isSeen = j == index || (j > index && isMade(kinds[j]));
    if (!isSeen && footprintOf(grads[j], other) && !areApart(result, other)) {
      invalid("{}: overlaps the {}; results need memory of their own",
              nameOf(plan, index, Of::Gradient), nameOf(plan, j, Of::Gradient));
    }
  }
  for (size_t j = 0; j < plan.argCount(); ++j) {
    if (footprintOf(args[j], other) && !areApart(result, other)) {
      invalid("{}: overlaps {}; results need memory of their own",
              nameOf(plan, index, Of::Gradient), nameOf(plan, j));
    }
  }
}

} // namespace

void checkGrads(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads,
                std::initializer_list<Memory> own, const char* function) {
  const std::vector<rnn_arg_desc>& kinds = plan.module->args;
  if (!kinds.empty() && !grads) {
    invalid("{}: argument `grads` is null", function);
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    Footprint footprint;
    if (checkGrad(plan, i, grads[i], footprint) &&
        std::ranges::any_of(own, [&](Memory m) { return !areApart(footprint, footprintOf(m)); })) {
      invalid("{}: overlaps the workspace or the reserve", nameOf(plan, i, Of::Gradient));
    }
  }
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (isMade(kinds[i])) {
      checkGradIsApart(plan, i, args, grads);
    }
  }
}

void checkReserve(const Plan& plan, const void* reserve, const char* function) {
  if (plan.reserveBytes == 0) {
    return;
  }
  if (!reserve) {
    invalid("{}: argument `reserve` is null; rnn_plan_sizes tells how many bytes it needs ({})",
            function, plan.reserveBytes);
  }
  checkAlignment(reserve, "reserve", function);
}

void startStrides(const Plan& plan, uint32_t state, const rnn_tensor& param, int64_t* strides) {
  const uint32_t from = plan.table().tensor[state].start - 1;
  const uint32_t rank = plan.table().tensor[state].rank;
  const uint32_t lacks = rank - plan.table().tensor[from].rank;
  for (uint32_t a = 0; a < rank; ++a) {
    const bool isRepeated = a < lacks || plan.tensorSizes[from][a - lacks] == 1;
    strides[a] = isRepeated ? 0 : param.strides[a - lacks];
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

using namespace rnnc::runtime;

rnn_status rnn_plan_args(const rnn_plan* plan, rnn_tensor* args) {
  return guarded([&] {
    if (!plan || !args) {
      invalid("rnn_plan_args: argument `{}` is null", plan ? "args" : "plan");
    }
    const Plan& p = *plan->state;
    const size_t count = p.module->args.size();
    for (size_t i = 0; i < count + p.reset; ++i) {
      const Shape shape = i < count ? expectedShape(p, p.module->args[i]) : maskShape(p);
      rnn_tensor tensor{};
      tensor.dtype = i < count ? p.compute : RNN_U8;
      tensor.rank = shape.rank;
      int64_t stride = 1;
      for (uint32_t a = shape.rank; a-- > 0;) {
        tensor.shape[a] = shape.size[a];
        tensor.strides[a] = stride;
        stride = checkedProduct(stride, std::max<int64_t>(shape.size[a], 1), "an array");
      }
      args[i] = tensor;
    }
    return RNN_OK;
  });
}
