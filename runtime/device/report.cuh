// Counting what a solve took, for one group of lanes at a time.
//
// In shared memory, where it costs no registers; the block's first thread alone writes it.
#pragma once

#include "rnn/args.cuh"
#include "rnn/platform.cuh"
#include "rnn/policy.cuh"

namespace rnn {

/// Of the tiles of one group of lanes.
struct group_tally {
  unsigned long long tiles, sweeps, sweeps_max, lane_sweeps, slow, walked, unconverged;
  double mismatch;

  __device__ void tile(int tile_sweeps, bool tile_walked) {
    const unsigned long long n = tile_sweeps;
    tiles += 1;
    sweeps += n;
    sweeps_max = n > sweeps_max ? n : sweeps_max;
    slow += n > 4 || tile_walked;
    walked += tile_walked;
  }
  __device__ void accept(double worst) { mismatch = worst > mismatch ? worst : mismatch; }
  __device__ void give_up(long long tile) {
    unconverged = unconverged == 0 ? ~static_cast<unsigned long long>(tile) : unconverged;
  }

  /// At the end of the group, which has `lanes` lanes.
  __device__ void add_to(forward_report& report, int lanes) const {
    atomicAdd(&report.tiles, tiles);
    atomicAdd(&report.sweeps, sweeps);
    atomicMax(&report.sweeps_max, sweeps_max);
    atomicAdd(&report.lane_tiles, tiles * lanes);
    atomicAdd(&report.lane_sweeps, lane_sweeps);
    atomicAdd(&report.slow, slow);
    atomicAdd(&report.walked, walked);
    atomicMax(&report.mismatch, bits(mismatch));
    atomicMax(&report.unconverged, unconverged);
  }
};

/// The worst mismatch of the lanes that do not agree, and how many chunks start elsewhere now, of
/// the last sweeps of a tile: sweep s is at s % 4, so that a sweep is written only after all have
/// read the one that it replaces.
struct sweep_history {
  double worst[4];
  int moved[4];
};

struct block_notes {
  group_tally tally;
  sweep_history history;
};
static_assert(sizeof(block_notes) == shared_shape::notes_bytes, "what a launch asks for");

/// Of the block: who writes its notes.
__device__ inline bool takes_notes() { return threadIdx.x == 0 && threadIdx.y == 0; }

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

/// The same for the first implicit step of a lane that found no solution.
class unsolved_watch {
public:
  __device__ void saw(forward_report* report, int unsolved, long long time, long long lane) {
    if (unsolved >= 0 && !told_) {
      told_ = true;
      if (report) {
        constexpr long long lanes = 1 << 24;
        const long long place = (time + unsolved) * lanes + (lane < lanes ? lane : lanes - 1);
        atomicMax(&report->unsolved, ~static_cast<unsigned long long>(place));
      }
    }
  }

private:
  bool told_ = false;
};

} // namespace rnn
