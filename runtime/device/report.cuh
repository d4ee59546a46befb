// Counting what a solve took, for one group of lanes at a time.
#pragma once

#include "rnn/args.cuh"
#include "rnn/tile.cuh"

namespace rnn {

/// Of the tiles of one group of lanes. In shared memory, where it costs no registers; only the
/// block's first thread touches it.
struct group_tally {
  unsigned long long tiles, sweeps, sweeps_max, lane_sweeps, slow, walked, unconverged;
  double mismatch;
};
static_assert(sizeof(group_tally) == shared_shape::tally_bytes);

__device__ inline bool counts() { return threadIdx.x == 0 && threadIdx.y == 0; }

/// By the threads of the first chunk.
template <class real>
__device__ inline void add(group_tally& tally, const tile_stats<real>& stats, long long tile) {
  const double mismatch = warp_max(stats.mismatch);
  if (threadIdx.x != 0) {
    return;
  }
  const unsigned long long sweeps = stats.sweeps;
  tally.tiles += 1;
  tally.sweeps += sweeps;
  tally.sweeps_max = sweeps > tally.sweeps_max ? sweeps : tally.sweeps_max;
  tally.lane_sweeps += stats.lane_sweeps;
  tally.slow += sweeps > 4 || stats.walked;
  tally.walked += stats.walked;
  tally.mismatch = mismatch > tally.mismatch ? mismatch : tally.mismatch;
  if (stats.unconverged && tally.unconverged == 0) {
    tally.unconverged = ~static_cast<unsigned long long>(tile);
  }
}

/// By the block's first thread, at the end of a group.
__device__ inline void add(forward_report& report, const group_tally& tally, int lanes) {
  atomicAdd(&report.tiles, tally.tiles);
  atomicAdd(&report.sweeps, tally.sweeps);
  atomicMax(&report.sweeps_max, tally.sweeps_max);
  atomicAdd(&report.lane_tiles, tally.tiles * lanes);
  atomicAdd(&report.lane_sweeps, tally.lane_sweeps);
  atomicAdd(&report.slow, tally.slow);
  atomicAdd(&report.walked, tally.walked);
  atomicMax(&report.mismatch, bits(tally.mismatch));
  atomicMax(&report.unconverged, tally.unconverged);
}

/// The first step of a lane's chunks with a state that is not finite, told once a thread.
class nonfinite_watch {
public:
  __device__ void saw(forward_report* report, int broken, long long time) {
    if (broken >= 0 && !told_) {
      told_ = true;
      if (report) {
        atomicMax(&report->nonfinite, ~static_cast<unsigned long long>(time + broken));
      }
    }
  }

private:
  bool told_ = false;
};

} // namespace rnn
