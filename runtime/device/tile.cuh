// One tile of a group of lanes: sweep until every lane's chunks meet, or walk.
//
// Threads are (lane, chunk); the lanes of a block are those of one warp, so every warp sees all
// lanes, computes every decision itself from the same numbers, and all warps decide alike.
#pragma once

#include "rnn/scan.cuh"
#include "rnn/shoot.cuh"

namespace rnn {

constexpr unsigned int all_lanes = 0xffffffffu;

/// Tells a tile that does not contract from one that is merely slow. Every sweep makes one more
/// chunk exact; where three sweeps did no more than that, and the mismatch did not shrink to an
/// eighth either, the rest would take a sweep a chunk, and going through it once is cheaper.
template <class real>
class stall {
public:
  /// After each correction: the worst mismatch of the lanes that do not agree yet, and how many
  /// chunks start elsewhere now.
  __device__ bool add(int sweep, real worst, int changed) {
    const bool stalled = sweep > 3 && changed + 3 >= changed_[0] && !(worst < worst_[0] / 8);
    worst_[0] = worst_[1], worst_[1] = worst_[2], worst_[2] = worst;
    changed_[0] = changed_[1], changed_[1] = changed_[2], changed_[2] = changed;
    return stalled;
  }

private:
  real worst_[3] = {};
  int changed_[3] = {};
};

/// A tile that is known not to contract is not tried again at once: after each failure twice as
/// many tiles are walked straight away, up to a limit.
class walk_policy {
public:
  __device__ bool walk_next() {
    const bool walk = skip_ > 0;
    skip_ -= walk;
    return walk;
  }
  __device__ void tried(bool hopeless) {
    skip_ = hopeless ? pause_ : 0;
    pause_ = hopeless ? (pause_ < 16 ? 2 * pause_ : 32) : 1;
  }

private:
  int skip_ = 0, pause_ = 1;
};

/// What solving one tile took; the same in every thread but for `mismatch` and `broken`.
template <class real>
struct tile_stats {
  int sweeps = 0;      ///< passes over the tile
  int lane_sweeps = 0; ///< sum over lanes of the sweep at which each first agreed
  bool walked = false, hopeless = false, unconverged = false;
  real mismatch = 0; ///< of the thread's lane, when the tile ended
  int broken = -1;   ///< first step of the thread's chunk with a state that is not finite
};

/// The largest of the warp's numbers.
template <class real>
__device__ inline real warp_max(real x) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const real other = __shfl_xor_sync(all_lanes, x, distance);
    x = other > x ? other : x;
  }
  return x;
}

struct sweep_rules {
  double tolerance;
  long long max_sweeps;
};

template <class Cell, class Policy, class Stage>
class tile_solver {
public:
  using real = typename number_of<Cell>::type;
  static constexpr int k = Cell::states;
  static_assert(Policy::lanes == 32 && Policy::chunks <= 32, "a warp holds the lanes of a block");

  /// `valid`: the thread's lane exists. `steps`: of the thread's chunk, 0 where the lane does not
  /// exist or the tile ends before. `chunks`: those of the tile that have steps.
  __device__ tile_solver(exchange<Cell, Policy, real>& others, Stage& stage,
                         const real (&param)[at_least_one(Cell::params)], bool valid, int chunks,
                         int steps)
      : others_(others), stage_(stage), param_(param), chunk_(threadIdx.y), chunks_(chunks),
        steps_(steps), valid_(valid), waiting_(valid), dirty_(steps > 0) {}

  /// From the exact `state` in front of the tile to the one behind it.
  __device__ __forceinline__ void solve(real (&state)[k], const sweep_rules& rules, bool walk,
                                        tile_stats<real>& stats) {
    each<k>([&](auto i) { start_[i] = state[i]; });
    planned_ = walk;
    if (walk) {
      start_walk(0, stats);
      stats.lane_sweeps = count(valid_) * chunks_;
    }
    bool solved = false;
    while (!solved) {
      // The one place where steps are run: a second one would double the code.
      if (waiting_ && dirty_ && (!stats.walked || chunk_ == position_)) {
        shoot_chunk(stats);
      }
      __syncthreads();
      solved = stats.walked ? walk_on(state, stats) : finish_sweep(state, rules, stats);
    }
  }

private:
  static __device__ int count(bool lanes) { return __popc(__ballot_sync(all_lanes, lanes)); }

  __device__ __forceinline__ void shoot_chunk(tile_stats<real>& stats) {
    real end[k], carry[Cell::carry::size];
    each<k>([&](auto i) { end[i] = start_[i]; });
    stats.broken = shoot<Cell, true>(stage_, steps_, param_, end, carry,
                                     [&](auto s, const auto& result) { stage_.keep(s, result); });
    others_.publish(chunk_, start_, end, carry);
    dirty_ = false;
  }

  /// Behind a barrier that all have shot: compares, and corrects the starts. True: solved.
  __device__ __forceinline__ bool finish_sweep(real (&state)[k], const sweep_rules& rules,
                                               tile_stats<real>& stats) {
    ++stats.sweeps;
    real corrected[k];
    const bool moved = waiting_ && compare(state, corrected);
    const int all_moved = __syncthreads_count(threadIdx.x == 0 && __any_sync(all_lanes, moved));
    const int waited = count(waiting_);
    if (waiting_) {
      judge(rules, stats);
    }
    const int left = count(waiting_);
    stats.lane_sweeps += (waited - left) * stats.sweeps;
    if (left == 0) {
      return true;
    }
    if (stats.sweeps == rules.max_sweeps) {
      stats.unconverged = true;
      stats.lane_sweeps += left * stats.sweeps;
      return true;
    }
    if (waiting_ && moved) {
      each<k>([&](auto i) { start_[i] = corrected[i]; });
      dirty_ = true;
    }
    // As many sweeps as chunks always suffice if a step repeats itself bit for bit; one that does
    // not must not keep us here forever.
    const real worst = warp_max(waiting_ ? stats.mismatch : real(0));
    if (progress_.add(stats.sweeps, worst, all_moved) || stats.sweeps >= chunks_) {
      stats.lane_sweeps += left * (stats.sweeps + 1);
      stats.hopeless = 2 * left >= count(valid_);
      start_walk(first_miss(), stats);
    }
    return false;
  }

  /// Reads what the others shot. True: this chunk should start elsewhere, at `corrected`.
  __device__ __forceinline__ bool compare(real (&state)[k], real (&corrected)[k]) {
    others_.end_of(chunks_ - 1, state);
    if (chunk_ == 0 || chunk_ >= chunks_) {
      return false;
    }
    others_.publish_miss(chunk_, others_.miss(chunk_, start_));
    others_.correct(chunk_, corrected);
    return !same(corrected, start_);
  }

  /// Does the thread's lane agree everywhere?
  __device__ __forceinline__ void judge(const sweep_rules& rules, tile_stats<real>& stats) {
    real worst = 0;
#pragma unroll 4
    for (int w = 1; w < chunks_; ++w) {
      const real miss = others_.miss_of(w);
      worst = miss > worst ? miss : worst;
    }
    stats.mismatch = worst;
    waiting_ = !(worst <= real(rules.tolerance));
  }

  /// The first chunk of which a lane that waits does not start where the one in front ends.
  __device__ __forceinline__ int first_miss() const {
    int w = 1;
    while (w + 1 < chunks_ && !__any_sync(all_lanes, waiting_ && others_.miss_of(w) != real(0))) {
      ++w;
    }
    return w;
  }

  __device__ void start_walk(int position, tile_stats<real>& stats) {
    position_ = position;
    stats.walked = true;
    ++stats.sweeps;
    stats.mismatch = waiting_ ? real(0) : stats.mismatch;
  }

  /// Behind a barrier that the chunk at `position_` was shot: the next one starts where it ended.
  __device__ __forceinline__ bool walk_on(real (&state)[k], tile_stats<real>& stats) {
    ++position_;
    if (position_ < chunks_) {
      if (waiting_ && chunk_ == position_) {
        real end[k];
        others_.end_of(position_ - 1, end);
        wrong_ = !same(end, start_);
        dirty_ = dirty_ || wrong_;
        each<k>([&](auto i) { start_[i] = end[i]; });
      }
      return false;
    }
    if (valid_) {
      others_.end_of(chunks_ - 1, state);
    }
    // Sweeping on would have taken a lane at most one sweep for each start that was wrong.
    const int wrong = __syncthreads_count(wrong_);
    stats.lane_sweeps += planned_ ? 0 : wrong;
    return true;
  }

  exchange<Cell, Policy, real>& others_;
  Stage& stage_;
  const real (&param_)[at_least_one(Cell::params)];
  const int chunk_, chunks_, steps_;
  const bool valid_;
  bool waiting_; ///< the lane does not agree yet
  bool dirty_;   ///< the start changed since the last shoot
  real start_[k];
  stall<real> progress_;
  int position_ = 0; ///< of a walk: the chunk to shoot
  bool planned_ = false,
       wrong_ = false; ///< of a walk: from the first chunk on; this start was wrong
};

} // namespace rnn
