// What a solve counts, and how it is told.
#pragma once

#include "rnn/rnn.h"

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>

namespace rnnc::runtime {

/// An implicit step that found no solution. The first: in time, then by system and lane.
struct Unsolved {
  int64_t step = INT64_MAX, system = 0, lane = 0; ///< INT64_MAX: none

  bool any() const { return step != INT64_MAX; }
  void add(const Unsolved& other) { *this = std::min(*this, other); }
  auto operator<=>(const Unsolved&) const = default;
};

/// Sums and extremes only, so that the order in which threads add to it does not matter.
struct Tally {
  int64_t tiles = 0, sweeps = 0, sweepsMax = 0;
  int64_t laneSweeps = 0, laneTiles = 0;
  int64_t slow = 0, walked = 0, outerSweeps = 0;
  double mismatch = 0;
  int64_t nonfinite = INT64_MAX;       ///< first step; INT64_MAX: none
  int64_t unconvergedTile = INT64_MAX; ///< first; INT64_MAX: none
  double unconvergedMismatch = 0;
  Unsolved unsolved;

  void add(const Tally& other);
  rnn_report report() const;
};

/// How far a call is, in steps of vectors. All of a call's threads write it, any other thread may
/// read it; only through this class, which keeps nothing else than the place.
class Progress {
public:
  struct Place {
    alignas(std::atomic_ref<int64_t>::required_alignment) int64_t done, total;
  };
  explicit Progress(Place& place) : place_(place) {}

  void begin(double total);
  void advance(int64_t steps) const {
    std::atomic_ref(place_.done).fetch_add(steps, std::memory_order_relaxed);
  }
  void end();
  double fraction() const;

private:
  Place& place_;
};

/// At the start of every workspace.
struct ReportHeader {
  static constexpr uint64_t magicValue = 0x524e4e5245504f52u;
  uint64_t magic;
  Progress::Place progress;
  rnn_report report;
};

} // namespace rnnc::runtime
