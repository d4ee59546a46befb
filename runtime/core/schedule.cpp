#include "core/schedule.hpp"

#include "core/status.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace rnnc::runtime {
namespace {

constexpr double nanosecond = 1e-9;
/// What the rows of one tile may take of the level-2 cache.
constexpr int64_t tileBytes = int64_t(256) * 1024;
/// Copying one number into or out of the layout [step][column], in nanoseconds: a transpose where a
/// lane's steps are neighbours in memory, a cache line for every number where other lanes lie
/// between.
constexpr double stagingCost = 0.15;
constexpr double stridedStagingCost = 5;
/// One multiply-add of the scan over the chunks of a lane, in nanoseconds.
constexpr double scanCost = 5;
/// Starting and joining the threads once.
constexpr double forkCost = 20e3;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t floorPowerOf2(int64_t n) { return n < 1 ? 1 : int64_t(std::bit_floor(uint64_t(n))); }

// The estimate, per lane (SOLVER.md section 7):
//
//   sweeps * ceil(T / (tiles in parallel * W * C)) * [C * (t_f + t_J + t_JA) + W * k^2 * t_fma]
//
// where a vector of `width` columns shares t_f + t_J + t_JA = vectorStep(width, true), and W chunks
// fill W / width vectors. Moving the numbers into the layout of the vectors comes on top.
class Model {
public:
  explicit Model(const ScheduleRequest& request) : r_(request), cost_(request.cost) {
    // Without a cost from the compiler: a handful of special functions a state.
    if (cost_.step_throughput == 0) {
      cost_.step_throughput = 15.0 * r_.states;
    }
    if (cost_.step_latency == 0) {
      cost_.step_latency = 2 * cost_.step_throughput;
    }
    if (cost_.jacobian_throughput == 0) {
      cost_.jacobian_throughput = .4 * cost_.step_throughput;
    }
  }

  /// Nanoseconds for one step of one vector. A wide vector is several narrow ones in flight, which
  /// hide each other's latency.
  double vectorStep(uint32_t width, bool jacobian) const {
    const double units = double(width) / r_.widths.front();
    return std::max(cost_.step_latency,
                    units * (cost_.step_throughput + (jacobian ? cost_.jacobian_throughput : 0)));
  }

  /// Sweeps of contractive cells, as measured (SOLVER.md section 2): 4, 3, 2 at C = 16, 32, 64.
  static double sweeps(int64_t chunk, int64_t chunks) {
    const double guess = std::clamp(8 - std::log2(double(std::max<int64_t>(chunk, 1))), 2., 8.);
    return std::min(guess, double(chunks));
  }

  /// Lanes into vectors: always the width that serves most lanes a nanosecond, no wider than `cap`.
  std::vector<LaneRun> pack(uint32_t cap, double& total, double& longest) const {
    std::vector<LaneRun> runs;
    total = longest = 0;
    for (int64_t lane = 0; lane < r_.lanes;) {
      const int64_t left = r_.lanes - lane;
      uint32_t best = r_.widths.front();
      double bestRate = 0;
      for (uint32_t width : r_.widths) {
        const double rate = double(std::min<int64_t>(left, width)) / vectorStep(width, false);
        if (width <= cap && rate > bestRate) {
          best = width;
          bestRate = rate;
        }
      }
      const int64_t groups = std::max<int64_t>(1, left / best);
      runs.push_back({lane, groups, best});
      lane += groups * best;
      total += double(groups) * vectorStep(best, false);
      longest = std::max(longest, vectorStep(best, false));
    }
    return runs;
  }

  /// The packing that all cores together finish first; of equals the widest.
  std::vector<LaneRun> packForCores(double& nanosecondsAStep) const {
    std::vector<LaneRun> best;
    nanosecondsAStep = 0;
    for (uint32_t cap : r_.widths) {
      double total, longest;
      std::vector<LaneRun> runs = pack(cap, total, longest);
      const double makespan = std::max(total / r_.cores, longest);
      if (best.empty() || makespan <= nanosecondsAStep) {
        best = std::move(runs);
        nanosecondsAStep = makespan;
      }
    }
    return best;
  }

  const ScheduleRequest& request() const { return r_; }

private:
  const ScheduleRequest& r_;
  rnn_cost cost_;
};

ScheduleChoice sequential(const Model& model) {
  const ScheduleRequest& r = model.request();
  ScheduleChoice choice;
  double step;
  choice.lanes = model.packForCores(step);
  choice.chunk = r.time;
  choice.seconds = step * double(r.time) * nanosecond;
  return choice;
}

// The largest power of two that keeps a tile's rows in the cache and leaves every core some tiles.
int64_t chooseChunk(const ScheduleRequest& r, int64_t columns, int64_t chunks, bool tilesParallel,
                    int64_t vectors) {
  const int64_t row = int64_t(r.sequences) * r.elementSize * columns;
  int64_t chunk = std::clamp<int64_t>(tileBytes / std::max<int64_t>(row, 1), 8, 512);
  if (tilesParallel) {
    const int64_t share =
        r.time / std::max<int64_t>(1, chunks * ceilDiv(int64_t(4) * r.cores, vectors));
    chunk = std::min(chunk, std::max<int64_t>(share, 16));
  }
  return std::min(floorPowerOf2(chunk), std::max<int64_t>(r.time / chunks, 1));
}

// Nanoseconds for one tile: solved from a guess, and shot again from a start that moved a little.
struct TileCost {
  double solve, again;
};

// Seconds for `vectors` equal lanes, or vectors of lanes.
double tilesSeconds(const ScheduleRequest& r, rnn_tiles tiles, int64_t vectors, TileCost tile,
                    int64_t tileSteps) {
  // The last tile is a short one, and costs accordingly.
  const double count = double(r.time) / double(std::max<int64_t>(tileSteps, 1));
  if (tiles == RNN_TILES_SEQUENCE) {
    return double(ceilDiv(vectors, r.cores)) * count * tile.solve * nanosecond;
  }
  const double rounds = std::max(std::ceil(double(vectors) * count / r.cores), std::min(count, 1.));
  return (rounds * (tile.solve + tile.again) + 3 * forkCost) * nanosecond;
}

ScheduleChoice lanesInVectors(const Model& model, rnn_tiles tiles) {
  const ScheduleRequest& r = model.request();
  ScheduleChoice choice;
  choice.parallel = true;
  choice.vector = RNN_VECTOR_LANES;
  choice.tiles = tiles;
  double step;
  choice.lanes = model.packForCores(step);
  const uint32_t width = choice.lanes.empty() ? r.widths.front() : choice.lanes.front().width;
  const int64_t vectors = ceilDiv(std::max<int64_t>(r.lanes, 1), width);
  choice.chunks = r.chunks ? r.chunks : 16;
  choice.chunk = r.chunk ? r.chunk
                         : chooseChunk(r, width * choice.chunks, choice.chunks,
                                       tiles == RNN_TILES_PARALLEL, vectors);
  const int64_t tileSteps = checkedProduct(choice.chunk, choice.chunks, "chunk x chunks");
  const double sweeps = Model::sweeps(choice.chunk, choice.chunks);
  const double pass = double(std::min(tileSteps, r.time)) * model.vectorStep(width, true);
  choice.seconds = tilesSeconds(r, tiles, vectors, {sweeps * pass, pass}, tileSteps);
  return choice;
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

std::optional<ScheduleChoice> chunksInVectors(const Model& model, rnn_tiles tiles, int64_t chunks) {
  const ScheduleRequest& r = model.request();
  ScheduleChoice choice;
  choice.parallel = true;
  choice.vector = RNN_VECTOR_CHUNKS;
  choice.tiles = tiles;
  choice.width = widthForChunks(r.widths, chunks);
  if (choice.width == 0) {
    return std::nullopt;
  }
  const int64_t vectors = ceilDiv(chunks, choice.width);
  choice.chunks = chunks;
  choice.chunk = r.chunk ? r.chunk
                         : chooseChunk(r, vectors * choice.width, chunks,
                                       tiles == RNN_TILES_PARALLEL, std::max<int64_t>(r.lanes, 1));
  const int64_t tileSteps = checkedProduct(choice.chunk, choice.chunks, "chunk x chunks");
  const double sweeps = Model::sweeps(choice.chunk, choice.chunks);
  const double shot = double(choice.chunk) * model.vectorStep(choice.width, true);
  const double staging =
      double(tileSteps) * r.sequences * (r.lanes > 1 ? stridedStagingCost : stagingCost);
  const double scan = double(chunks) * std::max(r.carry, 1u) * scanCost;
  // A start that moved is forgotten within the first vector of a tile; but give it half of them.
  const double again = double(vectors + 1) / 2 * (shot + staging / double(vectors)) + scan;
  choice.seconds =
      tilesSeconds(r, tiles, std::max<int64_t>(r.lanes, 1),
                   {sweeps * (double(vectors) * shot + scan) + staging, again}, tileSteps);
  return choice;
}

std::optional<ScheduleChoice> bestParallel(const Model& model) {
  const ScheduleRequest& r = model.request();
  std::optional<ScheduleChoice> best;
  auto consider = [&](std::optional<ScheduleChoice> choice) {
    if (choice && (!best || choice->seconds < best->seconds)) {
      best = std::move(choice);
    }
  };
  for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
    if (r.tiles != RNN_TILES_AUTO && r.tiles != tiles) {
      continue;
    }
    if (r.vector != RNN_VECTOR_LANES) {
      for (uint32_t width : r.widths) {
        // Of several vectors in a tile only the first is shot again when the tile's start moves.
        for (int64_t vectors : {1, 4}) {
          if (r.chunks == 0 && (vectors == 1 || tiles == RNN_TILES_PARALLEL)) {
            consider(chunksInVectors(model, tiles, vectors * width));
          }
        }
      }
      if (r.chunks) {
        consider(chunksInVectors(model, tiles, r.chunks));
      }
    }
    if (r.vector != RNN_VECTOR_CHUNKS) {
      consider(lanesInVectors(model, tiles));
    }
  }
  return best;
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
  const Model model(request);
  const bool known = request.cost.step_latency > 0 || request.cost.step_throughput > 0;
  Schedules result;
  result.chosen = sequential(model);
  result.secondsSequential = known ? result.chosen.seconds : 0;
  if (request.carry == 0 || request.schedule == RNN_SCHEDULE_SEQUENTIAL) {
    return result;
  }
  std::optional<ScheduleChoice> parallel = bestParallel(model);
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
  if (asked || parallel->seconds * 1.2 < result.chosen.seconds) {
    result.chosen = std::move(*parallel);
  }
  return result;
}

} // namespace rnnc::runtime
