#include "core/schedule.hpp"

#include "core/cost_model.hpp"
#include "core/status.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace rnnc::runtime {
namespace {

constexpr double nanosecond = 1e-9;
/// Chunks that are tried: powers of two from the first on, as long as a tile's rows stay below the
/// last.
constexpr int64_t leastChunk = 16;
constexpr double mostTileBytes = 8 * 1024 * 1024;
/// Longer chunks win nothing more (cost_model.cpp: a page).
constexpr int64_t mostChunkBytes = 4096;

/// Lanes into vectors: always the width that serves most lanes a nanosecond, no wider than `cap`.
/// `total` and `longest` are for one step of all vectors, and of the slowest.
std::vector<LaneRun> pack(const ScheduleRequest& r, const CostModel& model, uint32_t cap,
                          double& total, double& longest) {
  std::vector<LaneRun> runs;
  total = longest = 0;
  for (int64_t lane = 0; lane < r.lanes;) {
    const int64_t left = r.lanes - lane;
    uint32_t best = r.widths.front();
    double bestRate = 0;
    for (uint32_t width : r.widths) {
      const double rate = double(std::min<int64_t>(left, width)) / model.vectorStep(width, false);
      if (width <= cap && rate > bestRate) {
        best = width;
        bestRate = rate;
      }
    }
    const int64_t groups = std::max<int64_t>(1, left / best);
    runs.push_back({lane, groups, best});
    lane += groups * best;
    const double step = model.vectorStep(best, false) + model.laneCopies(best);
    total += double(groups) * step;
    longest = std::max(longest, step);
  }
  return runs;
}

/// The packing that all cores together finish first; of equals the widest.
std::vector<LaneRun> packForCores(const ScheduleRequest& r, const CostModel& model,
                                  double& nanosecondsAStep) {
  std::vector<LaneRun> best;
  nanosecondsAStep = 0;
  for (uint32_t cap : r.widths) {
    double total, longest;
    std::vector<LaneRun> runs = pack(r, model, cap, total, longest);
    const double makespan = std::max(total / r.cores, longest);
    if (best.empty() || makespan <= nanosecondsAStep) {
      best = std::move(runs);
      nanosecondsAStep = makespan;
    }
  }
  return best;
}

ScheduleChoice sequential(const ScheduleRequest& r, const CostModel& model) {
  ScheduleChoice choice;
  double step;
  choice.lanes = packForCores(r, model, step);
  choice.chunk = r.time;
  choice.seconds = step * double(r.time) * nanosecond;
  return choice;
}

/// Calls consider(chunk) for the lengths that are worth a look, with `columns` columns a row.
template <class Consider>
void forChunks(const ScheduleRequest& r, int64_t chunks, double columns, Consider consider) {
  if (r.chunk || r.chunkHint) {
    consider(r.chunk ? r.chunk : std::min(r.chunkHint, std::max<int64_t>(r.time, 1)));
    return;
  }
  const int64_t whole = std::max<int64_t>(1, r.time / chunks);
  if (whole <= leastChunk) {
    consider(whole);
    return;
  }
  const double row = columns * double(r.sequences.size()) * r.elementSize;
  for (int64_t chunk = leastChunk; chunk <= whole && chunk * r.elementSize <= mostChunkBytes &&
                                   (chunk == leastChunk || double(chunk) * row <= mostTileBytes);
       chunk *= 2) {
    consider(chunk);
  }
}

// Columns a vector for `chunks` chunks; 0: no kernel fits.
uint32_t widthForChunks(const std::vector<uint32_t>& widths, int64_t chunks) {
  for (auto width = widths.rbegin(); width != widths.rend(); ++width) {
    if (chunks % *width == 0) {
      return *width;
    }
  }
  for (uint32_t width : widths) {
    if (chunks <= width) {
      return width;
    }
  }
  return 0;
}

/// Keeps the cheapest of what it is shown.
struct Cheapest {
  std::optional<ScheduleChoice> choice;

  void consider(ScheduleChoice candidate, double nanoseconds) {
    candidate.seconds = nanoseconds * nanosecond;
    if (!choice || candidate.seconds < choice->seconds) {
      choice = std::move(candidate);
    }
  }
};

void chunksInVectors(const ScheduleRequest& r, const CostModel& model, rnn_tiles tiles,
                     int64_t chunks, Cheapest& cheapest) {
  ScheduleChoice choice;
  choice.parallel = true;
  choice.vector = RNN_VECTOR_CHUNKS;
  choice.tiles = tiles;
  choice.chunks = chunks;
  choice.width = widthForChunks(r.widths, chunks);
  if (choice.width == 0) {
    return;
  }
  forChunks(r, chunks, double(chunks), [&](int64_t chunk) {
    choice.chunk = chunk;
    cheapest.consider(choice, model.chunksInVectors(choice));
  });
}

void lanesInVectors(const ScheduleRequest& r, const CostModel& model, rnn_tiles tiles,
                    Cheapest& cheapest) {
  ScheduleChoice choice;
  choice.parallel = true;
  choice.vector = RNN_VECTOR_LANES;
  choice.tiles = tiles;
  double step;
  choice.lanes = packForCores(r, model, step);
  choice.chunks = r.chunks ? r.chunks : 16;
  const uint32_t width = choice.lanes.empty() ? r.widths.front() : choice.lanes.front().width;
  forChunks(r, choice.chunks, double(width) * double(choice.chunks), [&](int64_t chunk) {
    choice.chunk = chunk;
    cheapest.consider(choice, model.lanesInVectors(choice, width));
  });
}

std::optional<ScheduleChoice> bestParallel(const ScheduleRequest& r, const CostModel& model) {
  Cheapest cheapest;
  for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
    if ((r.tiles != RNN_TILES_AUTO && r.tiles != tiles) ||
        (r.inWindows && tiles == RNN_TILES_PARALLEL)) {
      continue;
    }
    if (r.vector != RNN_VECTOR_LANES) {
      for (uint32_t width : r.widths) {
        // Of several vectors in a tile only the first is shot again when the tile's start moves.
        for (int64_t vectors : {1, 4}) {
          if (r.chunks == 0 && (vectors == 1 || tiles == RNN_TILES_PARALLEL)) {
            chunksInVectors(r, model, tiles, vectors * width, cheapest);
          }
        }
      }
      if (r.chunks) {
        chunksInVectors(r, model, tiles, r.chunks, cheapest);
      }
    }
    if (r.vector != RNN_VECTOR_CHUNKS) {
      lanesInVectors(r, model, tiles, cheapest);
    }
  }
  return cheapest.choice;
}

void checkFixed(const ScheduleRequest& r) {
  if (r.schedule == RNN_SCHEDULE_SEQUENTIAL) {
    const char* set = r.vector == RNN_VECTOR_CHUNKS ? "vector = chunks"
                      : r.tiles != RNN_TILES_AUTO   ? "tiles"
                      : r.chunk                     ? "chunk"
                      : r.chunks                    ? "chunks"
                                                    : nullptr;
    if (set) {
      invalid("{} has no meaning in the sequential schedule", set);
    }
  }
}

} // namespace

Schedules chooseSchedule(const ScheduleRequest& request) {
  checkFixed(request);
  const CostModel model(request);
  const bool known = request.cost.step_latency > 0 || request.cost.step_throughput > 0;
  Schedules result;
  result.chosen = sequential(request, model);
  result.secondsSequential = known ? result.chosen.seconds : 0;
  if (request.carry == 0 || request.schedule == RNN_SCHEDULE_SEQUENTIAL) {
    return result;
  }
  std::optional<ScheduleChoice> parallel = bestParallel(request, model);
  if (!parallel) {
    std::string widths;
    for (uint32_t width : request.widths) {
      widths += fmt::format("{}{}", widths.empty() ? "" : ", ", width);
    }
    invalid("chunks = {}: vectors of chunks have {} columns in system {}; choose a multiple of a "
            "width, or fewer chunks than columns",
            request.chunks, widths, request.system);
  }
  result.secondsParallel = known ? parallel->seconds : 0;
  // Fixing a detail of the parallel schedule asks for it.
  const bool asked = request.schedule == RNN_SCHEDULE_PARALLEL ||
                     request.vector == RNN_VECTOR_CHUNKS || request.tiles != RNN_TILES_AUTO ||
                     request.chunk != 0 || request.chunks != 0;
  // The estimate of the sweeps is the weak part: change over only for a clear gain.
  // How many sweeps an approximate Jacobian takes, only the data can tell.
  const bool clear = !request.diagonal && parallel->seconds * 1.2 < result.chosen.seconds;
  if (asked || clear) {
    result.chosen = std::move(*parallel);
  }
  return result;
}

} // namespace rnnc::runtime
