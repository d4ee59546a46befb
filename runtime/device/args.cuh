// What a kernel is called with: plain data, laid out the same on host and device.
//
// A *slot* is one scalar of a lane: an element of an array whose other indices are the lane's. Its
// place for a lane, and a step where there is one, is data + sum of index * stride, strides in
// elements, of any sign. Every field is 8 bytes, so there is no padding on any platform.
#pragma once

namespace rnn {

/// Arrays of length 0 do not exist; they have one element that nobody uses.
constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

/// Axes in this order, as far as the slot has them: batch, time, lane axes.
template <class T, int axes>
struct slot {
  T* data;
  long long stride[at_least_one(axes)];
};

template <int rank>
struct state_slot {
  slot<const void, 1 + rank> initial; ///< batch, lane axes; no data: `fill`
  slot<void, 1 + rank> final;         ///< batch, lane axes; no data: not stored
  slot<void, 2 + rank> sequence;      ///< batch, time, lane axes; no data: not stored
  double fill;
};

/// What a solve counts. The caller zeroes it before the launch; everything is an integer and a sum
/// or a maximum, so that the order in which blocks add to it does not matter. Words as in
/// docs/solver.md. A sequential solve has no tiles and reports `nonfinite` only.
struct forward_report {
  unsigned long long tiles;       ///< of a group of lanes
  unsigned long long sweeps;      ///< passes over a tile, all tiles
  unsigned long long sweeps_max;  ///< of one tile
  unsigned long long lane_tiles;  ///< lanes of all tiles
  unsigned long long lane_sweeps; ///< the sweep at which a lane agreed, over all lanes and tiles
  unsigned long long slow;        ///< tiles with more than 4 sweeps, or walked
  unsigned long long walked;      ///< tiles that did not contract
  unsigned long long mismatch;    ///< bits of the largest accepted mismatch, a double
  unsigned long long nonfinite;   ///< ~(first step with a state that is not finite); 0: none
  unsigned long long unconverged; ///< ~(first tile that max_sweeps ended); 0: none
  /// ~(step * 2^24 + lane) of the first implicit step without a solution, the lane 2^24 - 1 at
  /// most; 0: none
  unsigned long long unsolved;
};

/// Arguments of a forward kernel. The numbers behind the pointers are of the type of computation.
/// Lanes are numbered over (batch, lane axes), last fastest; blocks share them in groups, and any
/// number of blocks is right. Results may share memory with inputs of the same place (batch, lane)
/// only if no later step reads what an earlier one writes.
template <int states, int inputs, int params, int outputs, int rank>
struct forward_args {
  enum { axes = rank }; ///< lane axes

  long long batch, time;               ///< any, 0 included
  long long lanes[at_least_one(rank)]; ///< sizes of the lane axes
  double tolerance;                    ///< 0: bit for bit
  long long max_sweeps;                ///< a tile; 0: as many as it takes. Only with tolerance > 0
  forward_report* report;              ///< null: not wanted
  state_slot<rank> state[states];
  /// Batch, time, lane axes: the array at step 0, however many steps ago the cell reads it. Of
  /// inputs that read one array (windows.cuh), the first one's slot is used.
  slot<const void, 2 + rank> input[at_least_one(inputs)];
  slot<const void, rank> param[at_least_one(params)]; ///< lane axes
  slot<void, 2 + rank> output[at_least_one(outputs)]; ///< as a state's sequence
};

} // namespace rnn
