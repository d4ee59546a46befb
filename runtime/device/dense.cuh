// A dense system: loops over a block whose size comes with the call. A thread runs its lanes step
// by step, with the state and what lies between in a column of global memory.
//
//     template <class real, class math> struct Cell {
//       static constexpr int block;                            // block dims
//       using states = rnn::arrays<rnn::dims<0>, ...>; // the block dims of each array's axes
//       using inputs = ..., params = ..., outputs = ..., temporaries = ...; // likewise
//       using reads = ...;                   // as in forward.cuh, only with earlier inputs
//       static __device__ void before(real (&fill)[inputs::count]);
//       template <class Lane> static __device__ void step(const Lane& lane);
//     };
//
// `step` reads lane.state<n>()(i, ...), input, param and temporary likewise, and writes
// lane.next<n>().set(value, i, ...), output and temporary. Launch with any block and grid along x;
// `scratch` has dense_numbers<Cell>(size) numbers for every thread of the launch.
#pragma once

#include "rnn/affine.cuh"
#include "rnn/cell.cuh"
#include "rnn/lane.cuh"
#include "rnn/report.cuh"

namespace rnn {

/// The block dims of an array's axes, by number.
template <int... numbers>
struct dims {
  static constexpr int rank = sizeof...(numbers);

  static __device__ long long count(const long long* size) { return (1ll * ... * size[numbers]); }
  /// Row-major.
  template <class... Index>
  static __device__ long long place(const long long* size, Index... index) {
    static_assert(sizeof...(index) == rank, "an index an axis");
    long long at = 0;
    ((at = at * size[numbers] + index), ...);
    return at;
  }
  /// Offset of the n-th element, whose indices count `element` along the axes.
  static __device__ long long offset(const long long* size, const long long* element, long long n) {
    const long long sizes[at_least_one(rank)] = {size[numbers]...};
    long long at = 0;
    each<rank>([&](auto i) {
      constexpr int axis = rank - 1 - decltype(i)::value;
      at += n % sizes[axis] * element[axis];
      n /= sizes[axis];
    });
    return at;
  }
};

namespace detail {
template <int n, class First, class... Rest>
struct nth : nth<n - 1, Rest...> {};
template <class First, class... Rest>
struct nth<0, First, Rest...> {
  using type = First;
};
} // namespace detail

template <class... Dims>
struct arrays {
  static constexpr int count = sizeof...(Dims);
  template <int n>
  using at = typename detail::nth<n, Dims...>::type;

  /// Elements of the first n arrays together.
  template <int n>
  static __device__ long long elements(const long long* size) {
    long long sum = 0;
    each<n>([&](auto i) { sum += at<decltype(i)::value>::count(size); });
    return sum;
  }
};

/// Where a lane's array lies: the slot of its first element, and strides along the block axes.
template <class T, int axes, int block_axes>
struct dense_slot {
  slot<T, axes> lane;
  long long element[at_least_one(block_axes)];
};

template <int rank, int block_axes>
struct dense_state {
  dense_slot<const void, 1 + rank, block_axes> initial; ///< no data: `fill`
  dense_slot<void, 1 + rank, block_axes> final;         ///< no data: not stored
  dense_slot<void, 2 + rank, block_axes> sequence;      ///< no data: not stored
  double fill;
};

/// Arguments of a dense kernel, as forward_args. `block_axes`: the most that an array has.
template <int states, int inputs, int params, int outputs, int rank, int block, int block_axes>
struct dense_args {
  static constexpr int axes = rank;

  long long batch, time;
  long long lanes[at_least_one(rank)];
  long long size[at_least_one(block)]; ///< of the block dims
  forward_report* report;              ///< null: not wanted
  void* scratch;                       ///< numbers of the type of computation
  dense_state<rank, block_axes> state[at_least_one(states)];
  dense_slot<const void, 2 + rank, block_axes> input[at_least_one(inputs)];
  dense_slot<const void, rank, block_axes> param[at_least_one(params)];
  dense_slot<void, 2 + rank, block_axes> output[at_least_one(outputs)];
};

/// An array in a thread's column: neighbours of a warp lie side by side.
template <class real, class Dims>
struct column_array {
  real* first;
  long long stride;
  const long long* size;

  template <class... Index>
  __device__ real operator()(Index... index) const {
    return load_global(first + Dims::place(size, index...) * stride);
  }
  template <class... Index>
  __device__ void set(real value, Index... index) const {
    store_global(first + Dims::place(size, index...) * stride, value);
  }
};

/// An array of the caller's, at the lane and step.
template <class Pointer>
struct caller_array {
  Pointer first;
  const long long* element;

  template <class... Index>
  __device__ long long offset(Index... index) const {
    long long at = 0;
    int axis = 0;
    ((at += index * element[axis++]), ...);
    return at;
  }
  template <class... Index>
  __device__ auto operator()(Index... index) const {
    return load_global(first + offset(index...));
  }
  template <class real, class... Index>
  __device__ void set(real value, Index... index) const {
    if (first) {
      store_global(first + offset(index...), value);
    }
  }
};

/// The same of an earlier input: a number before the start of time.
template <class real>
struct earlier_array {
  caller_array<const real*> array;
  bool exists;
  real fill;

  template <class... Index>
  __device__ real operator()(Index... index) const {
    return exists ? array(index...) : fill;
  }
};

/// What step() sees: one lane at one step.
template <class Cell, class Args>
class dense_lane {
public:
  using real = typename number_of<Cell>::type;

  __device__ dense_lane(const Args& args, long long lane, long long thread, long long threads)
      : args_(args), place_(args, lane), column_(static_cast<real*>(args.scratch) + thread),
        stride_(threads) {}

  __device__ long long size(int dim) const { return args_.size[dim]; }
  template <int n>
  __device__ auto state() const {
    return column<typename Cell::states, n>(0);
  }
  template <int n>
  __device__ auto next() const {
    return column<typename Cell::states, n>(all_states());
  }
  template <int n>
  __device__ auto temporary() const {
    return column<typename Cell::temporaries, n>(2 * all_states());
  }
  template <int n>
  __device__ auto input() const {
    using reads = typename reads_of<Cell, Cell::inputs::count>::type;
    constexpr int back = reads::back(n);
    const auto& slot = args_.input[reads::source(n)];
    const caller_array<const real*> array{place_.template begin<real>(slot.lane) +
                                              (time_ - back) * slot.lane.stride[1],
                                          slot.element};
    if constexpr (back == 0) {
      return array;
    } else {
      real fill[Cell::inputs::count];
      Cell::before(fill);
      return earlier_array<real>{array, time_ >= back, fill[n]};
    }
  }
  template <int n>
  __device__ auto param() const {
    const auto& slot = args_.param[n];
    return caller_array<const real*>{place_.template of<real>(slot.lane), slot.element};
  }
  template <int n>
  __device__ auto output() const {
    return sequence(args_.output[n]);
  }

  /// Before the first step.
  __device__ void start() {
    each<Cell::states::count>([&](auto s) {
      using Dims = typename Cell::states::template at<decltype(s)::value>;
      const auto& slot = args_.state[s].initial;
      const real* from = place_.template boundary<real>(slot.lane);
      const auto to = state<decltype(s)::value>();
      for (long long e = 0; e < Dims::count(args_.size); ++e) {
        const real value = from ? load_global(from + Dims::offset(args_.size, slot.element, e))
                                : static_cast<real>(args_.state[s].fill);
        store_global(to.first + e * stride_, value);
      }
    });
  }
  /// After step(): the new states become the states, and go to where the caller wants them. False
  /// where one is not finite.
  __device__ bool publish() {
    bool whole = true;
    each<Cell::states::count>([&](auto s) {
      using Dims = typename Cell::states::template at<decltype(s)::value>;
      const auto from = next<decltype(s)::value>();
      const auto to = state<decltype(s)::value>();
      const auto out = sequence(args_.state[s].sequence);
      for (long long e = 0; e < Dims::count(args_.size); ++e) {
        const real value = load_global(from.first + e * stride_);
        store_global(to.first + e * stride_, value);
        if (out.first) {
          store_global(out.first + Dims::offset(args_.size, out.element, e), value);
        }
        whole = whole && finite(value);
      }
    });
    ++time_;
    return whole;
  }
  /// After the last step.
  __device__ void finish() const {
    each<Cell::states::count>([&](auto s) {
      using Dims = typename Cell::states::template at<decltype(s)::value>;
      const auto& slot = args_.state[s].final;
      real* to = place_.template boundary<real>(slot.lane);
      const auto from = state<decltype(s)::value>();
      for (long long e = 0; to && e < Dims::count(args_.size); ++e) {
        store_global(to + Dims::offset(args_.size, slot.element, e),
                     load_global(from.first + e * stride_));
      }
    });
  }

private:
  __device__ long long all_states() const {
    return Cell::states::template elements<Cell::states::count>(args_.size);
  }
  template <class Arrays, int n>
  __device__ auto column(long long before) const {
    const long long first = before + Arrays::template elements<n>(args_.size);
    return column_array<real, typename Arrays::template at<n>>{column_ + first * stride_, stride_,
                                                               args_.size};
  }
  template <class Slot>
  __device__ auto sequence(const Slot& slot) const {
    real* first = place_.template begin<real>(slot.lane);
    return caller_array<real*>{first ? first + time_ * slot.lane.stride[1] : first, slot.element};
  }

  const Args& args_;
  const lane_place<Args::axes> place_;
  real* const column_;
  const long long stride_;
  long long time_ = 0;
};

/// Numbers of scratch that a thread needs.
template <class Cell>
__device__ inline long long dense_numbers(const long long* size) {
  return 2 * Cell::states::template elements<Cell::states::count>(size) +
         Cell::temporaries::template elements<Cell::temporaries::count>(size);
}

/// Solves all lanes of the call that fall to this thread, one after the other.
template <class Cell, class Args>
__device__ __forceinline__ void dense_forward(const Args& args) {
  const long long lanes = lane_count(args);
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (long long n = thread; n < lanes; n += threads) {
    dense_lane<Cell, Args> lane(args, n, thread, threads);
    lane.start();
    nonfinite_watch watch;
    for (long long time = 0; time < args.time; ++time) {
      Cell::step(lane);
      watch.saw(args.report, lane.publish() ? -1 : 0, time);
    }
    lane.finish();
  }
}

} // namespace rnn
