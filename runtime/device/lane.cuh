// Where a lane's numbers are in the caller's arrays.
#pragma once

#include "rnn/args.cuh"
#include "rnn/cell.cuh"
#include "rnn/pattern.cuh"
#include "rnn/platform.cuh"

namespace rnn {

/// All lanes of a call.
template <class Args>
__device__ inline long long lane_count(const Args& args) {
  long long lanes = args.batch;
  each<Args::axes>([&](auto axis) { lanes *= args.lanes[axis]; });
  return lanes;
}

/// A lane's indices: batch element, lane axes.
template <int rank>
struct lane_place {
  long long batch, axis[at_least_one(rank)];

  template <class Args>
  __device__ lane_place(const Args& args, long long lane) {
    each<rank>([&](auto i) {
      constexpr int a = rank - 1 - decltype(i)::value;
      axis[a] = lane % args.lanes[a];
      lane /= args.lanes[a];
    });
    batch = lane;
  }

  /// Sum over the lane axes, whose strides begin at `first`.
  template <int first, class T, int axes>
  __device__ long long lane_offset(const slot<T, axes>& s) const {
    long long offset = 0;
    each<rank>([&](auto a) { offset += axis[a] * s.stride[first + a]; });
    return offset;
  }

  /// Of a parameter.
  template <class real>
  __device__ const real* of(const slot<const void, rank>& s) const {
    return at<real>(s.data, lane_offset<0>(s));
  }
  /// Of a state before or after all steps; null where there is none, as below.
  template <class real, class T>
  __device__ auto boundary(const slot<T, 1 + rank>& s) const {
    return at<real>(s.data, batch * s.stride[0] + lane_offset<1>(s));
  }
  /// Of the first step.
  template <class real, class T>
  __device__ auto begin(const slot<T, 2 + rank>& s) const {
    return at<real>(s.data, batch * s.stride[0] + lane_offset<2>(s));
  }

private:
  template <class real>
  static __device__ const real* at(const void* data, long long offset) {
    return data ? static_cast<const real*>(data) + offset : nullptr;
  }
  template <class real>
  static __device__ real* at(void* data, long long offset) {
    return data ? static_cast<real*>(data) + offset : nullptr;
  }
};

/// The sequences that a cell can store, in the order in which results are kept: stored states, then
/// outputs.
template <class Cell>
struct results_of {
  enum { size = Cell::stored::size + Cell::outputs };

  /// f(constant<result>, slot).
  template <class Args, class F>
  static __device__ void each_slot(const Args& args, F&& f) {
    each<Cell::states>([&](auto i) {
      if constexpr (Cell::stored::contains(i.value)) {
        f(constant<Cell::stored::position(i.value)>(), args.state[i].sequence);
      }
    });
    each<Cell::outputs>(
        [&](auto o) { f(constant<Cell::stored::size + int(o.value)>(), args.output[o]); });
  }

  template <class real, int n, int m>
  static __device__ void collect(const real (&next)[n], const real (&output)[m],
                                 real (&result)[at_least_one(size)]) {
    each<Cell::states>([&](auto i) {
      if constexpr (Cell::stored::contains(i.value)) {
        result[Cell::stored::position(i.value)] = next[i];
      }
    });
    each<Cell::outputs>([&](auto o) { result[Cell::stored::size + int(o.value)] = output[o]; });
  }
};

} // namespace rnn
