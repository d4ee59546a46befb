// The loop around a tile's sweeps: shoot, compare, correct, until every lane agrees; and when to
// give up on it.
#pragma once

#include "core/report.hpp"
#include "cpu/scan.hpp"

#include <algorithm>
#include <cstdint>

namespace rnnc::runtime::cpu {

struct SweepRules {
  double tolerance = 0;
  int64_t maxSweeps = 0; ///< 0: as many as it takes
};

/// What solving one tile took.
struct TileStats {
  int64_t sweeps = 0;     ///< passes over the tile
  int64_t laneSweeps = 0; ///< sum over lanes of the sweep at which each first agreed
  bool walked = false;    ///< did not contract and was finished one chunk after the other
  bool hopeless = false;  ///< ... on account of half of its lanes or more
  double mismatch = 0;    ///< largest one accepted
  bool unconverged = false;
  int64_t nonfinite = INT64_MAX; ///< first step with a state that is not finite
  Unsolved unsolved;

  void addTo(Tally& tally, int64_t tile, int64_t lanes) const {
    ++tally.tiles;
    tally.sweeps += sweeps;
    tally.sweepsMax = std::max(tally.sweepsMax, sweeps);
    tally.laneSweeps += laneSweeps;
    tally.laneTiles += lanes;
    tally.slow += sweeps > 4 || walked;
    tally.walked += walked;
    tally.mismatch = std::max(tally.mismatch, mismatch);
    tally.nonfinite = std::min(tally.nonfinite, nonfinite);
    tally.unsolved.add(unsolved);
    if (unconverged) {
      tally.unconvergedTile = std::min(tally.unconvergedTile, tile);
    }
  }
};

/// Tells a tile that does not contract from one that is merely slow. Every sweep makes one more
/// chunk exact; where three sweeps did no more than that, and the mismatch did not shrink to an
/// eighth either, the rest would take a sweep a chunk, and going through it once is cheaper.
class Stall {
public:
  /// After each correction: the worst mismatch of the lanes that do not agree yet, and how many
  /// start states changed.
  bool add(double worst, int64_t changed) {
    const int64_t now = sweeps_++ % window;
    const bool stalled =
        sweeps_ > window && changed + window >= changed_[now] && !(worst < worst_[now] / 8);
    worst_[now] = worst;
    changed_[now] = changed;
    return stalled;
  }

private:
  static constexpr int64_t window = 3;
  int64_t sweeps_ = 0;
  double worst_[window] = {};
  int64_t changed_[window] = {};
};

/// Solves one tile. A Mode has: lanes(), chunks(), shoot(sweep) (every chunk whose start changed),
/// agree(sweep, rules, stats) (compares; returns the worst mismatch of lanes that do not agree),
/// waiting() (how many those are), correct(), walk(sweep, chunk, stats) (the rest of the tile from
/// `chunk` on, whose start is exact, one chunk after the other).
template <class Mode>
void sweepTile(Mode& mode, const SweepRules& rules, TileStats& stats) {
  Stall stall;
  for (int64_t sweep = 1;; ++sweep) {
    mode.shoot(sweep);
    ++stats.sweeps;
    const double worst = mode.agree(sweep, rules, stats);
    if (mode.waiting() == 0) {
      return;
    }
    if (sweep == rules.maxSweeps) {
      stats.unconverged = true;
      stats.mismatch = std::max(stats.mismatch, worst);
      stats.laneSweeps += mode.waiting() * sweep;
      return;
    }
    const Changes changes = mode.correct();
    // As many sweeps as chunks always suffice if a kernel repeats itself bit for bit; one that does
    // not must not keep us here forever.
    if (stall.add(worst, changes.count) || sweep >= mode.chunks()) {
      stats.walked = true;
      ++stats.sweeps;
      stats.hopeless = 2 * mode.waiting() >= mode.lanes();
      mode.walk(sweep, changes.first, stats);
      return;
    }
  }
}

} // namespace rnnc::runtime::cpu
