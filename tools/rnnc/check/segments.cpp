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

class Sequences {
public:
  Sequences(rnn_context* context, const Subject& subject, rnn_dtype type)
      : context(context), subject(subject), type(type),
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
    return CallBuffers(cell, subject, lanes, time, segments);
  }
  rnn_plan_options options(const CallBuffers& call, rnn_schedule schedule) const {
    rnn_plan_options options = call.options(type);
    options.schedule = schedule;
    if (schedule == RNN_SCHEDULE_PARALLEL)
      options.chunk = kChunk;
    return options;
  }
  /// `count` rows of time, or of sequences.
  void copyRows(const CallBuffers::Argument& from, int64_t fromRow, CallBuffers::Argument& to,
                int64_t toRow, int64_t count) const;
  std::optional<std::string> alone(const CallBuffers& whole, int64_t segment, bool hasInitial,
                                   CallBuffers& result, int64_t finalRow);

  rnn_context* context;
  const Subject& subject;
  rnn_dtype type;
  const CompiledCell& cell;
  int64_t lanes = kLanes;
};

} // namespace

static bool isSequence(rnn_arg_kind kind) {
  return kind == RNN_ARG_INPUT || kind == RNN_ARG_SEQUENCE;
}

void Sequences::copyRows(const CallBuffers::Argument& from, int64_t fromRow,
                         CallBuffers::Argument& to, int64_t toRow, int64_t count) const {
  if (from.values.empty() || to.values.empty() || count == 0)
    return;
  int64_t fromRows = from.shape[isSequence(from.desc.kind) ? 1 : 0];
  int64_t each = static_cast<int64_t>(from.values.size()) / std::max<int64_t>(fromRows, 1);
  std::copy_n(from.values.begin() + fromRow * each, count * each, to.values.begin() + toRow * each);
  if (from.raw.empty() || to.raw.empty())
    return;
  int64_t bytes = each * runtime::elementSize(type);
  std::copy_n(from.raw.begin() + fromRow * bytes, count * bytes, to.raw.begin() + toRow * bytes);
}

/// Calls segment number `segment` of `whole` by itself and puts its results where they belong.
std::optional<std::string> Sequences::alone(const CallBuffers& whole, int64_t segment,
                                            bool hasInitial, CallBuffers& result,
                                            int64_t finalRow) {
  int64_t first = kOffsets[segment], steps = kOffsets[segment + 1] - first;
  CallBuffers one = buffers(steps, 0);
  for (size_t i = 0; i < one.arguments.size(); ++i) {
    CallBuffers::Argument& argument = one.arguments[i];
    const CallBuffers::Argument& from = whole.arguments[i];
    if (argument.desc.kind == RNN_ARG_PARAM)
      argument.values = from.values;
    else if (argument.desc.kind == RNN_ARG_INPUT)
      copyRows(from, first, argument, 0, steps);
    else if (argument.desc.kind == RNN_ARG_INITIAL && !hasInitial)
      argument.values.clear();
    else if (argument.desc.kind == RNN_ARG_INITIAL)
      copyRows(from, from.shape[0] > 1 ? segment : 0, argument, 0, 1);
  }
  if (auto error = one.run(context, options(one, RNN_SCHEDULE_SEQUENTIAL)))
    return error;
  for (size_t i = 0; i < one.arguments.size(); ++i) {
    CallBuffers::Argument& to = result.arguments[i];
    if (to.desc.kind == RNN_ARG_SEQUENCE)
      copyRows(one.arguments[i], 0, to, first, steps);
    else if (to.desc.kind == RNN_ARG_FINAL && finalRow >= 0)
      copyRows(one.arguments[i], 0, to, finalRow, 1);
  }
  return std::nullopt;
}

std::optional<std::string> Sequences::packed(rnn_schedule schedule) {
  CallBuffers call = buffers(kSteps, kSegments);
  rnn_plan_options packed = options(call, schedule);
  packed.segments = kSegments;
  packed.segment_offsets = kOffsets;
  packed.offset_bits = 64;
  if (auto error = call.run(context, packed))
    return error;
  CallBuffers expected = call;
  for (int64_t segment = 0; segment < kSegments; ++segment)
    if (auto error = alone(call, segment, true, expected, segment))
      return error;
  return firstDifference(call, expected, *cell.table(), type);
}

std::optional<std::string> Sequences::resets(rnn_schedule schedule) {
  CallBuffers call = buffers(kSteps, 0);
  call.reset.assign(kSteps, 0);
  for (int64_t begin : kOffsets)
    if (begin > 0 && begin < kSteps)
      call.reset[begin] = 1;
  rnn_plan_options masked = options(call, schedule);
  masked.reset = 1;
  if (auto error = call.run(context, masked))
    return error;
  CallBuffers expected = call;
  for (int64_t segment = 0; segment < kSegments; ++segment)
    if (auto error =
            alone(call, segment, segment == 0, expected, segment == kSegments - 1 ? 0 : -1))
      return error;
  return firstDifference(call, expected, *cell.table(), type);
}

std::optional<std::string> Sequences::reversed(rnn_schedule schedule) {
  CallBuffers call = buffers(kSteps, 0), expected = call;
  auto turn = [&](rnn_arg_kind kind) {
    for (CallBuffers::Argument& argument : expected.arguments) {
      const CallBuffers::Argument old = argument;
      for (int64_t t = 0; argument.desc.kind == kind && t < kSteps; ++t)
        copyRows(old, kSteps - 1 - t, argument, t, 1);
    }
  };
  rnn_plan_options backwards = options(call, schedule);
  backwards.reversed = 1;
  if (auto error = call.run(context, backwards))
    return error;
  turn(RNN_ARG_INPUT);
  if (auto error = expected.run(context, options(expected, RNN_SCHEDULE_SEQUENTIAL)))
    return error;
  turn(RNN_ARG_INPUT);
  turn(RNN_ARG_SEQUENCE);
  return firstDifference(call, expected, *cell.table(), type);
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
  for (rnn_dtype type : {RNN_F32, RNN_F64}) {
    if (!(type == RNN_F64 ? subject.f64 : subject.f32))
      continue;
    const char* name = type == RNN_F64 ? "f64" : "f32";
    Sequences sequences(context.get(), subject, type);
    auto add = [&](const char* check, const char* what, Sequences::Proof proof) {
      auto problem = sequences.inEverySchedule(proof);
      rows.push_back({fmt::format("{}, {}", check, name), what,
                      problem ? *problem : "bit for bit calls of each alone", !problem});
    };
    add("packed batch", "four sequences, one of them empty", &Sequences::packed);
    add("resets", "begins in the middle", &Sequences::resets);
    add("reversed", "from the last step to the first", &Sequences::reversed);
  }
  return rows;
}
