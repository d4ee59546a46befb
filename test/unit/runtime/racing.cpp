// A program with a race of its own: two threads call with one workspace, which rnn.h forbids.
#include "harness.hpp"

#include <thread>

using namespace rnnc::test;

int main(int count, char** arguments) {
  const std::string kind = count > 1 ? arguments[1] : "";
  Table table(cellNamed("paragru"));
  ModuleHandle module(table.get());
  const rnn_dim_value dim{"d", 20};
  rnn_plan_options options = planOptions();
  if (kind != "sequential") {
    options = optionsFor({RNN_SCHEDULE_PARALLEL,
                          kind == "chunks" ? RNN_VECTOR_CHUNKS : RNN_VECTOR_LANES, RNN_TILES_AUTO},
                         8);
  }
  options.dims = 1;
  options.dim = &dim;
  options.batch = 1;
  options.time = 2000;
  options.threads = 2;
  rnn_plan* plan = nullptr;
  if (rnn_plan_create(module.module, &options, &plan) != RNN_OK) {
    return 0; // told as a race that was not reported
  }
  size_t bytes = 0;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  Workspace workspace(bytes);
  const rnn_signature* signature = nullptr;
  rnn_module_describe(module.module, &signature);
  std::vector<rnn_tensor> args(signature->args);
  rnn_plan_args(plan, args.data());
  std::vector<float> numbers(2000 * 20, .5f);
  for (uint32_t i = 0; i < signature->args; ++i) {
    const rnn_arg_kind kind = signature->arg[i].kind;
    args[i].data = kind == RNN_ARG_INPUT || kind == RNN_ARG_PARAM ? numbers.data() : nullptr;
  }
  const auto call = [&] { rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr); };
  std::thread other(call);
  call();
  other.join();
  rnn_plan_destroy(plan);
  return 0;
}
