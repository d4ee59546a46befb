#include "memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

using Choice = rnn_training_choice;

class MemoryPlanner {
public:
  MemoryPlanner(const Options& options, const Console& console, const Solver& solver,
                MemoryPlan& plan)
      : options(options), console(console), solver(solver), table(solver.table()), plan(plan) {}
  int run();

private:
  /// Of other sizes than those of the plan: `batch` and `time`.
  int choices(int64_t batch, int64_t time, std::vector<Choice>& out) const;
  template <typename Use>
  int withOptions(int64_t batch, int64_t time, const Use& use) const;
  int choose();
  void listReserve();
  void listCaller();
  void takeRoot();
  void dropBeaten();
  int findLargest();
  template <typename Fits>
  int64_t largest(int64_t known, const Fits& fits) const;
  double elements(const rnn_tensor_desc& tensor) const;
  double itemBytes() const { return computeType(options) == RNN_F64 ? 8 : 4; }
  double steps() const {
    return static_cast<double>(plan.sizes.batch) * static_cast<double>(plan.sizes.time);
  }

  const Options& options;
  const Console& console;
  const Solver& solver;
  const rnn_module_table& table;
  MemoryPlan& plan;
};

double bytesOf(const Choice& choice, int64_t layers) {
  return static_cast<double>(layers) * static_cast<double>(choice.reserve) +
         static_cast<double>(choice.workspace);
}

} // namespace

double MemoryPlan::reserveBytes() const {
  double sum = 0;
  for (const Choice& choice : chosen)
    sum += static_cast<double>(choice.reserve);
  return sum;
}

double MemoryPlan::workspaceBytes() const {
  double most = 0;
  for (const Choice& choice : chosen)
    most = std::max(most, static_cast<double>(choice.workspace));
  return most;
}

double MemoryPlan::callerBytes() const {
  double sum = 0;
  for (const ArrayBytes& array : caller)
    sum += array.bytes;
  return sum * static_cast<double>(layers);
}

double MemoryPlan::seconds() const {
  double sum = 0;
  for (const Choice& choice : chosen)
    sum += choice.seconds;
  return sum;
}

double MemoryPlan::recomputed() const {
  double all = 0; // of L1
  for (const Choice& choice : frontier)
    if (choice.training == RNN_TRAINING_L1)
      all = choice.seconds;
  const double least = static_cast<double>(layers) * all;
  return seconds() > 0 ? std::max(0.0, 1 - least / seconds()) : 0;
}

template <typename Use>
int MemoryPlanner::withOptions(int64_t batch, int64_t time, const Use& use) const {
  rnn_plan_options fixed = planOptions(options);
  std::vector<rnn_dim_value> dims;
  for (auto& [name, size] : plan.sizes.dims)
    dims.push_back({name.c_str(), size});
  fixed.dims = dims.size();
  fixed.dim = dims.data();
  fixed.batch = batch;
  fixed.time = time;
  rnn_status status = use(fixed);
  return status == RNN_OK ? kFine : console.error(solver.errorText());
}

int MemoryPlanner::choices(int64_t batch, int64_t time, std::vector<Choice>& out) const {
  return withOptions(batch, time, [&](const rnn_plan_options& fixed) {
    uint32_t count = 0;
    rnn_status status = rnn_training_choices(solver.handle(), &fixed, nullptr, &count);
    out.resize(count);
    if (status != RNN_OK || count == 0)
      return status;
    out.front().size = sizeof(Choice);
    return rnn_training_choices(solver.handle(), &fixed, out.data(), &count);
  });
}

int MemoryPlanner::choose() {
  plan.chosen.resize(static_cast<size_t>(plan.layers));
  plan.chosen.front().size = sizeof(Choice);
  return withOptions(plan.sizes.batch, plan.sizes.time, [&](const rnn_plan_options& fixed) {
    const std::vector<rnn_layer> layers(plan.chosen.size(), {solver.handle(), &fixed});
    const uint64_t budget = options.memoryBudget ? uint64_t(*options.memoryBudget) : UINT64_MAX / 2;
    return rnn_stack_choose(layers.data(), layers.size(), budget, plan.chosen.data());
  });
}

double MemoryPlanner::elements(const rnn_tensor_desc& tensor) const {
  double product = 1;
  for (int64_t size : tensorShape(tensor, plan.sizes))
    product *= static_cast<double>(size);
  return product;
}

/// What lies in the reserve of the last layer, whose backward call comes first.
void MemoryPlanner::listReserve() {
  const Choice& choice = plan.chosen.back();
  double listed = 0;
  for (uint32_t i = 0; i < table.tensors && choice.reserve > 0; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[i];
    double times = 0; // of its elements
    if (tensor.role == RNN_ROLE_STATE)
      times = choice.checkpoint == 0
                  ? steps()
                  : static_cast<double>(plan.sizes.batch) *
                        static_cast<double>((plan.sizes.time - 1) / choice.checkpoint);
    else if (choice.checkpoint == 0 && tensor.role == RNN_ROLE_HOISTED)
      times = steps();
    else if (choice.checkpoint == 0 && tensor.role == RNN_ROLE_DERIVED)
      times = 1;
    if (times == 0)
      continue;
    const char* what = tensor.role == RNN_ROLE_STATE     ? "state"
                       : tensor.role == RNN_ROLE_HOISTED ? "of a stage"
                                                         : "of the params";
    plan.reserve.push_back({tensor.name, what, times * elements(tensor) * itemBytes()});
    listed += plan.reserve.back().bytes;
  }
  if (static_cast<double>(choice.reserve) > listed)
    plan.reserve.push_back(
        {"", "alignment and addresses", static_cast<double>(choice.reserve) - listed});
}

/// Inputs, what the cell is for (its outputs, else its states), and the derivatives by both.
void MemoryPlanner::listCaller() {
  const double item = storageType(options) == data::DType::F64   ? 8
                      : storageType(options) == data::DType::F32 ? 4
                                                                 : 2;
  const bool hasOutputs = std::any_of(table.tensor, table.tensor + table.tensors,
                                      [](auto& t) { return t.role == RNN_ROLE_OUTPUT; });
  for (uint32_t i = 0; i < table.tensors; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[i];
    const bool isResult = hasOutputs ? tensor.role == RNN_ROLE_OUTPUT
                                     : tensor.role == RNN_ROLE_STATE && !tensor.hidden;
    if (tensor.role != RNN_ROLE_INPUT && !isResult)
      continue;
    const double bytes = steps() * elements(tensor) * item;
    const char* what = isResult ? "result" : "input";
    plan.caller.push_back({tensor.name, what, bytes});
    plan.caller.push_back({std::string("d ") + tensor.name, what, bytes});
  }
}

/// The usual rule for a stack (Chen et al. 2016): keep what goes into every √N-th layer, and run
/// the layers between again, with all that L1 keeps of them.
void MemoryPlanner::takeRoot() {
  const Choice& all = plan.frontier.front();
  const double n = static_cast<double>(plan.layers), each = std::ceil(std::sqrt(n));
  double inputs = 0;
  for (const ArrayBytes& array : plan.caller)
    if (array.what == "input" && !array.name.starts_with("d "))
      inputs += array.bytes;
  plan.rootBytes = std::ceil(n / each) * inputs + each * static_cast<double>(all.reserve) +
                   static_cast<double>(all.workspace);
  const Choice* again = nullptr; // its forward call is L3's second one
  for (const Choice& choice : plan.frontier)
    if (choice.training == RNN_TRAINING_L3 && choice.checkpoint == 0)
      again = &choice;
  plan.rootSeconds = n * (again ? again->seconds : all.seconds);
}

/// What is both slower and larger than another choice, with one workspace for all layers, is no use
/// but where it was chosen; L1 is what the others are compared with.
void MemoryPlanner::dropBeaten() {
  double least = INFINITY;
  std::erase_if(plan.frontier, [&](const Choice& choice) {
    const double bytes = bytesOf(choice, plan.layers);
    const bool isBeaten = bytes >= least, isAll = choice.training == RNN_TRAINING_L1;
    least = std::min(least, bytes);
    return isBeaten && !isAll && std::none_of(plan.chosen.begin(), plan.chosen.end(), [&](auto& c) {
             return c.training == choice.training && c.checkpoint == choice.checkpoint &&
                    c.window == choice.window;
           });
  });
}

/// The largest size from `known` on, or below it, that fits; as exact as one part in a hundred.
template <typename Fits>
int64_t MemoryPlanner::largest(int64_t known, const Fits& fits) const {
  constexpr int64_t kMost = int64_t(1) << 40;
  int64_t low = 0, high = std::max<int64_t>(known, 1);
  while (high < kMost && fits(high)) {
    low = high;
    high *= 4;
  }
  while (high - low > std::max<int64_t>(1, low / 100)) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

int MemoryPlanner::findLargest() {
  if (!options.memoryBudget)
    return kFine;
  int status = kFine;
  auto fits = [&](int64_t batch, int64_t time) {
    std::vector<Choice> all;
    if (status)
      return false;
    status = choices(batch, time, all);
    return std::any_of(all.begin(), all.end(), [&](const Choice& choice) {
      return bytesOf(choice, plan.layers) <= static_cast<double>(*options.memoryBudget);
    });
  };
  plan.largestTime =
      largest(plan.sizes.time, [&](int64_t time) { return fits(plan.sizes.batch, time); });
  plan.largestBatch =
      largest(plan.sizes.batch, [&](int64_t batch) { return fits(batch, plan.sizes.time); });
  return status;
}

int MemoryPlanner::run() {
  plan.layers = options.layers;
  if (int status = bindSizes(options, console, table, plan.sizes))
    return status;
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (table.tensor[i].role == RNN_ROLE_PARAM)
      plan.parameters += static_cast<double>(plan.layers) * elements(table.tensor[i]);
  if (int status = choices(plan.sizes.batch, plan.sizes.time, plan.frontier))
    return status;
  if (int status = choose())
    return status;
  listReserve();
  listCaller();
  takeRoot();
  dropBeaten();
  return findLargest();
}

int rnnc::tool::planMemory(const Options& options, const Console& console, const Solver& solver,
                           MemoryPlan& plan) {
  return MemoryPlanner(options, console, solver, plan).run();
}
