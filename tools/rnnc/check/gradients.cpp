// Gradients: compiled against interpreted, against differences, and every schedule against the
// sequential one.
#include "check.h"
#include "dims.h"
#include "handles.h"
#include "oracle.h"
#include "probe.h"
#include "variants.h"

#include "core/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace rnnc;
using namespace rnnc::check;

namespace {

/// As derived gradients, in the oracle's own words.
struct Oracle {
  Oracle(const Subject& subject, const CallBuffers& call)
      : table(*subject.f64->table()), arguments(call, table, 0, subject.seed), shape(call.shape()) {
    for (const auto& argument : call.arguments)
      if (runtime::isResult(argument.desc.kind)) {
        Array given{argument.shape, argument.gradient};
        (argument.desc.kind == RNN_ARG_FINAL ? upstream.finals
                                             : upstream.sequences)[nameOf(argument)] = given;
      }
  }

  std::string nameOf(const CallBuffers::Argument& argument) const {
    return table.tensor[argument.desc.tensor].name;
  }
  /// Of an argument that is no result.
  Arrays& arrayOf(const CallBuffers::Argument& argument) {
    return argument.desc.kind == RNN_ARG_INPUT   ? arguments.inputs
           : argument.desc.kind == RNN_ARG_PARAM ? arguments.params
                                                 : arguments.initial;
  }

  const rnn_module_table& table;
  InterpreterCall arguments;
  Interpreter::Result upstream;
  CallShape shape;
};

const Array& gradientOf(const Interpreter::Gradients& gradients, rnn_arg_kind kind,
                        const std::string& name) {
  return kind == RNN_ARG_INPUT   ? gradients.inputs.at(name)
         : kind == RNN_ARG_PARAM ? gradients.params.at(name)
                                 : gradients.initial.at(name);
}

bool isMade(const CallBuffers::Argument& argument) {
  return !runtime::isResult(argument.desc.kind);
}

/// In float64: a drawn call and its gradients by the sequential schedule.
std::optional<std::string> solve(rnn_context* context, CallBuffers& call, const Subject& subject) {
  call.drawGradients(subject.seed);
  rnn_plan_options options = call.options(RNN_F64);
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;
  return call.runBackward(context, options);
}

Row compareWithAdjoint(rnn_context* context, const Subject& subject, int64_t lanes, int64_t time) {
  constexpr double kBound = 1e-10;
  Row row{"gradients, interpreter", fmt::format("T = {}", time), "", false};
  CallBuffers call(*subject.f64, subject, lanes, time);
  if (auto error = solve(context, call, subject)) {
    row.result = *error;
    return row;
  }
  Oracle oracle(subject, call);
  auto interpreter = Interpreter::create(subject.cell, dimsOf(subject.cell, call.shape().dims));
  auto expected = interpreter
                      ? interpreter->backward(oracle.shape.batch, time, oracle.arguments.inputs,
                                              oracle.arguments.params, oracle.arguments.initial,
                                              oracle.upstream)
                      : llvm::Expected<Interpreter::Gradients>(interpreter.takeError());
  if (!expected) {
    row.result = llvm::toString(expected.takeError());
    return row;
  }
  double worst = 0;
  for (const auto& argument : call.arguments) {
    if (!isMade(argument))
      continue;
    const std::string name = oracle.nameOf(argument);
    const Array& right = gradientOf(*expected, argument.desc.kind, name);
    for (size_t i = 0; i < argument.gradient.size(); ++i) {
      const double far = distance(argument.gradient[i], right.data[i]);
      worst = std::max(worst, std::isnan(far) ? INFINITY : far);
      if (!(far <= kBound) && row.result.empty())
        row.result = fmt::format("d loss / d {}, element {}: {}, the interpreter gives {}", name, i,
                                 argument.gradient[i], right.data[i]);
    }
  }
  row.passed = row.result.empty();
  if (row.passed)
    row.result = fmt::format("{:.1e} at most, {:.0e} allowed", worst, kBound);
  return row;
}

/// What the interpreter runs, as one number: the results weighted by their drawn derivatives.
class Loss {
public:
  Loss(const Interpreter& interpreter, Oracle& oracle) : interpreter(interpreter), oracle(oracle) {}

  /// NaN where the interpreter could not run.
  double operator()() const {
    auto result = interpreter.run(oracle.shape.batch, oracle.shape.time, oracle.arguments.inputs,
                                  oracle.arguments.params, oracle.arguments.initial);
    if (!result) {
      llvm::consumeError(result.takeError());
      return NAN;
    }
    double sum = 0;
    for (auto [weights, values] : {std::pair(&oracle.upstream.sequences, &result->sequences),
                                   std::pair(&oracle.upstream.finals, &result->finals)})
      for (auto& [name, array] : *weights)
        for (size_t i = 0; i < array.data.size(); ++i)
          sum += array.data[i] * values->at(name).data[i];
    return sum;
  }

private:
  const Interpreter& interpreter;
  Oracle& oracle;
};

Measured measure(const Loss& loss, double& x) {
  const double here = x;
  auto at = [&](double to) {
    x = to;
    return loss();
  };
  auto difference = [&](double h) {
    return fourthOrder(at(here + h), at(here - h), at(here + 2 * h), at(here - 2 * h), h);
  };
  Measured measured{difference(kWide), difference(kNarrow)};
  measured.noise = 4 * std::fabs(at(here)) * 0x1p-52 / kNarrow;
  x = here;
  return measured;
}

Row compareWithDifferences(rnn_context* context, const Subject& subject) {
  constexpr int64_t kLanes = 2, kTime = 3;
  constexpr size_t kElements = 12; // of an array: a run of the interpreter costs eight of them each
  Row row{"gradients, differences", fmt::format("T = {}", kTime), "", false};
  CallBuffers call(*subject.f64, subject, kLanes, kTime);
  if (auto error = solve(context, call, subject)) {
    row.result = *error;
    return row;
  }
  Oracle oracle(subject, call);
  auto interpreter = Interpreter::create(subject.cell, dimsOf(subject.cell, call.shape().dims));
  if (!interpreter) {
    row.result = llvm::toString(interpreter.takeError());
    return row;
  }
  const Loss loss(*interpreter, oracle);
  double worst = 0;
  size_t compared = 0, unmeasured = 0;
  for (const auto& argument : call.arguments) {
    if (!isMade(argument) || argument.values.empty())
      continue;
    Array& array = oracle.arrayOf(argument).at(oracle.nameOf(argument));
    const size_t apart = std::max<size_t>(1, array.data.size() / kElements);
    for (size_t i = 0; i < array.data.size(); i += apart) {
      const auto measured = measure(loss, array.data[i]).value();
      if (!measured) {
        ++unmeasured;
        continue;
      }
      ++compared;
      const double far = distance(argument.gradient[i], *measured);
      worst = std::max(worst, far);
      if (!(far <= kDerivativeTolerance) && row.result.empty())
        row.result = fmt::format("d loss / d {}, element {}: {}, differences give {}",
                                 oracle.nameOf(argument), i, argument.gradient[i], *measured);
    }
  }
  row.unmeasured = compared < unmeasured;
  row.passed = row.result.empty() && !row.unmeasured;
  if (row.result.empty())
    row.result = fmt::format("{:.1e} at most in {} numbers{}", worst, compared,
                             unmeasured ? fmt::format(", {} not measured", unmeasured) : "");
  return row;
}

constexpr int64_t kTimes[] = {1, 2, 17, 257}, kLanes[] = {1, 3, 67}, kChunks[] = {3, 16, 0}; // 0: T
constexpr int64_t kQuickTimes[] = {2, 257}, kQuickLanes[] = {3, 67}, kQuickChunks[] = {16};

const Shapes kShapes{kTimes, kLanes, kChunks};
const Shapes kQuickShapes{kQuickTimes, kQuickLanes, kQuickChunks};

Row compareSchedules(rnn_context* context, const Subject& subject, rnn_dtype type,
                     const Variant& variant) {
  const CompiledCell& cell = type == RNN_F64 ? *subject.f64 : *subject.f32;
  Row row{type == RNN_F64 ? "gradients, f64" : "gradients, f32", variant.name, "", false};
  double worst = 0;
  int64_t solves = 0;
  const Shapes shapes = subject.isQuick ? kQuickShapes : kShapes;
  for (int64_t time : shapes.times)
    for (int64_t lanes : shapes.lanes) {
      CallBuffers sequential(cell, subject, lanes, time);
      sequential.drawGradients(subject.seed);
      const CallBuffers drawn = sequential;
      rnn_plan_options options = sequential.options(type);
      options.schedule = RNN_SCHEDULE_SEQUENTIAL;
      auto problem = sequential.runBackward(context, options);
      for (int64_t chunk : shapes.chunks) {
        CallBuffers parallel = drawn;
        options.schedule = RNN_SCHEDULE_PARALLEL;
        options.vector = variant.vector;
        options.tiles = variant.tiles;
        options.chunk = chunk ? chunk : time;
        if (!problem)
          problem = parallel.runBackward(context, options);
        if (!problem)
          problem = firstGradientDifference(parallel, sequential, *cell.table(), type, worst);
        if (problem) {
          row.result =
              fmt::format("T = {}, {} lanes, C = {}: {}", time, lanes, options.chunk, *problem);
          return row;
        }
        ++solves;
      }
    }
  row.passed = true;
  row.result = fmt::format("{} solves, bit for bit the sequential ones; of params {:.1e} apart",
                           solves, worst);
  return row;
}

struct Level {
  rnn_training training;
  int64_t checkpoint;
};
constexpr Level kLevels[] = {
    {RNN_TRAINING_L2, 100}, {RNN_TRAINING_L2, 64}, {RNN_TRAINING_L3, 100}, {RNN_TRAINING_L3, 0}};

/// What is kept changes no bit. Two windows, and tiles that fill them.
Row compareLevels(rnn_context* context, const Subject& subject, rnn_schedule schedule) {
  constexpr int64_t kTime = 300, kLanes = 3, kChunk = 16, kChunks = 8;
  Row row{"gradients, levels", schedule == RNN_SCHEDULE_PARALLEL ? "parallel" : "sequential", "",
          false};
  CallBuffers all(*subject.f64, subject, kLanes, kTime);
  all.drawGradients(subject.seed);
  for (auto& argument : all.arguments) // states that the caller has need not be solved again
    if (argument.desc.kind == RNN_ARG_SEQUENCE &&
        subject.f64->table()->tensor[argument.desc.tensor].role == RNN_ROLE_STATE)
      argument.values.clear();
  const CallBuffers drawn = all;
  rnn_plan_options options = all.options(RNN_F64);
  options.schedule = schedule;
  options.tolerance = 0;
  if (schedule == RNN_SCHEDULE_PARALLEL) {
    options.tiles = RNN_TILES_SEQUENCE;
    options.chunk = kChunk;
    options.chunks = kChunks;
  }
  auto problem = all.runBackward(context, options);
  for (const Level& level : subject.isQuick ? llvm::ArrayRef(kLevels).take_front() : kLevels) {
    CallBuffers call = drawn;
    options.training = level.training;
    options.checkpoint = level.checkpoint;
    options.window = level.checkpoint;
    double apart = 0;
    if (!problem)
      problem = call.runBackward(context, options);
    if (!problem)
      problem = firstGradientDifference(call, all, *subject.f64->table(), RNN_F64, apart);
    if (!problem && apart > 0)
      problem = fmt::format("params have other bits, {:.1e} apart", apart);
    if (!problem)
      problem = firstDifference(call, all, *subject.f64->table(), RNN_F64);
    if (problem) {
      row.result = fmt::format("L{}, K = {}: {}", int(level.training), level.checkpoint, *problem);
      return row;
    }
  }
  row.passed = true;
  row.result = "L2 and L3 as L1, bit for bit";
  return row;
}

} // namespace

/// Of params: how far apart two orders of addition may be.
static double boundOf(rnn_dtype type) { return type == RNN_F64 ? 1e-12 : 2e-4; }

std::optional<std::string> rnnc::check::firstGradientDifference(const CallBuffers& a,
                                                                const CallBuffers& b,
                                                                const rnn_module_table& table,
                                                                rnn_dtype type, double& worst) {
  for (size_t n = 0; n < a.arguments.size(); ++n) {
    const auto &x = a.arguments[n], &y = b.arguments[n];
    const bool isParam = x.desc.kind == RNN_ARG_PARAM;
    for (size_t i = 0; isMade(x) && i < x.gradient.size(); ++i) {
      const double p = x.gradient[i], q = y.gradient[i];
      const double far = distance(p, q);
      const bool same =
          p == q ? std::signbit(p) == std::signbit(q) : std::isnan(p) && std::isnan(q);
      if (isParam ? far <= boundOf(type) : same) {
        worst = std::max(worst, isParam ? far : 0);
        continue;
      }
      return fmt::format("d loss / d {} differs first at element {}: {} and {}",
                         table.tensor[x.desc.tensor].name, i, p, q);
    }
  }
  return std::nullopt;
}

Rows rnnc::check::checkGradients(const Subject& subject) {
  ContextPtr context = makeContext();
  if (!context)
    return {{"gradients", "", "no context", false}};
  Rows rows;
  const rnn_module_table& table = *subject.f64->table();
  for (int64_t time : {1, 2, 8})
    rows.push_back(compareWithAdjoint(context.get(), subject, 5, time));
  rows.push_back(compareWithDifferences(context.get(), subject));
  rows.push_back(compareLevels(context.get(), subject, RNN_SCHEDULE_SEQUENTIAL));
  for (uint32_t s = 0; s < table.systems; ++s)
    if (table.system[s].carry == 0)
      return rows; // sequential only
  rows.push_back(compareLevels(context.get(), subject, RNN_SCHEDULE_PARALLEL));
  for (rnn_dtype type : {RNN_F32, RNN_F64})
    for (const Variant& variant : kVariants)
      if (type == RNN_F64 || !subject.isQuick)
        rows.push_back(compareSchedules(context.get(), subject, type, variant));
  return rows;
}
