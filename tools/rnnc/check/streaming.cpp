// A stream in pieces of all sizes against one call.
#include "check.h"
#include "handles.h"
#include "probe.h"

#include <fmt/format.h>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr Piece kPieces[] = {{1, true}, {5, true}, {64, false}, {1, false}, {2, true}, {33, false}};
constexpr int64_t kSteps = 1 + 5 + 64 + 1 + 2 + 33;
constexpr int64_t kLanes[] = {1, 3, 17};

std::optional<std::string> checkType(rnn_context* context, const Subject& subject, rnn_dtype type) {
  const CompiledCell& cell = type == RNN_F64 ? *subject.f64 : *subject.f32;
  for (int64_t lanes : kLanes) {
    CallBuffers whole(cell, subject, lanes, kSteps), pieces(cell, subject, lanes, kSteps);
    rnn_plan_options options = whole.options(type);
    options.schedule = RNN_SCHEDULE_SEQUENTIAL;
    if (auto error = whole.run(context, options))
      return fmt::format("whole, {} lanes: {}", lanes, *error);
    if (auto error = pieces.runInPieces(context, pieces.options(type), kPieces))
      return fmt::format("in pieces, {} lanes: {}", lanes, *error);
    if (auto difference = firstDifference(pieces, whole, *cell.table(), type))
      return fmt::format("{} lanes: {}", lanes, *difference);
  }
  return std::nullopt;
}

} // namespace

Rows rnnc::check::checkStreaming(const Subject& subject) {
  ContextPtr context = makeContext();
  if (!context)
    return {{"streaming", "", "no context", false}};
  Rows rows;
  for (rnn_dtype type : {RNN_F32, RNN_F64}) {
    auto problem = checkType(context.get(), subject, type);
    rows.push_back({type == RNN_F64 ? "streaming, f64" : "streaming, f32",
                    "pieces and single steps, state saved and restored",
                    problem ? *problem : "bit for bit one call", !problem});
  }
  return rows;
}
