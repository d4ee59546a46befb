// rnnc bench: calls of the chosen schedule and of the other one, in turn, in one run; or of a
// packed batch and of a dense one with as many steps.
#include "bench_gradients.h"
#include "progress.h"
#include "report.h"
#include "source.h"
#include "verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

constexpr int kWarmUp = 1;
constexpr size_t kLeastCalls = 5, kMostCalls = 1000;

/// Seconds of one call, of many.
struct Timing {
  std::vector<double> seconds;

  /// Nearest rank.
  double quantile(double q) const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    size_t rank = static_cast<size_t>(q * static_cast<double>(sorted.size()));
    return sorted[std::min(rank, sorted.size() - 1)];
  }
  double median() const { return quantile(0.5); }
};

class Bench {
public:
  Bench(const Options& options, const Console& console)
      : options(options), console(console), source(options, console), solver(console) {}
  int run();

private:
  int prepare();
  int preparePacked();
  int measure();
  int call(Call& call, Timing* timing);
  Json stats(const Call& call, const Timing& timing) const;
  Json json() const;
  void print() const;
  bool isParallel() const { return chosen.info().schedule == RNN_SCHEDULE_PARALLEL; }
  /// The sequential schedule is compared with the parallel one only where the choice was ours.
  bool compares() const {
    return isPacked() || isParallel() ||
           (options.schedule == RNN_SCHEDULE_AUTO && solver.table().system[0].carry > 0 &&
            !solver.table().system[0].diagonal);
  }
  /// Of a call, packed or not.
  double laneSteps() const {
    return tool::laneSteps(isPacked() ? other.info() : chosen.info(), data.sizes);
  }
  bool isPacked() const { return options.segments > 0; }
  /// How many times the sequential speed the parallel schedule has, or the packed batch the dense
  /// one's.
  double ratio() const {
    double speed = otherTiming.median() / chosenTiming.median();
    return isPacked() || isParallel() ? speed : 1 / speed;
  }

  const Options& options;
  const Console& console;
  Source source;
  Solver solver;
  CallData data, packed;
  std::vector<int64_t> offsets; ///< of the packed batch
  Call chosen, other;
  Timing chosenTiming, otherTiming;
};

} // namespace

int Bench::prepare() {
  if (int status = solver.open(options, source))
    return status;
  if (int status = gatherData(options, console, solver.table(), data))
    return status;
  if (isPacked())
    return preparePacked();
  if (int status = solver.prepare(planOptions(options), data, storageType(options), chosen))
    return status;
  if (!compares())
    return kFine;
  rnn_plan_options plan = isParallel() ? sequentialOptions(options) : planOptions(options);
  plan.schedule = isParallel() ? RNN_SCHEDULE_SEQUENTIAL : RNN_SCHEDULE_PARALLEL;
  return solver.prepare(plan, data, storageType(options), other);
}

/// Offsets of `segments` sequences of uneven lengths, half to one and a half times the mean.
static std::vector<int64_t> drawOffsets(int64_t segments, int64_t steps, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> ends{0};
  for (int64_t i = 0; i < segments; ++i)
    ends.push_back(ends.back() + 0.5 + std::ldexp(static_cast<double>(random() >> 11), -53));
  std::vector<int64_t> offsets;
  for (double end : ends)
    offsets.push_back(std::llround(end / ends.back() * static_cast<double>(steps)));
  return offsets;
}

/// The same numbers as one row of steps, cut elsewhere.
int Bench::preparePacked() {
  packed = data;
  packed.sizes.batch = 1;
  packed.sizes.time = data.sizes.batch * data.sizes.time;
  for (uint32_t i = 0; i < solver.table().tensors; ++i)
    if (solver.table().tensor[i].role == RNN_ROLE_INPUT && packed.tensors[i].array) {
      packed.tensors[i].array->shape[0] = 1;
      packed.tensors[i].array->shape[1] = packed.sizes.time;
    }
  offsets = drawOffsets(options.segments, packed.sizes.time, options.seed);
  rnn_plan_options plan = planOptions(options);
  plan.segments = options.segments;
  plan.segment_offsets = offsets.data();
  plan.offset_bits = 64;
  if (int status = solver.prepare(plan, packed, storageType(options), chosen))
    return status;
  return solver.prepare(planOptions(options), data, storageType(options), other);
}

int Bench::call(Call& call, Timing* timing) {
  rnn_status status = call.run();
  if (status != RNN_OK)
    return console.error(solver.errorText());
  if (timing)
    timing->seconds.push_back(call.seconds());
  return kFine;
}

/// The two schedules take turns, so that a machine that slows down slows both.
int Bench::measure() {
  for (int i = 0; i < kWarmUp; ++i) {
    if (int status = call(chosen, nullptr))
      return status;
    if (compares())
      if (int status = call(other, nullptr))
        return status;
  }
  std::atomic<double> far = 0;
  Progress progress("measuring", [&far] { return far.load(); });
  double spent = 0;
  auto enough = [&] {
    size_t calls = chosenTiming.seconds.size();
    return options.repeat
               ? calls >= static_cast<size_t>(options.repeat)
               : calls >= kMostCalls || (calls >= kLeastCalls && spent >= options.seconds);
  };
  while (!enough()) {
    auto calls = static_cast<double>(chosenTiming.seconds.size());
    far = options.repeat
              ? calls / static_cast<double>(options.repeat)
              : std::min({spent / std::max(options.seconds, 1e-9), calls / kLeastCalls, 1.});
    if (int status = call(chosen, &chosenTiming))
      return status;
    spent += chosen.seconds();
    if (!compares())
      continue;
    if (int status = call(other, &otherTiming))
      return status;
    spent += other.seconds();
  }
  return kFine;
}

Json Bench::stats(const Call& call, const Timing& timing) const {
  double median = timing.median();
  return {{"schedule", scheduleName(call.info().schedule)},
          {"median_seconds", median},
          {"p50_seconds", timing.quantile(0.50)},
          {"p95_seconds", timing.quantile(0.95)},
          {"p99_seconds", timing.quantile(0.99)},
          {"steps_per_second", laneSteps() / median},
          {"calls", timing.seconds.size()},
          {"plan", planJson(call.info())},
          {"report", reportJson(call.report())}};
}

Json Bench::json() const {
  Json json = stats(chosen, chosenTiming);
  json["cell"] = source.cellName();
  json["file"] = options.file;
  json["device"] = "cpu";
  json.update(sizesJson(data.sizes));
  json["dtype"] = data::dtypeName(storageType(options));
  json["compute"] = dtypeName(computeType(options));
  json["threads"] = options.threads;
  json["seed"] = options.seed;
  json["compile_seconds"] = solver.compiled().compileSeconds();
  if (isPacked())
    json["segments"] = options.segments;
  if (compares()) {
    json["other"] = stats(other, otherTiming);
    json[isPacked() ? "packed_over_dense" : "parallel_over_sequential"] = ratio();
  }
  return json;
}

void Bench::print() const {
  printLine("cell", fmt::format("{} of {}", source.cellName(), options.file));
  printLine("sizes", sizesText(data.sizes));
  auto line = [&](const Call& call, const Timing& timing) {
    printLine("schedule", planText(call.info()));
    if (call.report().tiles)
      printLine("sweeps", sweepsText(call.report()));
    printLine("a call",
              fmt::format("median {}, p95 {}, p99 {} of {} calls; {} steps/s",
                          secondsText(timing.median()), secondsText(timing.quantile(0.95)),
                          secondsText(timing.quantile(0.99)), timing.seconds.size(),
                          countText(laneSteps() / timing.median())));
  };
  line(chosen, chosenTiming);
  if (!compares())
    return;
  line(other, otherTiming);
  printLine("ratio",
            fmt::format("{} times the {} speed, in turns in one run",
                        isPacked() ? fmt::format("{} segments of uneven lengths have {:.2f}",
                                                 options.segments, ratio())
                                   : fmt::format("parallel has {:.2f}", ratio()),
                        isPacked() ? "dense" : "sequential"));
}

int Bench::run() {
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

int rnnc::tool::runBench(const Options& options) {
  if (options.gradients)
    return runGradientBench(options);
  Console console(options);
  return Bench(options, console).run();
}
