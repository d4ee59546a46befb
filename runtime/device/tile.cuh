// One tile of a group of lanes: sweep until every lane's chunks meet, or walk.
//
// Threads are (lane, chunk); the lanes of a block are those of one warp, so every warp sees all
// lanes, computes every decision itself from the same numbers, and all warps decide alike.
#pragma once

#include "rnn/report.cuh"
#include "rnn/scan.cuh"
#include "rnn/shoot.cuh"

namespace rnn {

constexpr unsigned int all_lanes = 0xffffffffu;

/// The largest of the warp's numbers.
template <class real>
__device__ inline real warp_max(real x) {
  for (int distance = 16; distance > 0; distance /= 2) {
    const real other = __shfl_xor_sync(all_lanes, x, distance);
    x = other > x ? other : x;
  }
  return x;
}

/// How many of the warp's lanes.
__device__ inline int warp_count(bool lanes) { return __popc(__ballot_sync(all_lanes, lanes)); }

/// Tells a tile that does not contract from one that is merely slow. Every sweep makes one more
/// chunk exact; where three sweeps did no more than that, and the mismatch did not shrink to an
/// eighth either, the rest would take a sweep a chunk, and going through it once is cheaper.
__device__ inline bool stalled(sweep_history& history, int sweep, double worst, int moved) {
  const int then = (sweep + 1) % 4; // three sweeps ago
  const bool stall =
      sweep > 3 && moved + 3 >= history.moved[then] && !(worst < history.worst[then] / 8);
  if (takes_notes()) {
    history.worst[sweep % 4] = worst;
    history.moved[sweep % 4] = moved;
  }
  return stall;
}

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

struct sweep_rules {
  double tolerance;
  long long max_sweeps;
};

/// What the rest of the kernel wants to know of a tile; `hopeless` is the same in every thread.
struct tile_end {
  bool hopeless = false; ///< did not contract, on account of half of its lanes or more
  bool given_up = false; ///< max_sweeps ended it
  shot seen;             ///< in the thread's chunk, by its last shoot
};

template <class Cell, class Policy, class Stage>
class tile_solver {
public:
  using real = typename number_of<Cell>::type;
  enum { k = Cell::states };
  static_assert(Policy::lanes == 32 && Policy::chunks <= 32, "a warp holds the lanes of a block");

  /// `valid`: the thread's lane exists. `steps`: of the thread's chunk, 0 where the lane does not
  /// exist or the tile ends before. `chunks`: those of the tile that have steps.
  __device__ tile_solver(exchange<Cell, Policy, real>& others, block_notes& notes, Stage& stage,
                         const real (&param)[at_least_one(Cell::params)], bool valid, int chunks,
                         int steps)
      : others_(others), notes_(notes), stage_(stage), param_(param), chunk_(threadIdx.y),
        chunks_(chunks), steps_(steps), valid_(valid), waiting_(valid), dirty_(steps > 0) {}

  /// From the exact `state` in front of the tile to the one behind it. `walk`: do not even try.
  __device__ __forceinline__ tile_end solve(real (&state)[k], const sweep_rules& rules, bool walk) {
    each<k>([&](auto i) { start_[i] = state[i]; });
    walking_ = planned_ = walk;
    bool solved = false;
    while (!solved) {
      // The one place where steps are run: a second one would double the code.
      if (waiting_ && dirty_ && (!walking_ || chunk_ == position_)) {
        shoot_chunk();
      }
      __syncthreads();
      solved = walking_ ? walk_on(state) : finish_sweep(state, rules);
    }
    if (takes_notes()) {
      notes_.tally.tile(sweeps_ + walking_, walking_);
    }
    return end_;
  }

private:
  __device__ __forceinline__ void shoot_chunk() {
    real end[k], carry[Cell::carry::size];
    each<k>([&](auto i) { end[i] = start_[i]; });
    end_.seen = shoot<Cell>(stage_, steps_, param_, end, carry,
                            [&](auto s, const auto& result) { stage_.keep(s, result); });
    others_.publish(chunk_, start_, end, carry);
    dirty_ = false;
  }

  /// Behind a barrier that all have shot: compares, and corrects the starts. True: solved.
  __device__ __forceinline__ bool finish_sweep(real (&state)[k], const sweep_rules& rules) {
    ++sweeps_;
    real corrected[k];
    const bool moved = waiting_ && compare(state, corrected);
    const bool chunk_moved = __any_sync(all_lanes, moved);
    const int all_moved = __syncthreads_count(threadIdx.x == 0 && chunk_moved);
    const real worst = waiting_ ? worst_miss() : real(0);
    const bool agreed = waiting_ && worst <= real(rules.tolerance);
    waiting_ = waiting_ && !agreed;
    const int left = warp_count(waiting_);
    note(agreed, worst, left > 0 && sweeps_ == rules.max_sweeps);
    if (left == 0) {
      return true;
    }
    if (sweeps_ == rules.max_sweeps) {
      end_.given_up = true;
      return true;
    }
    if (waiting_ && moved) {
      each<k>([&](auto i) { start_[i] = corrected[i]; });
      dirty_ = true;
    }
    // As many sweeps as chunks always suffice if a step repeats itself bit for bit; one that does
    // not must not keep us here forever.
    if (stalled(notes_.history, sweeps_, warp_max(waiting_ ? worst : real(0)), all_moved) ||
        sweeps_ >= chunks_) {
      walking_ = true;
      position_ = first_miss();
      end_.hopeless = 2 * left >= warp_count(valid_);
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

  /// Of the thread's lane, over all boundaries.
  __device__ __forceinline__ real worst_miss() const {
    real worst = 0;
#pragma unroll 4
    for (int w = 1; w < chunks_; ++w) {
      const real miss = others_.miss_of(w);
      worst = miss > worst ? miss : worst;
    }
    return worst;
  }

  /// Behind a sweep: `agreed`, the lane does since this sweep; `all`: those that do not end here
  /// too.
  __device__ __forceinline__ void note(bool agreed, real worst, bool all) {
    if (chunk_ != 0) {
      return;
    }
    const bool ends = agreed || (all && waiting_);
    const int lanes = warp_count(ends);
    const real accepted = warp_max(ends ? worst : real(0));
    if (threadIdx.x == 0) {
      notes_.tally.lane_sweeps += static_cast<long long>(lanes) * sweeps_;
      notes_.tally.accept(accepted);
    }
  }

  /// The first chunk of which a lane that waits does not start where the one in front ends.
  __device__ __forceinline__ int first_miss() const {
    int w = 1;
    while (w + 1 < chunks_ && !__any_sync(all_lanes, waiting_ && others_.miss_of(w) != real(0))) {
      ++w;
    }
    return w;
  }

  /// Behind a barrier that the chunk at `position_` was shot: the next one starts where it ended.
  __device__ __forceinline__ bool walk_on(real (&state)[k]) {
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
    // Sweeping on would have taken a lane at most one sweep for each start that was wrong here, and
    // one to see that none is; a lane that was walked from the first chunk on counts as one that
    // needs as many sweeps as there are chunks.
    const int wrong = __syncthreads_count(wrong_);
    const int left = warp_count(waiting_);
    if (takes_notes()) {
      notes_.tally.lane_sweeps += planned_ ? left * chunks_ : left * (sweeps_ + 1) + wrong;
    }
    return true;
  }

  exchange<Cell, Policy, real>& others_;
  block_notes& notes_;
  Stage& stage_;
  const real (&param_)[at_least_one(Cell::params)];
  const int chunk_, chunks_, steps_;
  const bool valid_;
  bool waiting_; ///< the lane does not agree yet
  bool dirty_;   ///< the start changed since the last shoot
  real start_[k];
  int sweeps_ = 0;
  bool walking_ = false, planned_ = false; ///< planned: from the first chunk on
  bool wrong_ = false;                     ///< found while walking: this chunk's start was
  int position_ = 0;                       ///< of the walk: the chunk to shoot
  tile_end end_;
};

} // namespace rnn
