#include "cpu/tiles_parallel.hpp"

#include "cpu/threads.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace rnnc::runtime::cpu {
namespace {

/// Tiles that are solved before all others, to see whether the system contracts at all.
constexpr int64_t probeCount = 8;

} // namespace

template <class F>
TilesInParallel<F>::TilesInParallel(const SystemPlan& system, Carver& carver)
    : system_(system), width_(groupWidth(system)) {
  const rnn_system_desc& desc = *system.desc;
  const int64_t tiles = system.tilesBefore(system.groups); // plans check it
  const int64_t vectors = checkedProduct(tiles, width_, "the workspace");
  groups_ = carver.take<Group>(system.groups);
  records_ = carver.take<Record>(tiles);
  start_ = carver.take<F>(checkedProduct(vectors, desc.states, "the workspace"));
  end_ = carver.take<F>(checkedProduct(vectors, desc.states, "the workspace"));
  carry_ = carver.take<F>(checkedProduct(vectors, desc.carry, "the workspace"));
  dirty_ = carver.take<uint8_t>(tiles);
  agreed_ = carver.take<BitsOf<F>>(system.groups * width_);
  room_ = carver.take<F>(system.groups * 2 * desc.states * width_);
  sums_ = carver.take<F>(checkedProduct(vectors, system.sumRows(), "the workspace"));
  Carver one(nullptr);
  TileState<F>(desc, tileVectors(system), tileWidth(system), one);
  tileBytes_ = one.used();
  tiles_ = carver.take<char>(checkedProduct(tiles, tileBytes_, "the workspace"));
}

template <class F>
F* TilesInParallel<F>::startOf(int64_t group, int64_t tile) const {
  const int64_t states = system_.desc->states;
  return start_ + (index(group, 0) * width_ + tile * groups_[group].width) * states;
}

template <class F>
F* TilesInParallel<F>::endOf(int64_t group, int64_t tile) const {
  return end_ + (startOf(group, tile) - start_);
}

template <class F>
F* TilesInParallel<F>::carryOf(int64_t group, int64_t tile) const {
  const int64_t carry = system_.desc->carry;
  return carry_ + (index(group, 0) * width_ + tile * groups_[group].width) * carry;
}

template <class F>
bool TilesInParallel<F>::isProbe(int64_t group, int64_t tile) const {
  const int64_t apart =
      std::max<int64_t>(1, (system_.tilesOf(group) + probeCount - 1) / probeCount);
  return tile % apart == 0;
}

template <class F>
void TilesInParallel<F>::begin(const Call& call, int64_t group, GroupSolver<F>& solver) {
  solver.bind(call, group);
  Group& g = groups_[group];
  g = Group{};
  g.lanes = solver.lanes();
  g.width = solver.width();
  g.waiting = g.lanes;
  g.sequenceFrom = g.unconvergedTile = -1;
  solver.startState(startOf(group, 0));
  for (int64_t tile = 0; tile < system_.tilesOf(group); ++tile) {
    records_[index(group, tile)] = Record{};
    dirty_[index(group, tile)] = 1;
    if (tile > 0) {
      std::copy_n(startOf(group, 0), system_.desc->states * g.width, startOf(group, tile));
    }
  }
  std::fill_n(agreed_ + group * width_, width_, BitsOf<F>(0));
}

template <class F>
void TilesInParallel<F>::solveOne(const Call& call, int64_t group, int64_t tile,
                                  GroupSolver<F>& solver) {
  Record& record = records_[index(group, tile)];
  const int64_t size = system_.desc->states * groups_[group].width;
  solver.bind(call, group);
  Carver carver(tiles_ + index(group, tile) * tileBytes_);
  TileState<F> tileState(*system_.desc, tileVectors(system_), tileWidth(system_), carver);
  TileStats stats;
  const TileStart how = record.walkedBefore ? TileStart::Walk
                        : record.solves > 0 ? TileStart::Warm
                                            : TileStart::Fresh;
  F* state = endOf(group, tile);
  std::copy_n(startOf(group, tile), size, state);
  std::fill_n(sumsOf(group, tile), system_.sumRows() * width_, F(0));
  solver.sumTo(sumsOf(group, tile));
  const bool isLast = tile + 1 == system_.tilesOf(group);
  solver.solveTile(tile, how, tileState, state, isLast ? nullptr : carryOf(group, tile), stats);
  // Two thirds for the solve from a guess, the rest for the first one from a better start.
  if (record.solves < 2) {
    call.progress.advance((record.solves == 0 ? 2 : 1) * solver.stepsOf(tile));
  }
  ++record.solves;
  stats.sweeps += record.stats.sweeps;
  stats.laneSweeps += record.stats.laneSweeps;
  record.stats = stats;
  record.walkedBefore = stats.walked;
  dirty_[index(group, tile)] = 0;
}

template <class F>
void TilesInParallel<F>::solveDirty(const Call& call, const ThreadSlices& threads, bool probes) {
  const int64_t tiles = system_.tilesBefore(system_.groups);
  parallelFor(*call.plan.arena, tiles, [&](int64_t item, int slot) {
    const int64_t group = system_.groupOfTile(item), tile = item - index(group, 0);
    if (dirty_[item] && !groups_[group].done && (!probes || isProbe(group, tile))) {
      Carver carver(threads.slice(slot));
      GroupSolver<F> solver(system_, carver);
      solveOne(call, group, tile, solver);
    }
  });
}

// Where half of the probes do not contract, outer sweeps would solve everything again and again.
template <class F>
void TilesInParallel<F>::judgeProbes(int64_t group) {
  int64_t probes = 0, walked = 0;
  for (int64_t tile = 0; tile < system_.tilesOf(group); ++tile) {
    if (isProbe(group, tile)) {
      ++probes;
      walked += records_[index(group, tile)].stats.walked;
    }
  }
  if (2 * walked >= probes && walked > 0 && system_.tilesOf(group) > 1) {
    std::copy_n(endOf(group, 0), system_.desc->states * groups_[group].width, startOf(group, 1));
    toSequence(group, 1);
  }
}

template <class F>
void TilesInParallel<F>::toSequence(int64_t group, int64_t tile) {
  groups_[group].sequenceFrom = tile;
  groups_[group].done = true;
}

template <class F>
void TilesInParallel<F>::compare(const Plan& plan, int64_t group) {
  Group& g = groups_[group];
  const CarryPattern pattern(*system_.desc);
  const int64_t count = system_.tilesOf(group);
  const ChunkVectors<F> tiles{count, g.width, startOf(group, 0), endOf(group, 0),
                              carryOf(group, 0)};
  F* worst = room_ + group * 2 * pattern.states * width_;
  BitsOf<F>* agreed = agreed_ + group * width_;
  ++g.outerSweeps;
  worstMismatch(pattern, tiles, 0, worst);
  double left = 0;
  g.waiting = 0;
  for (int64_t j = 0; j < g.width; ++j) {
    if (!agreed[j] && worst[j] <= plan.tolerance) {
      agreed[j] = ~BitsOf<F>(0);
      g.mismatch = std::max<double>(g.mismatch, worst[j]);
    }
    if (!agreed[j]) {
      left = std::max<double>(left, worst[j]);
      g.waiting += j < g.lanes;
    }
  }
  if (g.waiting == 0) {
    g.done = true;
    return;
  }
  F* defect = worst;
  F* product = worst + pattern.states * width_;
  std::fill_n(defect, pattern.states * g.width, F(0));
  if (g.outerSweeps == plan.maxSweeps) {
    g.done = true;
    g.mismatch = std::max(g.mismatch, left);
    g.unconvergedTile = firstGap(group, pattern, plan.tolerance);
    return;
  }
  const Changes changes =
      correct(pattern, tiles, 0, agreed, defect, product, dirty_ + index(group, 0));
  int64_t walked = 0;
  for (int64_t tile = 0; tile < system_.tilesOf(group); ++tile) {
    walked += records_[index(group, tile)].stats.walked;
  }
  // As in a tile: a sweep for every tile would cost more than going through them once.
  if (g.stall.add(left, changes.count) || 2 * walked >= count || g.outerSweeps >= count) {
    toSequence(group, changes.first);
  }
}

// The first tile whose start does not agree with the end in front of it, in a lane that waits.
template <class F>
int64_t TilesInParallel<F>::firstGap(int64_t group, const CarryPattern& pattern,
                                     double tolerance) const {
  const int64_t width = groups_[group].width;
  for (int64_t tile = 1; tile < system_.tilesOf(group); ++tile) {
    const F* end = endOf(group, tile - 1);
    const F* start = startOf(group, tile);
    for (int64_t at = 0; at < pattern.states * width; ++at) {
      if (!agreed_[group * width_ + at % width] && !(mismatch(end[at], start[at]) <= tolerance)) {
        return tile;
      }
    }
  }
  return system_.tilesOf(group) - 1;
}

template <class F>
void TilesInParallel<F>::finish(const Call& call, int64_t group, GroupSolver<F>& solver,
                                Tally& tally) {
  const Group& g = groups_[group];
  const bool sequence = g.sequenceFrom >= 0;
  const int64_t kept = sequence ? g.sequenceFrom : system_.tilesOf(group);
  for (int64_t tile = 0; tile < system_.tilesOf(group); ++tile) {
    const TileStats& stats = records_[index(group, tile)].stats;
    if (tile < kept) {
      stats.addTo(tally, tile, g.lanes);
    } else {
      tally.sweeps += stats.sweeps; // spent on a guess
    }
  }
  tally.outerSweeps = std::max(tally.outerSweeps, std::max<int64_t>(g.outerSweeps, 1));
  tally.mismatch = std::max(tally.mismatch, g.mismatch);
  if (g.unconvergedTile >= 0) {
    tally.unconvergedTile = std::min(tally.unconvergedTile, g.unconvergedTile);
  }
  F* total = static_cast<F*>(call.sums) + system_.sumsOffset + group * system_.sumRows() * width_;
  for (int64_t tile = 0; tile < kept; ++tile) {
    std::transform(total, total + system_.sumRows() * width_, sumsOf(group, tile), total,
                   std::plus<>());
  }
  solver.bind(call, group);
  if (sequence) {
    solver.solve(g.sequenceFrom * system_.tileSteps, startOf(group, g.sequenceFrom), tally);
  } else {
    solver.finalState(endOf(group, system_.tilesOf(group) - 1));
  }
}

template <class F>
void TilesInParallel<F>::solve(const Call& call, const ThreadSlices& threads) {
  Arena& arena = *call.plan.arena;
  auto forGroups = [&](const auto& body) {
    parallelFor(arena, system_.groups, [&](int64_t group, int slot) {
      Carver carver(threads.slice(slot));
      GroupSolver<F> solver(system_, carver);
      body(group, solver, threads.tallies[slot]);
    });
  };
  forGroups([&](int64_t group, GroupSolver<F>& solver, Tally&) { begin(call, group, solver); });
  solveDirty(call, threads, true);
  for (int64_t group = 0; group < system_.groups; ++group) {
    judgeProbes(group);
  }
  auto isDone = [](const Group& group) { return group.done; };
  while (!std::all_of(groups_, groups_ + system_.groups, isDone)) {
    solveDirty(call, threads, false);
    forGroups([&](int64_t group, GroupSolver<F>&, Tally&) {
      if (!groups_[group].done) {
        compare(call.plan, group);
      }
    });
  }
  forGroups([&](int64_t group, GroupSolver<F>& solver, Tally& tally) {
    finish(call, group, solver, tally);
  });
}

template class TilesInParallel<float>;
template class TilesInParallel<double>;

} // namespace rnnc::runtime::cpu
