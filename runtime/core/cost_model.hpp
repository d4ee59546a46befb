// What a schedule is likely to cost, from the shape, the module's table and a few measured
// constants. In nanoseconds. Only the ratio of two estimates decides anything.
#pragma once

#include "core/schedule.hpp"

namespace rnnc::runtime {

class CostModel {
public:
  explicit CostModel(const ScheduleRequest& request);

  /// One step of one vector of `width` columns.
  double vectorStep(uint32_t width, bool jacobian) const;
  /// Copying the numbers of the lanes in one vector of lanes, a step; 0 where they are used in
  /// place.
  double laneCopies(uint32_t width) const;
  /// All steps with the lanes in vectors of `width`, the chunk and the chunks of `choice`.
  double lanesInVectors(const ScheduleChoice& choice, uint32_t width) const;
  /// The same with the chunks of a lane in vectors of choice.width.
  double chunksInVectors(const ScheduleChoice& choice) const;

private:
  /// One tile.
  struct Tile {
    double steps;
    double solve;     ///< from a guess
    double first = 0; ///< what the first of a sequence costs more
    double again = 0; ///< shot again from a start that moved a little
  };
  double sweeps(int64_t chunk, int64_t chunks) const;
  /// How many of so many sweeps run with the Jacobian.
  double jacobianSweeps(double sweeps) const;
  double tiles(rnn_tiles tiles, int64_t vectors, const Tile& tile) const;
  double sequences() const { return double(r_.sequences.size()); }
  double rowBytes(double columns) const;
  /// Copying the numbers of one step of one lane, `chunk` steps a column.
  double chunkCopies(int64_t chunk) const;

  const ScheduleRequest& r_;
  rnn_cost cost_;
};

} // namespace rnnc::runtime
