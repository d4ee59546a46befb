// What a solve counts, and how it is told.
#pragma once

#include "rnn/rnn.h"

#include <algorithm>
#include <cstdint>

namespace rnnc::runtime {

/// Sums and extremes only, so that the order in which threads add to it does not matter.
struct Tally {
  int64_t tiles = 0, sweeps = 0, sweepsMax = 0;
  int64_t laneSweeps = 0, laneTiles = 0;
  int64_t slow = 0, walked = 0, outerSweeps = 0;
  double mismatch = 0;
  int64_t nonfinite = INT64_MAX;       ///< first step; INT64_MAX: none
  int64_t unconvergedTile = INT64_MAX; ///< first; INT64_MAX: none
  double unconvergedMismatch = 0;

  void add(const Tally& other);
  rnn_report report() const;
};

/// At the start of every workspace.
struct ReportHeader {
  static constexpr uint64_t magicValue = 0x524e4e5245504f52u;
  uint64_t magic;
  rnn_report report;
};

} // namespace rnnc::runtime
