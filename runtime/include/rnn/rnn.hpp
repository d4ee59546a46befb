/// The runtime for C++: handles that free themselves, arrays from spans, results instead of statuses.
/// Header only; everything happens in rnn.h, whose comments hold here too.
///
/// Nothing throws unless it is asked to: a function that can fail returns a Result, which is true
/// where it holds something. `value()` of it throws rnn::Error where it does not:
///
///   rnn::Context context = rnn::Context::create().value();
///   rnn::Module module = context.module(my_cell_table).value();
///   rnn::Plan plan = module.plan({.batch = 8, .time = 512, .dims = {{"d", 256}}}).value();
#pragma once

#include "rnn/rnn.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rnn {

class Error : public std::exception {
public:
  Error(rnn_status status, std::string text) : status_(status), text_(std::move(text)) {}
  rnn_status status() const { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }

private:
  rnn_status status_;
  std::string text_;
};

/// A T, or a status and a text that says which argument and why.
template <class T>
class [[nodiscard]] Result {
public:
  Result(T value) : value_(std::move(value)) {}
  Result(rnn_status status, std::string text) : status_(status), text_(std::move(text)) {}

  explicit operator bool() const { return value_.has_value(); }
  rnn_status status() const { return status_; }
  const std::string& error() const { return text_; }
  T& operator*() & { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
#if defined(__cpp_exceptions)
  T value() && {
    if (!value_) {
      throw Error(status_, text_);
    }
    return *std::move(value_);
  }
#endif

private:
  std::optional<T> value_;
  rnn_status status_ = RNN_OK;
  std::string text_;
};

/// What a call that gives nothing came to.
template <>
class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(rnn_status status, std::string text) : status_(status), text_(std::move(text)) {}

  explicit operator bool() const { return status_ == RNN_OK; }
  rnn_status status() const { return status_; }
  const std::string& error() const { return text_; }
#if defined(__cpp_exceptions)
  void value() const {
    if (status_ != RNN_OK) {
      throw Error(status_, text_);
    }
  }
#endif

private:
  rnn_status status_ = RNN_OK;
  std::string text_;
};

/// bfloat16 and binary16, as bits: what a 16-bit type of the caller's is, where it has one.
enum class BFloat16 : uint16_t {};
enum class Float16 : uint16_t {};

template <class T>
constexpr rnn_dtype dtypeOf() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, float>) {
    return RNN_F32;
  } else if constexpr (std::is_same_v<U, double>) {
    return RNN_F64;
  } else if constexpr (std::is_same_v<U, BFloat16>) {
    return RNN_BF16;
  } else if constexpr (std::is_same_v<U, Float16>) {
    return RNN_F16;
  } else {
    static_assert(std::is_same_v<U, uint8_t>, "float, double, rnn::BFloat16, rnn::Float16; masks: uint8_t");
    return RNN_U8;
  }
}

/// A view of `data` as an array of that shape, row-major without gaps. The span holds all of it.
template <class T, size_t extent>
rnn_tensor tensor(std::span<T, extent> data, std::initializer_list<int64_t> shape) {
  rnn_tensor view{};
  view.data = const_cast<std::remove_const_t<T>*>(data.data());
  view.dtype = dtypeOf<T>();
  assert(shape.size() <= std::size(view.shape));
  for (int64_t size : shape) {
    view.shape[view.rank++] = size;
  }
  int64_t stride = 1;
  for (uint32_t axis = view.rank; axis-- > 0;) {
    view.strides[axis] = stride;
    stride *= view.shape[axis];
  }
  assert(stride <= static_cast<int64_t>(data.size()));
  return view;
}

/// Memory aligned as workspaces and states must be, zeroed.
class Memory {
public:
  explicit Memory(size_t bytes = 0)
      : data_(static_cast<std::byte*>(::operator new(bytes + 1, alignment))) {
    std::uninitialized_fill_n(data_.get(), bytes, std::byte{0});
  }
  void* data() { return data_.get(); }
  const void* data() const { return data_.get(); }

private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, alignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// rnn_plan_options, with the names of free dims beside their sizes.
struct PlanOptions {
  int64_t batch = 1, time = 0;
  std::vector<rnn_dim_value> dims;
  rnn_dtype compute = RNN_F32;
  double tolerance = -1; ///< the module's wish, or 4 ulp
  bool streaming = false;
  std::span<const int64_t> segments; ///< offsets of a packed batch
  bool reversed = false, reset = false;
  rnn_training training = RNN_TRAINING_NONE;
  rnn_plan_options others{}; ///< everything that has no place above

  rnn_plan_options get() const {
    rnn_plan_options options = others;
    options.size = sizeof(options);
    options.batch = batch;
    options.time = time;
    options.dims = static_cast<uint32_t>(dims.size());
    options.dim = dims.data();
    options.compute = compute;
    options.tolerance = tolerance;
    options.streaming = streaming;
    options.reversed = reversed;
    options.reset = reset;
    options.training = training;
    if (!segments.empty()) {
      options.segments = static_cast<int64_t>(segments.size()) - 1;
      options.segment_offsets = segments.data();
      options.offset_bits = 64;
    }
    return options;
  }
};

namespace detail {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};
using ContextHandle = std::shared_ptr<rnn_context>;

inline Result<void> done(const ContextHandle& context, rnn_status status) {
  return status == RNN_OK ? Result<void>() : Result<void>(status, rnn_error_text(context.get()));
}

} // namespace detail

/// Where a streamed sequence stands.
class State {
public:
  explicit State(size_t bytes) : memory_(bytes) {}
  void* data() { return memory_.data(); }
  const void* data() const { return memory_.data(); }

private:
  Memory memory_;
};

/// A cell at a shape. Shared by threads like rnn_plan; each call at a time needs a workspace.
class Plan {
public:
  rnn_plan* get() const { return plan_.get(); }

  Memory workspace() const { return Memory(sizes().workspace); }
  /// Of a plan with training: what forward leaves for backward.
  Memory reserve() const { return Memory(sizes().reserve); }
  State state() const { return State(sizes().state); }
  rnn_plan_info info() const {
    rnn_plan_info info{};
    info.size = sizeof(info);
    rnn_plan_describe(get(), &info);
    return info;
  }

  /// The arrays of a call, of the plan's shapes, without data.
  std::vector<rnn_tensor> args() const {
    std::vector<rnn_tensor> all(args_);
    rnn_plan_args(get(), all.data());
    return all;
  }
  /// `args` as rnn_signature lists them; RNN_NOT_CONVERGED as in rnn.h.
  Result<void> forward(std::span<const rnn_tensor> args, Memory& workspace) const {
    return call(args, [&] {
      return rnn_forward(get(), args.data(), workspace.data(), nullptr, nullptr);
    });
  }
  /// Of a plan with training.
  Result<void> forward(std::span<const rnn_tensor> args, Memory& workspace, Memory& reserve) const {
    return call(args, [&] {
      return rnn_forward(get(), args.data(), workspace.data(), reserve.data(), nullptr);
    });
  }
  /// `grads`: as many as `args`, the derivative of the loss by each (a mask's place is not looked at).
  Result<void> backward(std::span<const rnn_tensor> args, std::span<const rnn_tensor> grads,
                        Memory& workspace, const Memory& reserve) const {
    if (grads.size() != args_) {
      return wrongCount(grads.size());
    }
    return call(args, [&] {
      return rnn_backward(get(), args.data(), grads.data(), workspace.data(), reserve.data(), nullptr);
    });
  }
  Result<void> begin(State& state, std::span<const rnn_tensor> args) const {
    return call(args, [&] { return rnn_state_init(get(), state.data(), args.data()); });
  }
  /// Allocates nothing where it succeeds.
  Result<void> step(State& state, std::span<const rnn_tensor> args) const {
    return call(args, [&] { return rnn_step(get(), state.data(), args.data(), nullptr); });
  }
  Result<void> steps(State& state, std::span<const rnn_tensor> args, Memory& workspace) const {
    return call(args, [&] {
      return rnn_steps(get(), state.data(), args.data(), workspace.data(), nullptr, nullptr);
    });
  }
  Result<std::vector<std::byte>> save(const State& state) const {
    size_t bytes = 0;
    rnn_status status = rnn_state_save(get(), state.data(), nullptr, &bytes);
    std::vector<std::byte> saved(bytes);
    if (status == RNN_OK) {
      status = rnn_state_save(get(), state.data(), saved.data(), &bytes);
    }
    if (status != RNN_OK) {
      return {status, rnn_error_text(context_.get())};
    }
    return saved;
  }
  Result<void> restore(State& state, std::span<const rnn_tensor> params,
                       std::span<const std::byte> saved) const {
    return call(params, [&] {
      return rnn_state_restore(get(), state.data(), params.data(), saved.data(), saved.size());
    });
  }
  Result<rnn_report> report(const Memory& workspace) const {
    rnn_report report{};
    report.size = sizeof(report);
    if (rnn_status status = rnn_report_read(get(), workspace.data(), &report); status != RNN_OK) {
      return {status, rnn_error_text(context_.get())};
    }
    return report;
  }

private:
  friend class Module;
  struct Sizes {
    size_t workspace = 0, reserve = 0, state = 0;
  };
  Plan(detail::ContextHandle context, rnn_plan* plan, size_t args)
      : context_(std::move(context)), plan_(plan), args_(args) {}
  Sizes sizes() const {
    Sizes sizes;
    rnn_plan_sizes(get(), &sizes.workspace, &sizes.reserve, &sizes.state);
    return sizes;
  }
  Result<void> wrongCount(size_t given) const {
    return {RNN_INVALID_ARGUMENT, "a call takes " + std::to_string(args_) + " arrays, and " +
                                      std::to_string(given) + " are given"};
  }
  template <class Function>
  Result<void> call(std::span<const rnn_tensor> args, Function&& function) const {
    if (args.size() != args_) {
      return wrongCount(args.size());
    }
    return detail::done(context_, function());
  }

  detail::ContextHandle context_;
  std::unique_ptr<rnn_plan, detail::Destroy<rnn_plan_destroy>> plan_;
  size_t args_ = 0; ///< of a call
};

class Module {
public:
  rnn_module* get() const { return module_.get(); }

  const rnn_signature& signature() const {
    const rnn_signature* signature = nullptr;
    rnn_module_describe(get(), &signature);
    return *signature;
  }
  /// The place in a call's args of what the cell's file calls `name`; `kind` tells a state's places
  /// apart. Nothing where there is none.
  std::optional<size_t> arg(rnn_arg_kind kind, std::string_view name) const {
    const rnn_signature& all = signature();
    for (uint32_t i = 0; i < all.args; ++i) {
      if (all.arg[i].kind == kind && all.table->tensor[all.arg[i].tensor].name == name) {
        return i;
      }
    }
    return std::nullopt;
  }
  Result<Plan> plan(const PlanOptions& wanted) const {
    const rnn_plan_options options = wanted.get();
    rnn_plan* made = nullptr;
    if (rnn_status status = rnn_plan_create(get(), &options, &made); status != RNN_OK) {
      return {status, rnn_error_text(context_.get())};
    }
    return Plan(context_, made, signature().args + (options.reset != 0));
  }

private:
  friend class Context;
  Module(detail::ContextHandle context, rnn_module* module)
      : context_(std::move(context)), module_(module) {}

  detail::ContextHandle context_;
  std::unique_ptr<rnn_module, detail::Destroy<rnn_module_destroy>> module_;
};

/// Lives as long as anything made from it.
class Context {
public:
  static Result<Context> create() {
    rnn_context* made = nullptr;
    if (rnn_status status = rnn_context_create(&made); status != RNN_OK) {
      return {status, "no context could be made"};
    }
    return Context(detail::ContextHandle(made, rnn_context_destroy));
  }
  rnn_context* get() const { return context_.get(); }

  /// The table outlives the module.
  Result<Module> module(const rnn_module_table& table) const {
    return wrap([&](rnn_module** out) { return rnn_module_from_table(get(), &table, out); });
  }
  /// What an object file of rnnc's defines; likewise.
  Result<Module> module(const rnn_module_bundle& bundle) const {
    return wrap([&](rnn_module** out) { return rnn_module_from_bundle(get(), &bundle, out); });
  }
  /// From a shared library of rnnc's.
  Result<Module> load(const std::string& path) const {
    return wrap([&](rnn_module** out) { return rnn_module_load(get(), path.c_str(), out); });
  }

private:
  template <class Make>
  Result<Module> wrap(Make&& make) const {
    rnn_module* made = nullptr;
    if (rnn_status status = make(&made); status != RNN_OK) {
      return {status, rnn_error_text(get())};
    }
    return Module(context_, made);
  }
  explicit Context(detail::ContextHandle context) : context_(std::move(context)) {}
  detail::ContextHandle context_;
};

} // namespace rnn
