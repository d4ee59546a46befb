// Packed batches: several sequences one behind the other on one axis of time.
#pragma once

#include "rnn/rnn.h"

#include <cstdint>
#include <vector>

namespace rnnc::runtime {

/// Times here are in the order of the computation: reversed, time 0 is the last place of an array.
struct Segment {
  int64_t number; ///< among the caller's
  int64_t begin, steps;
};

struct Segments {
  bool packed = false; ///< false: a batch of whole sequences, and nothing below holds
  /// Longest first: lanes that share a vector are about equally long, and threads end together.
  std::vector<Segment> longestFirst;
  std::vector<int64_t> begins;  ///< ascending
  std::vector<Segment> byBegin; ///< likewise, those that have steps

  int64_t count() const { return static_cast<int64_t>(longestFirst.size()); }
  int64_t longest() const { return longestFirst.empty() ? 0 : longestFirst.front().steps; }
  /// Those that have steps.
  int64_t filled() const;
  /// The one that has step `time`.
  const Segment& at(int64_t time) const;
  /// Does one begin after step `time` - `back`, up to `time`?
  bool beginsWithin(int64_t time, int64_t back) const;
};

/// Throws where the offsets break a rule of rnn_plan_options.
Segments readSegments(const rnn_plan_options& options);

} // namespace rnnc::runtime
