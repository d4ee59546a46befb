#include "bench_gradients.h"

#include "bug.h"
#include "memory_plan.h"
#include "progress.h"

#include "core/elements.hpp"
#include "data/Random.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

using Choice = rnn_training_choice;

constexpr int kBudgets = 12, kLeastTurns = 3;

/// A level, and what its calls took.
struct Level {
  Choice choice{};
  PlanPtr plan;
  std::vector<double> seconds;
  double median() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? NAN : sorted[sorted.size() / 2];
  }
  double bytes() const { return double(choice.workspace) + double(choice.reserve); }
};

class GradientBench {
public:
  explicit GradientBench(const Options& options)
      : options(options), console(options), source(options, console), solver(console) {}
  int run();

private:
  int prepare();
  int listLevels();
  int addLevel(const Choice& choice);
  int makeArrays();
  int addArray(std::vector<rnn_tensor>& to, const rnn_tensor& shape, bool isFilled);
  int call(Level& level, bool isCounted);
  int measure();
  double worstOfBudgets() const;
  void print() const;
  Json json() const;

  const Options& options;
  Console console;
  Source source;
  Solver solver;
  MemoryPlan memory;
  CallData data;
  std::vector<Level> levels;
  std::vector<data::HostArray> arrays;
  std::vector<rnn_tensor> args, grads;
  data::HostArray workspace, reserve;
};

} // namespace

/// What is not the caller's: states that nobody asks for are not kept by him either.
static bool isWanted(const rnn_arg_desc& arg, const rnn_module_table& table) {
  const rnn_role role = table.tensor[arg.tensor].role;
  const bool hasOutputs = std::any_of(table.tensor, table.tensor + table.tensors,
                                      [](auto& t) { return t.role == RNN_ROLE_OUTPUT; });
  return arg.kind == RNN_ARG_SEQUENCE && (role == RNN_ROLE_OUTPUT || !hasOutputs);
}

int GradientBench::prepare() {
  if (options.device == Device::Cuda)
    return console.error("--gradients: only on the CPU so far", "leave --device out", kFailure);
  if (int status = checkSupported(options, console))
    return status;
  if (int status = source.load())
    return status;
  source.takeGradients();
  std::unique_ptr<CompiledCell> compiled;
  if (int status = source.compile(computeType(options), compiled))
    return status;
  if (int status = solver.create(std::move(compiled)))
    return status;
  if (int status = gatherData(options, console, solver.table(), data))
    return status;
  if (int status = planMemory(options, console, solver, memory))
    return status;
  if (int status = listLevels())
    return status;
  return makeArrays();
}

int GradientBench::addLevel(const Choice& choice) {
  Level level{choice, nullptr, {}};
  rnn_plan_options plan = planOptions(options);
  plan.training = choice.training;
  plan.checkpoint = choice.checkpoint;
  plan.window = choice.window;
  if (int status = solver.plan(plan, data.sizes, level.plan))
    return status;
  rnn_plan_info info{};
  info.size = sizeof(info);
  size_t workspaceBytes = 0, reserveBytes = 0;
  rnn_plan_describe(level.plan.get(), &info);
  rnn_plan_sizes(level.plan.get(), &workspaceBytes, &reserveBytes, nullptr);
  level.choice.window = info.window;
  level.choice.workspace = workspaceBytes;
  level.choice.reserve = reserveBytes;
  levels.push_back(std::move(level));
  return kFine;
}

/// Every choice that is faster than all smaller ones, as estimated; L1 always.
int GradientBench::listLevels() {
  double least = INFINITY;
  for (const Choice& choice : memory.frontier) {
    const double bytes = double(choice.workspace) + double(choice.reserve);
    const bool isAll = choice.training == RNN_TRAINING_L1;
    if ((bytes >= least || options.checkpoint) && !isAll)
      continue;
    least = std::min(least, bytes);
    if (int status = addLevel(choice))
      return status;
  }
  return options.checkpoint
             ? addLevel({sizeof(Choice), RNN_TRAINING_L2, options.checkpoint, 0, 0, 0, 0})
             : kFine;
}

int GradientBench::addArray(std::vector<rnn_tensor>& to, const rnn_tensor& shape, bool isFilled) {
  auto array = data::allocate(storageType(options), {shape.shape, shape.shape + shape.rank});
  if (!array)
    return console.error(array.error().text);
  // The system gives memory when it is first written: that belongs to getting it.
  std::fill(array->bytes.begin(), array->bytes.end(), std::byte{0});
  if (isFilled)
    if (auto drawn =
            data::randomArray({"", data::Distribution::Normal, 0, 1, INFINITY}, options.seed,
                              storageType(options), {shape.shape, shape.shape + shape.rank}))
      *array = std::move(*drawn);
  arrays.push_back(std::move(*array));
  rnn_tensor tensor = shape;
  tensor.data = arrays.back().bytes.data();
  constexpr rnn_dtype types[] = {RNN_F32, RNN_F64, RNN_BF16, RNN_F16}; // as data::DType has them
  tensor.dtype = types[static_cast<int>(storageType(options))];
  to.push_back(tensor);
  return kFine;
}

int GradientBench::makeArrays() {
  const rnn_signature& signature = solver.arguments();
  std::vector<rnn_tensor> shapes(signature.args);
  if (rnn_plan_args(levels.front().plan.get(), shapes.data()) != RNN_OK)
    return reportBug(console, "the arrays of the plan cannot be described");
  arrays.reserve(2 * size_t(signature.args));
  for (uint32_t i = 0; i < signature.args; ++i) {
    const rnn_arg_desc& arg = signature.arg[i];
    const bool isGiven = arg.kind == RNN_ARG_INPUT || arg.kind == RNN_ARG_PARAM;
    const auto& bound = data.tensors[arg.tensor].array;
    if (isGiven && bound) {
      args.push_back(shapes[i]);
      args.back().data = const_cast<std::byte*>(bound->bytes.data());
      constexpr rnn_dtype types[] = {RNN_F32, RNN_F64, RNN_BF16, RNN_F16};
      args.back().dtype = types[static_cast<int>(bound->dtype)];
    } else {
      args.push_back({});
    }
    if (isGiven || isWanted(arg, solver.table())) {
      if (int status = addArray(grads, shapes[i], !isGiven))
        return status;
    } else {
      grads.push_back({});
    }
  }
  double most = 0, kept = 0;
  for (const Level& level : levels) {
    most = std::max(most, double(level.choice.workspace));
    kept = std::max(kept, double(level.choice.reserve));
  }
  for (auto [bytes, room] : {std::pair(most, &workspace), std::pair(kept, &reserve)}) {
    auto array = data::allocate(data::DType::F64, {static_cast<int64_t>(bytes / 8) + 1});
    if (!array)
      return console.error("the workspace: " + array.error().text);
    std::fill(array->bytes.begin(), array->bytes.end(), std::byte{0});
    *room = std::move(*array);
  }
  return kFine;
}

int GradientBench::call(Level& level, bool isCounted) {
  auto start = std::chrono::steady_clock::now();
  const bool ok = rnn_forward(level.plan.get(), args.data(), workspace.bytes.data(),
                              reserve.bytes.data(), nullptr) == RNN_OK &&
                  rnn_backward(level.plan.get(), args.data(), grads.data(), workspace.bytes.data(),
                               reserve.bytes.data(), nullptr) == RNN_OK;
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (isCounted)
    level.seconds.push_back(taken.count());
  return ok ? kFine : console.error(solver.errorText());
}

/// The levels take turns, so that a machine that slows down slows all of them.
int GradientBench::measure() {
  for (Level& level : levels)
    if (int status = call(level, false))
      return status;
  std::atomic<double> far = 0;
  Progress progress("measuring", [&far] { return far.load(); });
  double spent = 0;
  const int64_t turns = options.repeat;
  for (int64_t turn = 0; turns ? turn < turns : turn < kLeastTurns || spent < options.seconds;
       ++turn) {
    for (Level& level : levels) {
      if (int status = call(level, true))
        return status;
      spent += level.seconds.back();
    }
    far = turns ? double(turn + 1) / double(turns) : std::min(1.0, spent / options.seconds);
  }
  return kFine;
}

/// How much slower than the best that fits, as measured, the chosen one is; the worst of budgets
/// from the least to the most that anything takes.
double GradientBench::worstOfBudgets() const {
  double least = INFINITY, most = 0, worst = 1;
  for (const Level& level : levels) {
    least = std::min(least, level.bytes());
    most = std::max(most, level.bytes());
  }
  for (int i = 0; i < kBudgets; ++i) {
    const double budget = least * std::pow(most / least, i / (kBudgets - 1.0)) + 1;
    const Level* chosen = nullptr;
    double best = INFINITY;
    for (const Level& level : levels) {
      if (level.bytes() > budget)
        continue;
      best = std::min(best, level.median());
      if (!chosen || level.choice.seconds < chosen->choice.seconds)
        chosen = &level;
    }
    worst = std::max(worst, chosen->median() / best);
  }
  return worst;
}

static const Level& all(const std::vector<Level>& levels) {
  return *std::find_if(levels.begin(), levels.end(),
                       [](const Level& level) { return level.choice.training == RNN_TRAINING_L1; });
}

void GradientBench::print() const {
  printLine("cell", fmt::format("{} of {}", source.cellName(), options.file));
  printLine("sizes", sizesText(data.sizes));
  const Level& one = all(levels);
  printLine("L1", fmt::format("{} for forward and backward, median of {}",
                              secondsText(one.median()), one.seconds.size()));
  fmt::print("\n  bytes/L1's  time/L1's  estimated  keeps\n");
  for (const Level& level : levels)
    fmt::print("  {:<11.4f} {:<10.3f} {:<10.3f} {}\n", level.bytes() / one.bytes(),
               level.median() / one.median(), level.choice.seconds / one.choice.seconds,
               choiceText(level.choice));
  if (options.checkpoint)
    return;
  fmt::print("\n");
  printLine("budgets",
            fmt::format("of {} the chosen level takes at most {:.2f} times as long as the "
                        "best that fits",
                        kBudgets, worstOfBudgets()));
}

Json GradientBench::json() const {
  Json json = sizesJson(data.sizes);
  json["cell"] = source.cellName();
  json["file"] = options.file;
  json["threads"] = options.threads;
  json["worst_of_budgets"] = worstOfBudgets();
  json["levels"] = Json::array();
  const Level& one = all(levels);
  for (const Level& level : levels)
    json["levels"].push_back({{"keeps", choiceText(level.choice)},
                              {"workspace_bytes", level.choice.workspace},
                              {"reserve_bytes", level.choice.reserve},
                              {"median_seconds", level.median()},
                              {"time_over_l1", level.median() / one.median()},
                              {"estimate_over_l1", level.choice.seconds / one.choice.seconds}});
  return json;
}

int GradientBench::run() {
  if (int status = prepare())
    return status;
  if (int status = measure())
    return status;
  if (options.json)
    fmt::print("{}", dumpJson(json()));
  else
    print();
  return kFine;
}

int rnnc::tool::runGradientBench(const Options& options) { return GradientBench(options).run(); }
