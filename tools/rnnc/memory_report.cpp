#include "memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

using Choice = rnn_training_choice;

std::string bytesText(double bytes) {
  if (bytes < 1024)
    return fmt::format("{:.0f} B", bytes);
  const char* const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = -1;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

const char* levelName(rnn_training level) {
  return level == RNN_TRAINING_L1 ? "L1" : level == RNN_TRAINING_L2 ? "L2" : "L3";
}

bool isSame(const Choice& a, const Choice& b) {
  return a.training == b.training && a.checkpoint == b.checkpoint && a.window == b.window;
}

/// Equal choices of the layers, counted.
std::vector<std::pair<int64_t, Choice>> groups(const MemoryPlan& plan) {
  std::vector<std::pair<int64_t, Choice>> all;
  for (const Choice& choice : plan.chosen) {
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const auto& group) { return isSame(group.second, choice); });
    if (known == all.end())
      all.emplace_back(1, choice);
    else
      ++known->first;
  }
  return all;
}

std::string peakText(const MemoryPlan& plan) {
  const bool hasReserve = plan.reserveBytes() > 0;
  return plan.layers == 1 ? std::string("while rnn_backward runs")
         : hasReserve     ? std::string("while rnn_backward of the last layer runs: all reserves "
                                        "are full, and the layers share one workspace")
                          : std::string("while rnn_backward of any layer runs");
}

void printArrays(const char* word, const std::vector<ArrayBytes>& arrays) {
  for (const ArrayBytes& array : arrays) {
    printLine(word, fmt::format("{:<10} {}{}{}", bytesText(array.bytes), array.name,
                                array.name.empty() ? "" : ", ", array.what));
    word = "";
  }
}

void printModel(const Options& options, const MemoryPlan& plan) {
  printLine("model", fmt::format("{} parameters, {}, {}", countText(plan.parameters),
                                 options.precision == Precision::Mixed ? "mixed precision" : "f32",
                                 options.optimizer == Optimizer::Adam ? "Adam" : "SGD"));
  fmt::print(
      "\n  ZeRO  parameters  gradients  optimizer  master     buffers    a rank     sent a step\n");
  for (int stage = 0; stage <= (options.ranks > 1 ? 3 : 0); ++stage) {
    const ModelMemory m = modelMemory(plan.parameters, plan.layers, options, stage);
    fmt::print("  {:<5} {:<11} {:<10} {:<10} {:<10} {:<10} {:<10} {}\n", stage,
               bytesText(m.parameters), bytesText(m.gradients), bytesText(m.optimizer),
               bytesText(m.master), bytesText(m.buffers), bytesText(m.sum()), bytesText(m.moved));
  }
}

void printFrontier(const MemoryPlan& plan) {
  const double least = plan.frontier.front().seconds, n = static_cast<double>(plan.layers);
  fmt::print("\n  level  K        window     reserve    workspace  together   time\n");
  for (const Choice& c : plan.frontier) {
    const double reserve = n * static_cast<double>(c.reserve);
    const bool isChosen = std::any_of(plan.chosen.begin(), plan.chosen.end(),
                                      [&](const Choice& chosen) { return isSame(chosen, c); });
    fmt::print("{} {:<6} {:<8} {:<10} {:<10} {:<10} {:<10} {:.2f}\n", isChosen ? '*' : ' ',
               levelName(c.training), c.checkpoint ? std::to_string(c.checkpoint) : "-",
               c.window ? std::to_string(c.window) : "-", bytesText(reserve),
               bytesText(static_cast<double>(c.workspace)),
               bytesText(reserve + static_cast<double>(c.workspace)),
               least > 0 ? c.seconds / least : 1);
  }
  if (plan.layers > 1)
    fmt::print("  √N     inputs of every {}th layer kept      {:<10} {:.2f}\n",
               static_cast<int64_t>(std::ceil(std::sqrt(n))), bytesText(plan.rootBytes),
               least > 0 ? plan.rootSeconds / (n * least) : 1);
}

Json arraysJson(const std::vector<ArrayBytes>& arrays) {
  Json json = Json::array();
  for (const ArrayBytes& array : arrays)
    json.push_back({{"name", array.name}, {"what", array.what}, {"bytes", int64_t(array.bytes)}});
  return json;
}

Json choiceJson(const Choice& choice) {
  return {{"level", levelName(choice.training)},
          {"checkpoint", choice.checkpoint},
          {"window", choice.window},
          {"workspace_bytes", choice.workspace},
          {"reserve_bytes", choice.reserve},
          {"estimated_seconds", choice.seconds}};
}

Json modelJson(const Options& options, const MemoryPlan& plan) {
  Json stages = Json::array();
  for (int stage = 0; stage <= 3; ++stage) {
    const ModelMemory m = modelMemory(plan.parameters, plan.layers, options, stage);
    stages.push_back({{"zero", stage},
                      {"parameter_bytes", int64_t(m.parameters)},
                      {"gradient_bytes", int64_t(m.gradients)},
                      {"master_bytes", int64_t(m.master)},
                      {"optimizer_bytes", int64_t(m.optimizer)},
                      {"buffer_bytes", int64_t(m.buffers)},
                      {"sent_bytes", int64_t(m.moved)}});
  }
  return {{"parameters", int64_t(plan.parameters)},
          {"precision", options.precision == Precision::Mixed ? "mixed" : "f32"},
          {"optimizer", options.optimizer == Optimizer::Adam ? "adam" : "sgd"},
          {"ranks", options.ranks},
          {"stages", stages}};
}

} // namespace

std::string rnnc::tool::choiceText(const Choice& choice) {
  std::string text = levelName(choice.training);
  if (choice.checkpoint == 0)
    return text + (choice.training == RNN_TRAINING_L1 ? ", all states" : ", nothing; solved again");
  return text +
         fmt::format(", states every {} steps, windows of {}", choice.checkpoint, choice.window);
}

void rnnc::tool::printMemoryPlan(const Options& options, const Solver& solver,
                                 const MemoryPlan& plan) {
  printLine("cell", solver.table().cell);
  printLine("sizes", fmt::format("{}{}", sizesText(plan.sizes),
                                 plan.layers > 1 ? fmt::format(", {} layers", plan.layers) : ""));
  if (options.memoryBudget)
    printLine("budget", bytesText(static_cast<double>(*options.memoryBudget)));
  const char* word = "keeps";
  for (const auto& [count, choice] : groups(plan)) {
    printLine(word, (plan.layers > 1 ? fmt::format("{} layers ", count) : "") + choiceText(choice));
    word = "";
  }
  printLine("reserve",
            bytesText(plan.reserveBytes()) + (plan.layers > 1 ? "; of the last layer:" : ""));
  printArrays("", plan.reserve);
  printLine("workspace", bytesText(plan.workspaceBytes()));
  printLine("peak", fmt::format("{}, {}", bytesText(plan.peakBytes()), peakText(plan)));
  printLine("caller", fmt::format("{} of arrays beside that{}", bytesText(plan.callerBytes()),
                                  plan.layers > 1 ? "; of each layer:" : ":"));
  printArrays("", plan.caller);
  printLine("recomputed", fmt::format("{:.0f} % of a step (estimate)", 100 * plan.recomputed()));
  if (options.memoryBudget)
    printLine("largest", fmt::format("T = {} at this batch, B = {} at this time", plan.largestTime,
                                     plan.largestBatch));
  printModel(options, plan);
  printFrontier(plan);
}

Json rnnc::tool::memoryPlanJson(const Options& options, const Solver& solver,
                                const MemoryPlan& plan) {
  Json json = sizesJson(plan.sizes);
  json["cell"] = solver.table().cell;
  json["layers"] = plan.layers;
  json["compute"] = dtypeName(computeType(options));
  if (options.memoryBudget)
    json["memory_budget"] = *options.memoryBudget;
  json["reserve_bytes"] = int64_t(plan.reserveBytes());
  json["workspace_bytes"] = int64_t(plan.workspaceBytes());
  json["peak_bytes"] = int64_t(plan.peakBytes());
  json["peak_at"] = peakText(plan);
  json["caller_bytes"] = int64_t(plan.callerBytes());
  json["recomputed"] = plan.recomputed();
  json["keeps"] = Json::array();
  for (const auto& [count, choice] : groups(plan)) {
    Json group = choiceJson(choice);
    group["layers"] = count;
    json["keeps"].push_back(group);
  }
  json["reserve"] = arraysJson(plan.reserve);
  json["caller"] = arraysJson(plan.caller);
  json["choices"] = Json::array();
  for (const Choice& choice : plan.frontier)
    json["choices"].push_back(choiceJson(choice));
  if (plan.layers > 1)
    json["root_rule"] = {{"peak_bytes", int64_t(plan.rootBytes)},
                         {"estimated_seconds", plan.rootSeconds}};
  if (options.memoryBudget) {
    json["largest_time"] = plan.largestTime;
    json["largest_batch"] = plan.largestBatch;
  }
  json["model"] = modelJson(options, plan);
  return json;
}
