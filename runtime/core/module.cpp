#include "core/module.hpp"

#include "core/status.hpp"

namespace rnnc::runtime {
namespace {

// All inputs, params, sequences (states that are not hidden, then outputs), initial and final
// states, each in the order of the file.
void listArgs(Module& module) {
  const rnn_module_table& table = *module.table;
  module.tensorArgs.resize(table.tensors);
  auto add = [&](rnn_arg_kind kind, rnn_role role, int TensorArgs::* place, bool hiddenToo) {
    for (uint32_t i = 0; i < table.tensors; ++i) {
      if (table.tensor[i].role == role && (hiddenToo || !table.tensor[i].hidden)) {
        module.tensorArgs[i].*place = static_cast<int>(module.args.size());
        module.args.push_back({kind, i});
      }
    }
  };
  add(RNN_ARG_INPUT, RNN_ROLE_INPUT, &TensorArgs::sequence, true);
  add(RNN_ARG_PARAM, RNN_ROLE_PARAM, &TensorArgs::sequence, true);
  add(RNN_ARG_SEQUENCE, RNN_ROLE_STATE, &TensorArgs::sequence, false);
  add(RNN_ARG_SEQUENCE, RNN_ROLE_OUTPUT, &TensorArgs::sequence, true);
  add(RNN_ARG_INITIAL, RNN_ROLE_STATE, &TensorArgs::initial, true);
  add(RNN_ARG_FINAL, RNN_ROLE_STATE, &TensorArgs::final, true);
}

const char* kindName(const rnn_arg_desc& arg, const rnn_module_table& table) {
  switch (arg.kind) {
  case RNN_ARG_INPUT:
    return "input";
  case RNN_ARG_PARAM:
    return "param";
  case RNN_ARG_SEQUENCE:
    return table.tensor[arg.tensor].role == RNN_ROLE_STATE ? "state" : "output";
  case RNN_ARG_INITIAL:
    return "initial state";
  case RNN_ARG_FINAL:
    return "final state";
  }
  return "?";
}

} // namespace

std::string argName(const Module& module, size_t arg) {
  const rnn_arg_desc& desc = module.args[arg];
  return fmt::format("argument {} ({} {})", arg, kindName(desc, *module.table),
                     module.table->tensor[desc.tensor].name);
}

void prepareModule(const rnn_context* context, rnn_module** out, const char* function) {
  if (!out) {
    invalid("{}: argument `out` is null", function);
  }
  *out = nullptr;
  if (!context) {
    invalid("{}: argument `context` is null", function);
  }
}

namespace {

std::shared_ptr<Module> makeOne(const rnn_context& context, const rnn_module_table* table,
                                const std::shared_ptr<void>& library) {
  validateTable(table);
  auto module = std::make_shared<Module>();
  module->library = library;
  module->context = context.state;
  module->table = table;
  listArgs(*module);
  module->signature.size = sizeof(rnn_signature);
  module->signature.table = table;
  module->signature.args = static_cast<uint32_t>(module->args.size());
  module->signature.arg = module->args.data();
  return module;
}

} // namespace

rnn_module* makeModule(const rnn_context& context, const rnn_module_table* table,
                       std::shared_ptr<void> library) {
  std::shared_ptr<Module> module = makeOne(context, table, library);
  if (const rnn_module_table* adjoint = adjointOf(*table)) {
    std::shared_ptr<Module> gradients = makeOne(context, adjoint, library);
    validateAdjoint(*table, *adjoint);
    module->adjoint = std::move(gradients);
  }
  return new rnn_module{std::move(module)};
}

} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_module_from_table(rnn_context* context, const rnn_module_table* table,
                                 rnn_module** out) {
  return guarded([&] {
    prepareModule(context, out, "rnn_module_from_table");
    *out = makeModule(*context, table, nullptr);
    return RNN_OK;
  });
}

void rnn_module_destroy(rnn_module* module) { delete module; }

rnn_status rnn_module_describe(const rnn_module* module, const rnn_signature** out) {
  return guarded([&] {
    if (!module || !out) {
      invalid("rnn_module_describe: argument `{}` is null", module ? "out" : "module");
    }
    *out = &module->state->signature;
    return RNN_OK;
  });
}
