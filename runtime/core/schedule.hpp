// The cost model: which schedule for which shape. It looks at the shape and the machine, never at
// the number of threads that a plan may use.
#pragma once

#include "rnn/rnn.h"

#include <cstdint>
#include <vector>

namespace rnnc::runtime {

/// Where an input or a result lies, in the default layout.
struct SequenceLayout {
  double stride = 1;     ///< numbers from one step of a lane to the next
  uint32_t together = 1; ///< sequences of the same tensor, itself included: elements of a block
};

struct ScheduleRequest {
  const char* system = "";
  int64_t lanes = 0, time = 0;
  uint32_t states = 1, carry = 0; ///< carry 0: sequential only
  bool diagonal = false;          ///< parallel only where it is asked for
  bool linear = false, constant = false;
  double tolerance = 0;
  std::vector<SequenceLayout> sequences;
  int64_t sideBySide = 1; ///< lanes that are neighbours in memory
  uint32_t elementSize = 4;
  std::vector<uint32_t> widths; ///< of the kernels, growing
  rnn_cost cost{};              ///< of a vector of widths.front() columns
  int cores = 1;
  // What the caller fixed.
  rnn_schedule schedule = RNN_SCHEDULE_AUTO;
  rnn_vector vector = RNN_VECTOR_AUTO;
  rnn_tiles tiles = RNN_TILES_AUTO;
  int64_t chunk = 0, chunks = 0;
  bool inWindows = false; ///< time is solved a window after the other: no tiles in parallel
  int64_t chunkHint = 0;  ///< steps a chunk, should the choice be parallel
};

/// `groups` vectors of `width` lanes, from lane `firstLane` on.
struct LaneRun {
  int64_t firstLane, groups;
  uint32_t width;
};

struct ScheduleChoice {
  bool parallel = false;
  rnn_vector vector = RNN_VECTOR_LANES;
  rnn_tiles tiles = RNN_TILES_SEQUENCE;
  int64_t chunk = 0, chunks = 1;
  uint32_t width = 0;         ///< RNN_VECTOR_CHUNKS: columns a vector
  std::vector<LaneRun> lanes; ///< RNN_VECTOR_LANES
  double seconds = 0;
};

struct Schedules {
  ScheduleChoice chosen;
  double secondsSequential = 0, secondsParallel = 0; ///< 0: no cost known, or not possible
};

/// Throws where what the caller fixed is impossible.
Schedules chooseSchedule(const ScheduleRequest& request);

} // namespace rnnc::runtime
