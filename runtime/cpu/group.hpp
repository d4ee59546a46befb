// Solves one group: one vector of lanes, or one lane whose chunks fill vectors.
#pragma once

#include "cpu/tile.hpp"

namespace rnnc::runtime::cpu {

/// Chunk vectors of a tile.
int64_t tileVectors(const SystemPlan& system);
/// Columns of the widest vector that a tile of the system has.
int64_t tileWidth(const SystemPlan& system);
/// Columns of a group's states: the lanes of a vector, or one.
int64_t groupWidth(const SystemPlan& system);

/// A tile that is known not to contract is not tried again at once: after each failure twice as
/// many tiles are walked straight away, up to a limit.
class WalkPolicy {
public:
  bool walkNext() {
    const bool walk = skip_ > 0;
    skip_ -= walk;
    return walk;
  }
  void tried(bool walked) {
    skip_ = walked ? pause_ : 0;
    pause_ = walked ? std::min(2 * pause_, longestPause) : 1;
  }

private:
  static constexpr int longestPause = 32;
  int skip_ = 0, pause_ = 1;
};

/// Tiles of one lane tend to take equally many sweeps. The sweep that is probably the last needs no
/// Jacobian; where that was wrong, the correction uses the one of the sweep before.
class SweepPrediction {
public:
  /// 0: no idea. Never the first sweep, which would leave nothing to correct with.
  int64_t expected() const { return repeats_ > 0 && last_ > 1 ? last_ : 0; }
  void saw(const TileStats& stats) {
    repeats_ = !stats.walked && stats.sweeps == last_ ? repeats_ + 1 : 0;
    last_ = stats.walked ? 0 : stats.sweeps;
  }

private:
  int64_t last_ = 0, repeats_ = 0;
};

/// How a tile is solved.
enum class TileStart {
  Fresh, ///< nothing is known
  Warm,  ///< the TileState is of an earlier solve of this tile, from another start
  Walk,  ///< one step after the other; leaves the TileState alone
};

template <class F>
class GroupSolver {
public:
  GroupSolver(const SystemPlan& system, Carver& carver);

  /// Sums go to the call's place for the group.
  void bind(const Call& call, int64_t group);
  /// They go to `sums` ([sumRows][width()]) from now on.
  void sumTo(F* sums) { sums_ = sums; }
  int64_t lanes() const { return lanes_.valid(); }
  int64_t width() const { return system_.chunksInVectors() ? 1 : lanes_.width(); }

  /// States are [states][width()]. Before the call's `begin`.
  void startState(F* state);
  /// Of the lanes from `first` on.
  void finalState(const F* state, int64_t first = 0);

  /// From `state` before step `time` to the call's `end`, as the schedule says but with tiles in
  /// sequence, each from the exact end of the one before; and the final states of lanes that end.
  /// `state` is used up.
  void solve(int64_t time, F* state, Tally& tally);

  /// Solves one tile of the schedule; `state` in and out. `carry` ([carry][width()]): where not
  /// null, gets the product of the Jacobians over the tile; zeros for a tile that was walked, or in
  /// which a sequence begins anew.
  void solveTile(int64_t tile, TileStart how, TileState<F>& tileState, F* state, F* carry,
                 TileStats& stats);

  /// Of the longest lane.
  int64_t steps() const { return lanes_.stepsOf(0); }
  int64_t stepsOf(int64_t tile) const {
    return std::min(system_.tileSteps, steps() - tile * system_.tileSteps);
  }

  F* state() { return state_; }

private:
  void solveWindow(int64_t time, int64_t end, WalkPolicy& policy, F* state, Tally& tally);
  void solveNext(int64_t time, int64_t steps, WalkPolicy& policy, F* state, Tally& tally);
  void solveFrame(const TileFrame& frame, TileStart how, TileState<F>& tileState, F* state,
                  F* carry, TileStats& stats);
  int64_t endLanes(int64_t time, F* state);
  void restart(int64_t time, F* state);
  void toAlone(const F* state);
  void fromAlone(F* state) const;
  void clearAloneSums();
  void addAloneSums();
  void solveLanes(const TileFrame& frame, TileStart how, TileState<F>& tileState, F* state,
                  F* carry, TileStats& stats);
  void solveChunks(const TileFrame& frame, TileStart how, TileState<F>& tileState, F* state,
                   F* carry, TileStats& stats);
  void walkTile(const TileFrame& frame, F* state, TileStats& stats);

  const SystemPlan& system_;
  const Call* call_ = nullptr;
  SweepPrediction prediction_;
  Columns<F> lanes_;  ///< vectors of lanes; or the one lane alone
  Columns<F> chunks_; ///< vectors of chunks
  TileState<F> ownTile_;
  TileScratch<F> scratch_;
  F* state_;      ///< [states][groupWidth]
  F* aloneState_; ///< [states][width of lanes_]
  F* aloneSums_;  ///< [sumRows][width of lanes_]
  F* sums_ = nullptr;
};

} // namespace rnnc::runtime::cpu
