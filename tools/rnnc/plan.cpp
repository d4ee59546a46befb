// rnnc plan: bytes and time of a training step, before there is one.
#include "files.h"
#include "memory_plan.h"
#include "verbs.h"

#include <fmt/format.h>

using namespace rnnc;
using namespace rnnc::tool;

int rnnc::tool::runPlan(const Options& options) {
  Console console(options);
  Source source(options, console);
  Solver solver(console);
  if (int status = source.load())
    return status;
  source.takeGradients();
  std::unique_ptr<CompiledCell> compiled;
  if (int status = source.compile(computeType(options), compiled, /*isRun=*/false))
    return status;
  if (int status = solver.create(std::move(compiled)))
    return status;
  MemoryPlan plan;
  if (int status = planMemory(options, console, solver, plan))
    return status;
  if (!options.plot.empty())
    if (int status = writeText(console, options.plot, plotFrontier(solver.table().cell, plan)))
      return status;
  if (options.json)
    fmt::print("{}", dumpJson(memoryPlanJson(options, solver, plan)));
  else
    printMemoryPlan(options, solver, plan);
  return kFine;
}
