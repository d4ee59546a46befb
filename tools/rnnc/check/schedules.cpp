// Every schedule against the sequential loop.
#include "check.h"
#include "handles.h"
#include "probe.h"

#include "llvm/ADT/ArrayRef.h"

#include <fmt/format.h>

using namespace rnnc;
using namespace rnnc::check;

namespace {

constexpr int64_t kTimes[] = {1, 2, 15, 16, 17, 257, 4097};
constexpr int64_t kLanes[] = {1, 3, 16, 33, 67};      // 67: past the widest vector
constexpr int64_t kChunks[] = {1, 3, 16, 64, 256, 0}; // 0: T
/// A step of a large block costs more, and no carry of its own has to be proved.
constexpr int64_t kLargeTimes[] = {1, 17, 257};
constexpr int64_t kLargeLanes[] = {1, 17};
constexpr int64_t kLargeChunks[] = {3, 16};

struct Shapes {
  llvm::ArrayRef<int64_t> times, lanes, chunks;
};

struct Variant {
  rnn_vector vector;
  rnn_tiles tiles;
  const char* name;
};
constexpr Variant kVariants[] = {
    {RNN_VECTOR_LANES, RNN_TILES_SEQUENCE, "lanes in the vector, tiles in sequence"},
    {RNN_VECTOR_CHUNKS, RNN_TILES_SEQUENCE, "chunks in the vector, tiles in sequence"},
    {RNN_VECTOR_LANES, RNN_TILES_PARALLEL, "lanes in the vector, tiles in parallel"},
    {RNN_VECTOR_CHUNKS, RNN_TILES_PARALLEL, "chunks in the vector, tiles in parallel"},
};

/// Runs one variant over all shapes; the first difference or error, or nothing.
std::optional<std::string> checkVariant(rnn_context* context, const CompiledCell& cell,
                                        const Subject& subject, rnn_dtype type,
                                        const Variant& variant, const Shapes& shapes,
                                        int64_t& solves) {
  for (int64_t time : shapes.times)
    for (int64_t lanes : shapes.lanes) {
      CallBuffers sequential(cell, subject, lanes, time);
      rnn_plan_options options = sequential.options(type);
      options.schedule = RNN_SCHEDULE_SEQUENTIAL;
      if (auto error = sequential.run(context, options))
        return fmt::format("sequential, T = {}, {} lanes: {}", time, lanes, *error);
      for (int64_t chunk : shapes.chunks) {
        CallBuffers parallel(cell, subject, lanes, time);
        options = parallel.options(type);
        options.schedule = RNN_SCHEDULE_PARALLEL;
        options.vector = variant.vector;
        options.tiles = variant.tiles;
        options.chunk = chunk ? chunk : time;
        std::string where = fmt::format("T = {}, {} lanes, C = {}", time, lanes, options.chunk);
        if (auto error = parallel.run(context, options))
          return where + ": " + *error;
        if (auto difference = firstDifference(parallel, sequential, *cell.table(), type))
          return where + ": " + *difference;
        ++solves;
      }
    }
  return std::nullopt;
}

} // namespace

Rows rnnc::check::checkSchedules(const Subject& subject) {
  Rows rows;
  ContextPtr context = makeContext();
  if (!context)
    return {{"schedules", "", "no context", false}};
  const rnn_module_table& table = *subject.f32->table();
  Shapes shapes{kTimes, kLanes, kChunks};
  for (uint32_t s = 0; s < table.systems; ++s) {
    if (table.system[s].carry == 0 && !table.system[s].diagonal)
      return {{"schedules", table.cell, "only sequential: a block has no Jacobian", true}};
    if (table.system[s].diagonal)
      shapes = {kLargeTimes, kLargeLanes, kLargeChunks};
  }
  for (rnn_dtype type : {RNN_F32, RNN_F64})
    for (const Variant& variant : kVariants) {
      int64_t solves = 0;
      const CompiledCell& cell = type == RNN_F64 ? *subject.f64 : *subject.f32;
      auto problem = checkVariant(context.get(), cell, subject, type, variant, shapes, solves);
      rows.push_back(
          {type == RNN_F64 ? "schedules, f64" : "schedules, f32", variant.name,
           problem ? *problem : fmt::format("{} solves, bit for bit the sequential ones", solves),
           !problem});
    }
  return rows;
}
