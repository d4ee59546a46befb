// rnnc run: compile for this machine and run on data.
#include "files.h"
#include "interpret.h"
#include "output_files.h"
#include "progress.h"
#include "report.h"
#include "source.h"
#include "verbs.h"

#include <fmt/ranges.h>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

class Runner {
public:
  Runner(const Options& options, const Console& console)
      : options(options), console(console), source(options, console), solver(console) {}
  int run();

private:
  int solve();
  int verify();
  std::string errorOf(const Call& failed) const;
  int writeReport(rnn_status status);
  void print() const;
  Json json(rnn_status status) const;

  const Options& options;
  const Console& console;
  Source source;
  Solver solver;
  CallData data;
  Call call;
  std::optional<Difference> difference;
  double sequentialSeconds = 0;
  std::vector<std::string> written;
};

} // namespace

int Runner::solve() {
  if (int status = solver.prepare(planOptions(options), data, storageType(options), call))
    return status;
  if (options.device == Device::Interpreter)
    return interpret(console, source, data, storageType(options), call);
  rnn_status status;
  {
    // Nobody sees how far a device is.
    Progress progress(
        "solving", options.device == Device::Cuda ? std::function<double()>()
                                                  : [this] { return call.progress(); });
    status = call.run();
  }
  if (status == RNN_NOT_CONVERGED) {
    std::string text = errorOf(call);
    if (int failed = writeReport(status))
      return failed;
    if (options.json)
      fmt::print("{}", dumpJson(json(status)));
    return console.error(text, call.report().unsolved_step >= 0
                                   ? "a shorter time step, or equations that have a solution there"
                                   : "a larger --max-sweeps, a larger --tolerance, or a longer "
                                     "--chunk");
  }
  return status == RNN_OK ? kFine : console.error(errorOf(call));
}

std::string Runner::errorOf(const Call& failed) const {
  return failed.deviceError().empty() ? solver.errorText() : failed.deviceError();
}

int Runner::verify() {
  Call other;
  if (int status = solver.prepare(sequentialOptions(options), data, storageType(options), other))
    return status;
  Progress progress("solving sequentially", [&other] { return other.progress(); });
  if (other.run() != RNN_OK)
    return console.error(errorOf(other));
  sequentialSeconds = other.seconds();
  difference = compareResults(call, other);
  return kFine;
}

Json Runner::json(rnn_status status) const {
  Json json{{"cell", source.cellName()}, {"file", options.file}};
  json["device"] = options.device == Device::Cuda          ? "cuda"
                   : options.device == Device::Interpreter ? "interpreter"
                                                           : "cpu";
  if (options.device == Device::Cuda)
    json["device_name"] = solver.deviceText();
  json.update(sizesJson(data.sizes));
  json["dtype"] = data::dtypeName(storageType(options));
  json["compute"] = dtypeName(computeType(options));
  const rnn_module_table& table = solver.table();
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (const Bound& bound = data.tensors[i]; bound.array)
      json["arrays"][table.tensor[i].name] = {{"shape", bound.array->shape}, {"from", bound.from}};
  json["schedule"] = scheduleName(call.info().schedule);
  json["plan"] = planJson(call.info());
  json["converged"] = status == RNN_OK;
  json["report"] = reportJson(call.report());
  json["seconds"] = call.seconds();
  json["steps_per_second"] = laneSteps(call.info(), data.sizes) / call.seconds();
  json["compile_seconds"] = solver.compiled().compileSeconds();
  json["kernels"] = solver.compiled().compiledKernels();
  if (difference)
    json["verify"] = {{"largest_difference", difference->largest},
                      {"bitwise_equal", difference->same},
                      {"sequential_seconds", sequentialSeconds}};
  json["outputs"] = written;
  return json;
}

int Runner::writeReport(rnn_status status) {
  if (options.report.empty())
    return kFine;
  return writeText(console, options.report, dumpJson(json(status)));
}

void Runner::print() const {
  printLine("cell", fmt::format("{} of {}", source.cellName(), options.file));
  printLine("sizes", sizesText(data.sizes));
  const rnn_module_table& table = solver.table();
  const char* head = "arrays";
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (const Bound& bound = data.tensors[i]; bound.array) {
      printLine(head, fmt::format("{} {} {}, {}", table.tensor[i].name, shapeText(*bound.array),
                                  data::dtypeName(bound.array->dtype), bound.from));
      head = "";
    }
  if (!data.drawn.empty())
    printLine("drawn", fmt::format("{}: not given, so from normal(0,0.3) with seed {}",
                                   fmt::join(data.drawn, ", "), options.seed));
  if (options.device == Device::Cuda)
    printLine("device", solver.deviceText());
  if (options.device == Device::Interpreter)
    printLine("device", "the float64 interpreter, one step after the other");
  else
    printLine("schedule", planText(call.info()));
  if (call.report().tiles)
    printLine("sweeps", sweepsText(call.report()));
  if (call.report().first_nonfinite >= 0)
    printLine("not finite",
              fmt::format("from step {} on a state is inf or NaN; the sequential loop "
                          "gives the same",
                          call.report().first_nonfinite));
  printLine("time",
            fmt::format("{}, {} steps/s; {} kernels compiled in {}", secondsText(call.seconds()),
                        countText(laneSteps(call.info(), data.sizes) / call.seconds()),
                        solver.compiled().compiledKernels(),
                        secondsText(solver.compiled().compileSeconds())));
  if (difference)
    printLine("verify", fmt::format("{}; the sequential run took {}",
                                    difference->same
                                        ? "bit for bit the sequential run"
                                        : fmt::format("largest difference from the sequential run "
                                                      "{:.3g} of 1 + |value|",
                                                      difference->largest),
                                    secondsText(sequentialSeconds)));
  for (const std::string& line : written)
    printLine("output", line);
  if (!options.report.empty())
    printLine("report", options.report);
}

int Runner::run() {
  if (int status = solver.open(options, source))
    return status;
  if (int status = gatherData(options, console, solver.table(), data))
    return status;
  if (int status = checkOutputs(options, console, solver.table(), data.sizes))
    return status;
  if (int status = solve())
    return status;
  if (options.verify)
    if (int status = verify())
      return status;
  if (int status = writeOutputs(options, console, call, data, written))
    return status;
  if (int status = writeReport(RNN_OK))
    return status;
  if (options.json)
    fmt::print("{}", dumpJson(json(RNN_OK)));
  else
    print();
  if (difference && !difference->same && options.tolerance == 0)
    return console.error("the result is not the sequential one bit for bit, at tolerance 0");
  return kFine;
}

int rnnc::tool::runRun(const Options& options) {
  Console console(options);
  return Runner(options, console).run();
}
