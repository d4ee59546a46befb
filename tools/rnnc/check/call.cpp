// Plans called on drawn tensors: whole sequences, and streams.
#include "handles.h"
#include "probe.h"

#include "core/elements.hpp"
#include "data/Array.h"

using namespace rnnc;
using namespace rnnc::check;

namespace {

/// Memory aligned as a workspace and a state must be.
using Room = data::Bytes;

/// Null where it failed.
ModulePtr load(rnn_context* context, const CompiledCell& cell) {
  rnn_module* module = nullptr;
  rnn_module_from_table(context, cell.table(), &module);
  return ModulePtr(module);
}
PlanPtr planOf(const rnn_module* module, const rnn_plan_options& options) {
  rnn_plan* plan = nullptr;
  rnn_plan_create(module, &options, &plan);
  return PlanPtr(plan);
}

/// A stream in memory of its own.
class StreamRun {
public:
  StreamRun(const rnn_module* module, const rnn_plan_options& options,
            const std::vector<CallBuffers::Argument>& arguments,
            const std::vector<rnn_tensor>& tensors)
      : module(module), options(options), arguments(arguments), tensors(tensors) {}

  bool run(llvm::ArrayRef<Piece> pieces);

private:
  bool begin(const rnn_plan* plan);
  bool go(const rnn_plan* plan, const Piece& piece);
  std::vector<rnn_tensor> part(int64_t first, int64_t steps) const;

  const rnn_module* module;
  rnn_plan_options options;
  const std::vector<CallBuffers::Argument>& arguments;
  const std::vector<rnn_tensor>& tensors;
  Room state;
  std::vector<unsigned char> saved;
  int64_t time = 0;
};

std::vector<rnn_tensor> StreamRun::part(int64_t first, int64_t steps) const {
  std::vector<rnn_tensor> parts = tensors;
  for (size_t i = 0; i < parts.size(); ++i) {
    rnn_tensor& tensor = parts[i];
    rnn_arg_kind kind = arguments[i].desc.kind;
    if (kind == RNN_ARG_INITIAL)
      tensor.data = nullptr;
    if (kind != RNN_ARG_INPUT && kind != RNN_ARG_SEQUENCE)
      continue;
    tensor.shape[1] = steps;
    if (tensor.data)
      tensor.data = static_cast<unsigned char*>(tensor.data) +
                    first * tensor.strides[1] * runtime::elementSize(tensor.dtype);
  }
  return parts;
}

/// The first piece begins, later ones go on from what was saved.
bool StreamRun::begin(const rnn_plan* plan) {
  size_t bytes = 0;
  if (rnn_plan_sizes(plan, nullptr, nullptr, &bytes) != RNN_OK)
    return false;
  state = Room(bytes);
  if (saved.empty())
    return rnn_state_init(plan, state.data(), tensors.data()) == RNN_OK;
  return rnn_state_restore(plan, state.data(), tensors.data(), saved.data(), saved.size()) ==
         RNN_OK;
}

bool StreamRun::go(const rnn_plan* plan, const Piece& piece) {
  for (int64_t i = 0; i < piece.steps && piece.isSingle; ++i)
    if (rnn_step(plan, state.data(), part(time + i, 1).data(), nullptr) != RNN_OK)
      return false;
  if (piece.isSingle)
    return true;
  size_t bytes = 0;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  Room workspace(bytes);
  return rnn_steps(plan, state.data(), part(time, piece.steps).data(), workspace.data(), nullptr,
                   nullptr) == RNN_OK;
}

bool StreamRun::run(llvm::ArrayRef<Piece> pieces) {
  options.streaming = 1;
  for (const Piece& piece : pieces) {
    options.time = piece.steps;
    PlanPtr plan = planOf(module, options);
    if (!plan || !begin(plan.get()) || !go(plan.get(), piece))
      return false;
    time += piece.steps;
    size_t bytes = 0;
    if (rnn_state_save(plan.get(), state.data(), nullptr, &bytes) != RNN_OK)
      return false;
    saved.resize(bytes);
    if (rnn_state_save(plan.get(), state.data(), saved.data(), &bytes) != RNN_OK)
      return false;
  }
  return true;
}

} // namespace

rnn_tensor CallBuffers::tensorOf(const Argument& argument, std::vector<unsigned char>& raw,
                                 rnn_dtype type) const {
  rnn_tensor tensor{};
  tensor.data = raw.empty() ? nullptr : raw.data();
  tensor.dtype = type;
  tensor.rank = argument.shape.size();
  int64_t stride = 1;
  for (size_t a = argument.shape.size(); a-- > 0;) {
    tensor.shape[a] = argument.shape[a];
    tensor.strides[a] = stride;
    stride *= argument.shape[a];
  }
  return tensor;
}

std::vector<rnn_tensor> CallBuffers::gradients(rnn_dtype type) {
  std::vector<rnn_tensor> all;
  for (Argument& argument : arguments)
    all.push_back(tensorOf(argument, argument.rawGradient, type));
  return all;
}

std::vector<rnn_tensor> CallBuffers::tensors(rnn_dtype type) {
  std::vector<rnn_tensor> all;
  for (Argument& argument : arguments)
    all.push_back(tensorOf(argument, argument.raw, type));
  if (!reset.empty()) {
    rnn_tensor mask{reset.data(), RNN_U8, 2, {sizes.batch, sizes.time}, {sizes.time, 1}};
    all.push_back(mask);
  }
  return all;
}

std::optional<std::string> CallBuffers::run(rnn_context* context, const rnn_plan_options& options) {
  toRaw(options.compute);
  ModulePtr module = load(context, cell);
  PlanPtr plan = module ? planOf(module.get(), options) : nullptr;
  size_t bytes = 0;
  if (!plan || rnn_plan_sizes(plan.get(), &bytes, nullptr, nullptr) != RNN_OK)
    return rnn_error_text(context);
  Room workspace(bytes);
  if (rnn_forward(plan.get(), tensors(options.compute).data(), workspace.data(), nullptr,
                  nullptr) != RNN_OK)
    return rnn_error_text(context);
  fromRaw(options.compute);
  return std::nullopt;
}

std::optional<std::string> CallBuffers::runBackward(rnn_context* context,
                                                    rnn_plan_options options) {
  if (options.training == RNN_TRAINING_NONE)
    options.training = RNN_TRAINING_L1;
  toRaw(options.compute);
  ModulePtr module = load(context, cell);
  PlanPtr plan = module ? planOf(module.get(), options) : nullptr;
  size_t bytes = 0, saved = 0;
  if (!plan || rnn_plan_sizes(plan.get(), &bytes, &saved, nullptr) != RNN_OK)
    return rnn_error_text(context);
  Room workspace(bytes), reserve(saved), other(bytes);
  const std::vector<rnn_tensor> args = tensors(options.compute), grads = gradients(options.compute);
  if (rnn_forward(plan.get(), args.data(), workspace.data(), reserve.data(), nullptr) != RNN_OK ||
      rnn_backward(plan.get(), args.data(), grads.data(), other.data(), reserve.data(), nullptr) !=
          RNN_OK)
    return rnn_error_text(context);
  fromRaw(options.compute);
  return std::nullopt;
}

std::optional<std::string> CallBuffers::runInPieces(rnn_context* context, rnn_plan_options options,
                                                    llvm::ArrayRef<Piece> pieces) {
  toRaw(options.compute);
  ModulePtr module = load(context, cell);
  const std::vector<rnn_tensor> all = tensors(options.compute);
  if (!module || !StreamRun(module.get(), options, arguments, all).run(pieces))
    return rnn_error_text(context);
  fromRaw(options.compute);
  return std::nullopt;
}
