#include "core/cost_model.hpp"

#include "core/status.hpp"

#include <algorithm>
#include <cmath>

namespace rnnc::runtime {
namespace {

// Measured with one lane of 1e6 to 5e6 steps, in f32 and f64, on an AMD Zen 5 at about 4 GHz.

/// Copying one number into or out of the layout [step][column] where the columns are chunks: by
/// itself, and for each byte from one step of its lane to the next, up to a line of the cache.
constexpr double copyCost = .1;
constexpr double copyByteCost = .043;
constexpr double lineBytes = 64;
/// What of this remains for the other elements of a block, which lie in the same lines.
constexpr double againCost = .25;
/// What comes on top, for each byte between two steps, where chunks are short; nothing does where a
/// chunk fills a page: the processor fetches ahead along one stream a page.
constexpr double shortChunkCost = .08;
constexpr double shortChunkMostBytes = 16;
constexpr double pageBytes = 4096;
/// Copying a byte where the vector's columns are lanes that do not all lie side by side, and what
/// each sequence costs a step on top.
constexpr double laneCopyCost = .08;
constexpr double laneRowCost = 1;
/// Reading a byte of the staged rows once more where they are not in the level-2 cache.
constexpr double rereadCost = .01;
constexpr double cacheBytes = 1024 * 1024;
/// One multiply-add of the scan over the chunks of a lane, and of the product of two carries.
constexpr double scanCost = 2;
constexpr double productCost = 1.2;
/// Starting and joining the threads once.
constexpr double forkCost = 20e3;
/// Tiles in parallel need all cores until the last one is done, and others may want them too.
constexpr double sharingCost = 1.1;
/// Tiles that are solved before all others (cpu/tiles_parallel.cpp).
constexpr int64_t probes = 8;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace

// Without a cost from the compiler: a handful of special functions a state.
CostModel::CostModel(const ScheduleRequest& request) : r_(request), cost_(request.cost) {
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

// A wide vector is several narrow ones in flight, which hide each other's latency.
double CostModel::vectorStep(uint32_t width, bool jacobian) const {
  const double units = double(width) / r_.widths.front();
  return std::max(cost_.step_latency,
                  units * (cost_.step_throughput + (jacobian ? cost_.jacobian_throughput : 0)));
}

// Contractive cells, as measured (SOLVER.md section 2): 4, 3, 2 at C = 16, 32, 64. Of a linear one
// the first correction is right but for rounding, and the second sweep sees it.
double CostModel::sweeps(int64_t chunk, int64_t chunks) const {
  const double rounding = r_.elementSize == 4 ? 0x1p-19 : 0x1p-48;
  const double most = !r_.linear ? 8. : r_.tolerance > rounding ? 2. : 3.;
  const double guess = std::clamp(8 - std::log2(double(std::max<int64_t>(chunk, 1))), 2., most);
  return std::min(guess, double(chunks));
}

// The product over a chunk does not depend on its start where the cell is linear, and is a power of
// one Jacobian where that is constant.
double CostModel::jacobianSweeps(double sweeps) const {
  return r_.constant ? 0 : r_.linear ? std::min(sweeps, 1.) : sweeps;
}

double CostModel::rowBytes(double columns) const { return columns * sequences() * r_.elementSize; }

double CostModel::chunkCopies(int64_t chunk) const {
  double cost = 0;
  for (const SequenceLayout& sequence : r_.sequences) {
    const double apart = sequence.stride * r_.elementSize;
    const double page = std::min(1., double(chunk) * apart / pageBytes);
    const double bytes = copyByteCost * std::min(apart, lineBytes) +
                         shortChunkCost * std::min(apart, shortChunkMostBytes) * (1 - page);
    const double others = sequence.together - 1;
    cost += copyCost + bytes * (1 + others * againCost) / (1 + others);
  }
  return cost;
}

double CostModel::laneCopies(uint32_t width) const {
  const double lanes = double(std::min<int64_t>(r_.lanes, width));
  return r_.sideBySide >= int64_t(width)
             ? 0
             : rowBytes(lanes) * laneCopyCost + sequences() * laneRowCost;
}

// For `vectors` equal lanes, or vectors of lanes.
double CostModel::tiles(rnn_tiles tiles, int64_t vectors, const Tile& tile) const {
  // The last tile is a short one, and costs accordingly.
  const double count = double(r_.time) / tile.steps;
  if (tiles == RNN_TILES_SEQUENCE) {
    return double(ceilDiv(vectors, r_.cores)) * (count * tile.solve + tile.first);
  }
  const auto whole = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(count)));
  const int64_t before = std::min(whole, probes);
  auto rounds = [&](int64_t items) {
    return std::max(std::ceil(double(vectors) * double(items) / r_.cores) * count / double(whole),
                    items > 0 ? std::min(count, 1.) : 0);
  };
  const double solve = (rounds(before) + rounds(whole - before)) * tile.solve;
  const double again = whole > 1 ? rounds(whole) * tile.again : 0;
  return sharingCost * (solve + again) + 3 * forkCost;
}

double CostModel::lanesInVectors(const ScheduleChoice& choice, uint32_t width) const {
  const int64_t whole = checkedProduct(choice.chunk, choice.chunks, "chunk x chunks");
  const double steps = double(std::clamp<int64_t>(r_.time, 1, whole));
  const double count = sweeps(choice.chunk, choice.chunks), jacobians = jacobianSweeps(count);
  const double bytes = rowBytes(width) * steps;
  const double with = steps * vectorStep(width, true), without = steps * vectorStep(width, false);
  const double around = double(choice.chunks) * std::max(r_.carry, 1u) * scanCost +
                        (bytes > cacheBytes ? bytes * rereadCost : 0);
  Tile tile{steps, jacobians * with + (count - jacobians) * without + count * around +
                       steps * laneCopies(width)};
  // A start that moved is forgotten after some of the chunks, one vector each.
  tile.again = ((r_.linear ? without : with) + around) / 2;
  return tiles(choice.tiles, ceilDiv(std::max<int64_t>(r_.lanes, 1), width), tile);
}

double CostModel::chunksInVectors(const ScheduleChoice& choice) const {
  const int64_t tileSteps = checkedProduct(choice.chunk, choice.chunks, "chunk x chunks");
  const double steps = double(tileSteps), chunks = double(choice.chunks);
  const double vectors = double(ceilDiv(choice.chunks, choice.width));
  const double count = sweeps(choice.chunk, choice.chunks);
  const double carry = std::max(r_.carry, 1u);
  const double with = vectors * double(choice.chunk) * vectorStep(choice.width, true);
  const double without = vectors * double(choice.chunk) * vectorStep(choice.width, false);
  const double correct = chunks * carry * scanCost;
  const double copies = steps * chunkCopies(choice.chunk);
  const double bytes = rowBytes(steps);
  const double reread = count * (bytes > cacheBytes ? bytes * rereadCost : 0);

  Tile tile{steps, 0};
  if (choice.tiles == RNN_TILES_SEQUENCE) {
    // The last sweep is known to be it, and shot without the Jacobian; not so in the first tile.
    const double jacobians = std::min(jacobianSweeps(count), count - 1);
    tile.solve =
        jacobians * with + (count - jacobians) * without + (count - 1) * correct + copies + reread;
    tile.first = r_.linear ? 0 : with - without;
  } else {
    // The product over the tile is needed from every solve. A start that moved is forgotten within
    // the first vector, rarely later.
    const double product = chunks * (r_.diagonal ? carry : std::pow(carry, 1.5)) * productCost;
    const double jacobians = jacobianSweeps(count), again = r_.linear ? without : with;
    tile.solve = jacobians * with + (count - jacobians) * without + (count - 1) * correct +
                 product + copies + reread;
    tile.again = (1 + (vectors - 1) / 8) / vectors * (again + copies) + correct + product;
  }
  const int64_t lanes = std::max<int64_t>(r_.lanes, 1);
  const int64_t alone = r_.time % tileSteps % choice.chunks;
  return tiles(choice.tiles, lanes, tile) +
         double(ceilDiv(lanes, r_.cores)) * double(alone) * vectorStep(r_.widths.front(), false);
}

} // namespace rnnc::runtime
