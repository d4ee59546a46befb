// Tiles in parallel: the sweeps of SOLVER.md section 2 one level up. Every tile is a chunk with a
// guessed start; outer sweeps solve all tiles whose start changed and correct the starts by the
// same scan, until they meet.
#pragma once

#include "cpu/group.hpp"

namespace rnnc::runtime::cpu {

/// The workspace of the threads: `bytes` apart, with a tally for each.
struct ThreadSlices {
  char* base;
  int64_t bytes;
  Tally* tallies;

  void* slice(int slot) const { return base ? base + slot * bytes : nullptr; }
};

/// What stays between the outer sweeps of one system; all of it lies in the workspace.
template <class F>
class TilesInParallel {
public:
  TilesInParallel(const SystemPlan& system, Carver& carver);

  void solve(const Call& call, const ThreadSlices& threads);

private:
  struct Group {
    int64_t lanes, width, waiting, outerSweeps;
    bool done;
    int64_t sequenceFrom; ///< from this tile on one after the other; -1: no
    double mismatch;
    int64_t unconvergedTile; ///< -1: none
    Stall stall;
  };
  struct Record {
    TileStats stats;   ///< sweeps of all its solves; the rest is the last one's
    int64_t solves;    ///< above 0: its TileState is that of the last one
    bool walkedBefore; ///< it did not contract: not tried again
  };

  int64_t index(int64_t group, int64_t tile) const { return system_.tilesBefore(group) + tile; }
  F* startOf(int64_t group, int64_t tile) const;
  F* endOf(int64_t group, int64_t tile) const;
  F* carryOf(int64_t group, int64_t tile) const;
  F* sumsOf(int64_t group, int64_t tile) const {
    return sums_ + index(group, tile) * system_.sumRows() * width_;
  }
  void begin(const Call& call, int64_t group, GroupSolver<F>& solver);
  void solveDirty(const Call& call, const ThreadSlices& threads, bool probes);
  void solveOne(const Call& call, int64_t group, int64_t tile, GroupSolver<F>& solver);
  void judgeProbes(int64_t group);
  void compare(const Plan& plan, int64_t group);
  int64_t firstGap(int64_t group, const CarryPattern& pattern, double tolerance) const;
  void toSequence(int64_t group, int64_t tile);
  void finish(const Call& call, int64_t group, GroupSolver<F>& solver, Tally& tally);
  bool isProbe(int64_t group, int64_t tile) const;

  const SystemPlan& system_;
  int64_t width_; ///< room for the widest group
  Group* groups_;
  Record* records_;
  F* start_;          ///< [group][tile][states][width]
  F* end_;            ///< [group][tile][states][width]
  F* carry_;          ///< [group][tile][carry][width]
  uint8_t* dirty_;    ///< [group][tile]
  BitsOf<F>* agreed_; ///< [group][width]
  F* room_;           ///< [group][2][states][width] for the scan
  F* sums_;           ///< [group][tile][sumRows][width]
  char* tiles_;       ///< the TileStates
  int64_t tileBytes_;
};

} // namespace rnnc::runtime::cpu
