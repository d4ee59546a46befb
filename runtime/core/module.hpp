// A module: a checked table and the signature that follows from it.
#pragma once

#include "core/context.hpp"
#include "rnn/rnn.h"

#include <memory>
#include <vector>

namespace rnnc::runtime {

/// Systems with a carry have at most this many states a lane.
inline constexpr uint32_t maxCarryStates = 16;

/// Where a tensor stands in the args of rnn_forward; -1: nowhere.
struct TensorArgs {
  int sequence = -1; ///< an input, a param, or the result at every step
  int initial = -1;
  int final = -1;
};

struct Module {
  std::shared_ptr<void> library; ///< holds the table and the kernels; null: they are the caller's
  std::shared_ptr<Context> context;
  const rnn_module_table* table = nullptr;
  std::vector<rnn_arg_desc> args;
  std::vector<TensorArgs> tensorArgs;
  rnn_signature signature{};
  std::shared_ptr<const Module> adjoint; ///< null: it has no gradients
};

/// Throws where `table` breaks a rule of module.h; afterwards everything may rely on it.
void validateTable(const rnn_module_table* table);
/// Null where there is none, or where the table was built before there was.
const rnn_module_table* adjointOf(const rnn_module_table& table);
/// Throws where the adjoint of `table` breaks a rule of module.h towards it; each is fine by
/// itself.
void validateAdjoint(const rnn_module_table& table, const rnn_module_table& adjoint);

/// What every function that makes a module checks first; then *out is null until it is made.
void prepareModule(const rnn_context* context, rnn_module** out, const char* function);
/// Throws where the table is bad.
rnn_module* makeModule(const rnn_context& context, const rnn_module_table* table,
                       std::shared_ptr<void> library);

/// "argument 2 (param a_z)"
std::string argName(const Module& module, size_t arg);

} // namespace rnnc::runtime

struct rnn_module {
  std::shared_ptr<const rnnc::runtime::Module> state;
};
