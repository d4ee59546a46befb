// rnnc explain: what was derived about a cell, or the long text of a message's code.
#include "console.h"
#include "solver.h"
#include "source.h"
#include "verbs.h"

#include "Analysis/Explain.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

bool looksLikeCode(const std::string& text) {
  return text.size() == 7 && (text.rfind("RNN", 0) == 0 || text.rfind("rnn", 0) == 0) &&
         text.find_first_not_of("0123456789", 3) == std::string::npos;
}

int explainCode(const std::string& code, const Console& console) {
  const CodeText* found = findCode(code);
  if (!found)
    return console.error(fmt::format("there is no message {}", code));
  fmt::print("{}: {}\n\n{}\n", found->code, found->title, found->text);
  return kFine;
}

/// The plan for the shape that was asked for, or the defaults of `run`.
struct Planned {
  rnn_plan_info info{};
  int64_t batch, time;
  std::string dims;
};

int planFor(const Options& options, rnn_dtype compute, const Solver& solver, Planned& planned) {
  planned.batch = options.batch.value_or(8);
  planned.time = options.time.value_or(4096);
  const rnn_module_table& table = solver.table();
  std::map<std::string, int64_t> sizes;
  for (uint32_t t = 0; t < table.tensors; ++t)
    for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
      if (table.tensor[t].sizes[a] < 0)
        sizes[table.tensor[t].dims[a]] = 256;
  std::vector<rnn_dim_value> values;
  for (const auto& [name, size] : sizes) {
    values.push_back({name.c_str(), size});
    planned.dims += fmt::format(", {} {}", name, size);
  }
  rnn_plan_options request = planOptions(options);
  request.dims = values.size();
  request.dim = values.data();
  request.batch = planned.batch;
  request.time = planned.time;
  request.compute = compute;
  PlanPtr plan;
  if (int status = solver.plan(request, plan))
    return status;
  planned.info.size = sizeof planned.info;
  rnn_plan_describe(plan.get(), &planned.info);
  return kFine;
}

std::string scheduleText(const Planned& planned) {
  const rnn_plan_info& info = planned.info;
  std::string text = fmt::format("schedule for batch {}, time {}{}\n  ", planned.batch,
                                 planned.time, planned.dims);
  if (info.schedule == RNN_SCHEDULE_SEQUENTIAL)
    text += fmt::format("sequential: {} lanes in {} vectors of {} columns", info.lanes, info.groups,
                        info.width);
  else
    text += fmt::format(
        "parallel: {} in vectors of {} columns, {} chunks of {} steps a tile, tiles "
        "in {}; tolerance {:.2g}",
        info.vector == RNN_VECTOR_CHUNKS ? "chunks" : "lanes", info.width, info.chunks, info.chunk,
        info.tiles == RNN_TILES_PARALLEL ? "parallel" : "sequence", info.tolerance);
  if (info.seconds_sequential > 0)
    text += fmt::format("\n  estimates: sequential {}", secondsText(info.seconds_sequential));
  if (info.seconds_parallel > 0)
    text += fmt::format(", parallel {}", secondsText(info.seconds_parallel));
  return text + "\n";
}

} // namespace

int rnnc::tool::runExplain(const Options& options) {
  Console console(options);
  if (looksLikeCode(options.file))
    return explainCode(options.file, console);
  if (int status = checkSupported(options, console))
    return status;
  Source source(options, console);
  if (int status = source.load())
    return status;
  rnn_dtype compute = computeType(options);
  mlir::OwningOpRef<mlir::ModuleOp> newton;
  std::unique_ptr<CompiledCell> compiled;
  if (int status = source.lower(compute, newton))
    return status;
  if (int status = source.compile(compute, compiled))
    return status;
  nlohmann::json systems = nlohmann::json::array();
  for (auto cell : newton->getOps<newton::CellOp>())
    for (auto system : cell.ops<newton::SystemOp>()) {
      std::string text = explainSystem(system);
      systems.push_back({{"system", system.getSymName().str()}, {"text", text}});
      if (!options.json)
        fmt::print("{}\n{}", system.getSymName().str(), text);
    }
  Solver solver(console);
  Planned planned;
  if (int status = solver.create(std::move(compiled)))
    return status;
  if (int status = planFor(options, compute, solver, planned))
    return status;
  if (options.json)
    fmt::print("{}\n", nlohmann::json{{"cell", source.cellName()},
                                      {"systems", systems},
                                      {"schedule", scheduleText(planned)}}
                           .dump(2));
  else
    fmt::print("{}", scheduleText(planned));
  return kFine;
}
