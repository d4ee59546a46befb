// Packed batches, reset masks and reversed time against calls of each sequence by itself.
#include "check.h"
#include "handles.h"
#include "probe.h"

#include "core/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace rnnc;
using namespace rnnc::check;

namespace {

/// Sequences of 17, 0, 33 and 1 steps.
constexpr int64_t kOffsets[] = {0, 17, 17, 50, 51};
constexpr int64_t kSegments = std::size(kOffsets) - 1;
constexpr int64_t kSteps = kOffsets[kSegments];
constexpr int64_t kLanes = 5, kChunk = 4;

/// Which numbers of an argument.
enum class Of { Values, Gradient };

/// What calls are compared by.
enum class Way { Forward, Backward };

class Sequences {
public:
  Sequences(rnn_context* context, const Subject& subject, rnn_dtype type, Way way)
      : context(context), subject(subject), type(type), way(way),
        cell(type == RNN_F64 ? *subject.f64 : *subject.f32) {
    if (buffers(1, 0).shape().batch >
        1) // there is no free lane axis, and a packed batch is one row
      lanes = 1;
  }

  using Proof = std::optional<std::string> (Sequences::*)(rnn_schedule);
  std::optional<std::string> packed(rnn_schedule schedule);
  std::optional<std::string> resets(rnn_schedule schedule);
  std::optional<std::string> reversed(rnn_schedule schedule);
  /// By every schedule that the cell has.
  std::optional<std::string> inEverySchedule(Proof proof);

private:
  CallBuffers buffers(int64_t time, int64_t segments) const {
    CallBuffers call(cell, subject, lanes, time, segments);
    if (way == Way::Backward)
      call.drawGradients(subject.seed);
    return call;
  }
  std::optional<std::string> run(CallBuffers& call, const rnn_plan_options& options) const {
    return way == Way::Backward ? call.runBackward(context, options) : call.run(context, options);
  }
  std::optional<std::string> difference(const CallBuffers& a, const CallBuffers& b) const {
    double apart = 0;
    auto problem = firstDifference(a, b, *cell.table(), type);
    return problem || way == Way::Forward
               ? problem
               : firstGradientDifference(a, b, *cell.table(), type, apart);
  }
  rnn_plan_options options(const CallBuffers& call, rnn_schedule schedule) const {
    rnn_plan_options options = call.options(type);
    options.schedule = schedule;
    if (schedule == RNN_SCHEDULE_PARALLEL)
      options.chunk = kChunk;
    return options;
  }
  /// `count` rows of time, or of sequences.
  void copyRows(Of of, const CallBuffers::Argument& from, int64_t fromRow,
                CallBuffers::Argument& to, int64_t toRow, int64_t count) const;
  std::optional<std::string> alone(const CallBuffers& whole, int64_t segment, bool hasInitial,
                                   CallBuffers& result, int64_t finalRow);

  rnn_context* context;
  const Subject& subject;
  rnn_dtype type;
  Way way;
  const CompiledCell& cell;
  int64_t lanes = kLanes;
};

} // namespace

static bool isSequence(rnn_arg_kind kind) {
  return kind == RNN_ARG_INPUT || kind == RNN_ARG_SEQUENCE;
}

void Sequences::copyRows(Of of, const CallBuffers::Argument& from, int64_t fromRow,
                         CallBuffers::Argument& to, int64_t toRow, int64_t count) const {
  const bool isGradient = of == Of::Gradient;
  const auto& source = isGradient ? from.gradient : from.values;
  auto& target = isGradient ? to.gradient : to.values;
  if (source.empty() || target.empty() || count == 0)
    return;
  int64_t fromRows = from.shape[isSequence(from.desc.kind) ? 1 : 0];
  int64_t each = static_cast<int64_t>(source.size()) / std::max<int64_t>(fromRows, 1);
  std::copy_n(source.begin() + fromRow * each, count * each, target.begin() + toRow * each);
  const auto& rawSource = isGradient ? from.rawGradient : from.raw;
  auto& rawTarget = isGradient ? to.rawGradient : to.raw;
  if (rawSource.empty() || rawTarget.empty())
    return;
  int64_t bytes = each * runtime::elementSize(type);
  std::copy_n(rawSource.begin() + fromRow * bytes, count * bytes,
              rawTarget.begin() + toRow * bytes);
}

/// Calls segment number `segment` of `whole` by itself and puts its results where they belong. The
/// gradients of params add up.
std::optional<std::string> Sequences::alone(const CallBuffers& whole, int64_t segment,
                                            bool hasInitial, CallBuffers& result,
                                            int64_t finalRow) {
  int64_t first = kOffsets[segment], steps = kOffsets[segment + 1] - first;
  CallBuffers one = buffers(steps, 0);
  for (size_t i = 0; i < one.arguments.size(); ++i) {
    CallBuffers::Argument& argument = one.arguments[i];
    const CallBuffers::Argument& from = whole.arguments[i];
    const int64_t row = from.shape.empty() || from.shape[0] <= 1 ? 0 : segment;
    switch (argument.desc.kind) {
    case RNN_ARG_PARAM:
      argument.values = from.values;
      break;
    case RNN_ARG_INPUT:
      copyRows(Of::Values, from, first, argument, 0, steps);
      break;
    case RNN_ARG_INITIAL:
      if (hasInitial)
        copyRows(Of::Values, from, row, argument, 0, 1);
      else
        argument.values.clear();
      break;
    case RNN_ARG_SEQUENCE:
      copyRows(Of::Gradient, from, first, argument, 0, steps);
      break;
    case RNN_ARG_FINAL:
      if (finalRow >= 0)
        copyRows(Of::Gradient, from, row, argument, 0, 1);
      else
        std::ranges::fill(argument.gradient, 0);
      break;
    }
  }
  if (auto error = run(one, options(one, RNN_SCHEDULE_SEQUENTIAL)))
    return error;
  for (size_t i = 0; i < one.arguments.size(); ++i) {
    CallBuffers::Argument& to = result.arguments[i];
    const CallBuffers::Argument& from = one.arguments[i];
    const int64_t row = to.shape.empty() || to.shape[0] <= 1 ? 0 : segment;
    switch (to.desc.kind) {
    case RNN_ARG_SEQUENCE:
      copyRows(Of::Values, from, 0, to, first, steps);
      break;
    case RNN_ARG_FINAL:
      if (finalRow >= 0)
        copyRows(Of::Values, from, 0, to, finalRow, 1);
      break;
    case RNN_ARG_INPUT:
      copyRows(Of::Gradient, from, 0, to, first, steps);
      break;
    case RNN_ARG_INITIAL:
      if (hasInitial)
        copyRows(Of::Gradient, from, 0, to, row, 1);
      break;
    case RNN_ARG_PARAM:
      for (size_t n = 0; n < to.gradient.size(); ++n)
        to.gradient[n] = (segment == 0 ? 0 : to.gradient[n]) + from.gradient[n];
      break;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Sequences::packed(rnn_schedule schedule) {
  CallBuffers call = buffers(kSteps, kSegments);
  rnn_plan_options packed = options(call, schedule);
  packed.segments = kSegments;
  packed.segment_offsets = kOffsets;
  packed.offset_bits = 64;
  if (auto error = run(call, packed))
    return error;
  CallBuffers expected = call;
  for (int64_t segment = 0; segment < kSegments; ++segment)
    if (auto error = alone(call, segment, true, expected, segment))
      return error;
  return difference(call, expected);
}

std::optional<std::string> Sequences::resets(rnn_schedule schedule) {
  CallBuffers call = buffers(kSteps, 0);
  call.reset.assign(kSteps, 0);
  for (int64_t begin : kOffsets)
    if (begin > 0 && begin < kSteps)
      call.reset[begin] = 1;
  rnn_plan_options masked = options(call, schedule);
  masked.reset = 1;
  if (auto error = run(call, masked))
    return error;
  CallBuffers expected = call;
  for (int64_t segment = 0; segment < kSegments; ++segment)
    if (auto error =
            alone(call, segment, segment == 0, expected, segment == kSegments - 1 ? 0 : -1))
      return error;
  return difference(call, expected);
}

std::optional<std::string> Sequences::reversed(rnn_schedule schedule) {
  CallBuffers call = buffers(kSteps, 0), expected = call;
  auto turn = [&](Of of, rnn_arg_kind kind) {
    for (CallBuffers::Argument& argument : expected.arguments) {
      const CallBuffers::Argument old = argument;
      for (int64_t t = 0; argument.desc.kind == kind && t < kSteps; ++t)
        copyRows(of, old, kSteps - 1 - t, argument, t, 1);
    }
  };
  auto turnAll = [&] {
    for (rnn_arg_kind kind : {RNN_ARG_INPUT, RNN_ARG_SEQUENCE})
      for (Of of : {Of::Values, Of::Gradient})
        turn(of, kind);
  };
  rnn_plan_options backwards = options(call, schedule);
  backwards.reversed = 1;
  if (auto error = run(call, backwards))
    return error;
  turnAll();
  if (auto error = run(expected, options(expected, RNN_SCHEDULE_SEQUENTIAL)))
    return error;
  turnAll();
  return difference(call, expected);
}

std::optional<std::string> Sequences::inEverySchedule(Proof proof) {
  const rnn_system_desc& system = cell.table()->system[0];
  for (rnn_schedule schedule : {RNN_SCHEDULE_SEQUENTIAL, RNN_SCHEDULE_PARALLEL}) {
    if (schedule == RNN_SCHEDULE_PARALLEL && system.carry == 0 && !system.diagonal)
      continue;
    if (auto problem = (this->*proof)(schedule))
      return fmt::format("{}: {}", schedule == RNN_SCHEDULE_SEQUENTIAL ? "sequential" : "parallel",
                         *problem);
  }
  return std::nullopt;
}

Rows rnnc::check::checkSegments(const Subject& subject) {
  ContextPtr context = makeContext();
  if (!context)
    return {{"segments", "", "no context", false}};
  Rows rows;
  auto add = [&](rnn_dtype type, Way way) {
    const CompiledCell* cell = type == RNN_F64 ? subject.f64 : subject.f32;
    if (!cell || (way == Way::Backward && !cell->table()->adjoint))
      return;
    Sequences sequences(context.get(), subject, type, way);
    auto prove = [&](const char* check, const char* what, Sequences::Proof proof) {
      auto problem = sequences.inEverySchedule(proof);
      rows.push_back({fmt::format("{}{}, {}", way == Way::Backward ? "gradients, " : "", check,
                                  type == RNN_F64 ? "f64" : "f32"),
                      what, problem ? *problem : "bit for bit calls of each alone", !problem});
    };
    prove("packed batch", "four sequences, one of them empty", &Sequences::packed);
    prove("resets", "begins in the middle", &Sequences::resets);
    prove("reversed", "from the last step to the first", &Sequences::reversed);
  };
  for (rnn_dtype type : {RNN_F32, RNN_F64})
    add(type, Way::Forward);
  add(RNN_F64, Way::Backward);
  return rows;
}
