// Every schedule against the sequential loop.
#include "check.h"
#include "handles.h"
#include "probe.h"
#include "variants.h"

#include "llvm/ADT/ArrayRef.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int64_t kTimes[] = {1, 2, 15, 16, 17, 257, 4097};
constexpr int64_t kLanes[] = {1, 3, 16, 33, 67};      // 67: past the widest vector
constexpr int64_t kChunks[] = {1, 3, 16, 64, 256, 0}; // 0: T
constexpr int64_t kQuickTimes[] = {1, 2, 17, 257};
constexpr int64_t kQuickLanes[] = {1, 3, 67};
constexpr int64_t kQuickChunks[] = {3, 16, 0};
/// A step of a large block costs more, and no carry of its own has to be proved.
constexpr int64_t kLargeTimes[] = {1, 17, 257};
constexpr int64_t kLargeLanes[] = {1, 17};
constexpr int64_t kLargeChunks[] = {3, 16};

struct Outcome {
  int64_t solves = 0;
  std::optional<std::string> problem; ///< the first difference or error
};

/// A cell in one type of numbers, by all variants.
class Comparison {
public:
  Comparison(rnn_context* context, const CompiledCell& cell, const Subject& subject, rnn_dtype type)
      : context(context), cell(cell), subject(subject), type(type) {}

  /// Every variant that has shown no problem yet, with one set of arrays.
  void compare(int64_t time, int64_t lanes, llvm::ArrayRef<int64_t> chunks);

  std::array<Outcome, std::size(kVariants)> outcomes;

private:
  std::optional<std::string> solve(const CallBuffers& drawn, const CallBuffers& sequential,
                                   const Variant& variant, int64_t chunk) const;

  rnn_context* context;
  const CompiledCell& cell;
  const Subject& subject;
  rnn_dtype type;
};

std::optional<std::string> Comparison::solve(const CallBuffers& drawn,
                                             const CallBuffers& sequential, const Variant& variant,
                                             int64_t chunk) const {
  CallBuffers parallel = drawn;
  rnn_plan_options options = parallel.options(type);
  options.schedule = RNN_SCHEDULE_PARALLEL;
  options.vector = variant.vector;
  options.tiles = variant.tiles;
  options.chunk = chunk;
  auto problem = parallel.run(context, options);
  return problem ? problem : firstDifference(parallel, sequential, *cell.table(), type);
}

void Comparison::compare(int64_t time, int64_t lanes, llvm::ArrayRef<int64_t> chunks) {
  if (std::ranges::all_of(outcomes, [](const Outcome& o) { return o.problem.has_value(); }))
    return;
  // Drawing takes longer than most solves.
  const CallBuffers drawn(cell, subject, lanes, time);
  CallBuffers sequential = drawn;
  rnn_plan_options options = sequential.options(type);
  options.schedule = RNN_SCHEDULE_SEQUENTIAL;
  auto error = sequential.run(context, options);
  for (size_t v = 0; v < std::size(kVariants); ++v) {
    Outcome& outcome = outcomes[v];
    if (error && !outcome.problem)
      outcome.problem = fmt::format("sequential, T = {}, {} lanes: {}", time, lanes, *error);
    for (size_t c = 0; c < chunks.size() && !outcome.problem; ++c) {
      const int64_t chunk = chunks[c] ? chunks[c] : time;
      outcome.problem = solve(drawn, sequential, kVariants[v], chunk);
      if (outcome.problem)
        outcome.problem =
            fmt::format("T = {}, {} lanes, C = {}: {}", time, lanes, chunk, *outcome.problem);
      else
        ++outcome.solves;
    }
  }
}

} // namespace

Rows rnnc::check::checkSchedules(const Subject& subject) {
  Rows rows;
  ContextPtr context = makeContext();
  if (!context)
    return {{"schedules", "", "no context", false}};
  const rnn_module_table& table = *subject.f32->table();
  Shapes shapes{kTimes, kLanes, kChunks};
  if (subject.isQuick)
    shapes = {kQuickTimes, kQuickLanes, kQuickChunks};
  for (uint32_t s = 0; s < table.systems; ++s) {
    if (table.system[s].carry == 0 && !table.system[s].diagonal)
      return {{"schedules", table.cell, "only sequential: a block has no Jacobian", true}};
    if (table.system[s].diagonal)
      shapes = {kLargeTimes, kLargeLanes, kLargeChunks};
  }
  for (rnn_dtype type : {RNN_F32, RNN_F64}) {
    Comparison comparison(context.get(), type == RNN_F64 ? *subject.f64 : *subject.f32, subject,
                          type);
    for (int64_t time : shapes.times)
      for (int64_t lanes : shapes.lanes)
        comparison.compare(time, lanes, shapes.chunks);
    for (size_t v = 0; v < std::size(kVariants); ++v) {
      const auto& [solves, problem] = comparison.outcomes[v];
      rows.push_back(
          {type == RNN_F64 ? "schedules, f64" : "schedules, f32", kVariants[v].name,
           problem ? *problem : fmt::format("{} solves, bit for bit the sequential ones", solves),
           !problem});
    }
  }
  return rows;
}
