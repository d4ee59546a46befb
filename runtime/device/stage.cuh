// A tile's inputs and results between global memory and the sweeps: read once, written once.
//
// A stage belongs to a thread, which is one chunk of one lane, and holds that chunk's numbers
// alone; threads never read each other's. So no barrier is needed here, only the wait for one's own
// copies.
#pragma once

#include "rnn/lane.cuh"
#include "rnn/policy.cuh"

namespace rnn {

/// A lane's sequences at step 0.
template <class Cell, class real>
struct lane_sequences {
  const real* input[at_least_one(Cell::inputs)];
  real* result[at_least_one(results_of<Cell>::size)]; ///< null: not wanted

  template <class Args, int rank>
  __device__ __forceinline__ void find(const Args& args, const lane_place<rank>& place) {
    each<Cell::inputs>([&](auto i) {
      input[i] = place.template begin<real>(args.input[reads_of_cell<Cell>::source(i.value)]);
    });
    results_of<Cell>::each_slot(
        args, [&](auto r, const auto& slot) { result[r] = place.template begin<real>(slot); });
  }
};

/// Writes the results of consecutive steps to global memory, from step `time` on.
template <class Cell, class real, class Args>
class result_writer {
public:
  __device__ result_writer(const Args& args, const lane_sequences<Cell, real>& lane, long long time)
      : args_(args) {
    results_of<Cell>::each_slot(args, [&](auto r, const auto& slot) {
      to_[r] = lane.result[r] ? lane.result[r] + time * slot.stride[1] : nullptr;
    });
  }

  __device__ void write(const real (&result)[at_least_one(results_of<Cell>::size)]) {
    results_of<Cell>::each_slot(args_, [&](auto r, const auto& slot) {
      if (slot.data) {
        store_global(to_[r], result[r]);
        to_[r] += slot.stride[1];
      }
    });
  }

private:
  const Args& args_;
  real* to_[at_least_one(results_of<Cell>::size)];
};

/// Reads the windows of a lane's inputs from global memory, from the step `time` of the chunk's
/// first one on. Steps before 0 are the input's fill.
template <class Cell, class Policy, class Args>
class window_reader {
public:
  using real = typename number_of<Cell>::type;
  using reads = reads_of_cell<Cell>;
  using windows = typename reads::template windows<Policy::steps>;

  __device__ __forceinline__ window_reader(const Args& args, const lane_sequences<Cell, real>& lane,
                                           long long time)
      : args_(args), lane_(lane), time_(time) {
    if constexpr (reads::any_earlier) {
      Cell::before(fill_);
    }
    each_head([&](auto i) { from_[i] = place(i, time_); });
  }

  /// f(constant<input>) for every window's head.
  template <class F>
  static __device__ __forceinline__ void each_head(F&& f) {
    each<Cell::inputs>([&](auto i) {
      if constexpr (windows::is_head(i.value)) {
        f(constant<int(i.value)>());
      }
    });
  }

  /// The halo, front to back: put(row, pointer) or, before step 0, put(row, number). Rows are
  /// constants unless `rolled`.
  template <bool rolled, class Put>
  __device__ __forceinline__ void read_halo(Put&& put) const {
    each_head([&](auto i) {
      constexpr int span = windows::span(i.value), first = windows::row(i.value) - span;
      if constexpr (rolled) {
        const real* from = place(i, time_ - span);
#pragma unroll 1
        for (int j = 0; j < span; ++j) {
          read_at(i, time_ - span + j, from, [&](const auto& number) { put(first + j, number); });
          from += args_.input[reads::source(i.value)].stride[1];
        }
      } else {
        each<span>([&](auto j) {
          const long long time = time_ - span + int(j.value);
          const constant<first + int(j.value)> row{};
          read_at(i, time, place(i, time), [&](const auto& number) { put(row, number); });
        });
      }
    });
  }

  /// The next of the chunk's own steps: put(constant<first row of the window's own>, likewise).
  template <class Put>
  __device__ __forceinline__ void read_step(Put&& put) {
    each_head([&](auto i) {
      const constant<windows::row(i.value)> row{};
      if constexpr (reads::back(i.value) == 0) {
        put(row, from_[i]);
      } else {
        read_at(i, time_, from_[i], [&](const auto& number) { put(row, number); });
      }
      from_[i] += args_.input[reads::source(i.value)].stride[1];
    });
    ++time_;
  }

  /// What the halo holds at the start of time.
  template <class Put>
  __device__ __forceinline__ void fill_halo(Put&& put) const {
    each_head([&](auto i) {
      constexpr int row = windows::row(i.value);
      each<windows::span(i.value)>(
          [&](auto j) { put(constant<row - 1 - int(j.value)>(), fill_[i]); });
    });
  }

private:
  template <class Input>
  __device__ __forceinline__ const real* place(Input i, long long time) const {
    return lane_.input[i] +
           (time - reads::back(i.value)) * args_.input[reads::source(i.value)].stride[1];
  }
  template <class Input, class F>
  __device__ __forceinline__ void read_at(Input i, long long time, const real* from, F&& f) const {
    if (time < reads::back(i.value)) {
      f(fill_[i]);
    } else {
      f(from);
    }
  }

  const Args& args_;
  const lane_sequences<Cell, real>& lane_;
  long long time_;
  const real* from_[at_least_one(Cell::inputs)];
  real fill_[at_least_one(Cell::inputs)] = {};
};

/// In registers, so that every index must be a constant: all loops over steps are unrolled. Without
/// chunks the halo stays from the steps before; with them each chunk reads its own.
template <class Cell, class Policy, class Args>
class register_stage {
public:
  using real = typename number_of<Cell>::type;
  using reader = window_reader<Cell, Policy, Args>;
  using windows = typename reader::windows;

  __device__ register_stage(const Args& args, const lane_sequences<Cell, real>& lane)
      : args_(args), lane_(lane) {}

  __device__ __forceinline__ void begin(long long, int) {
    if constexpr (Policy::chunks == 1) {
      reader(args_, lane_, 0).fill_halo([&](auto row, real value) {
        input_[int(row.value) + int(Policy::steps)] = value;
      });
    }
  }

  /// Reads the inputs of `steps` steps from `time` on.
  __device__ __forceinline__ void open(long long time, int steps, long long, int) {
    if (steps == 0) {
      return;
    }
    reader from(args_, lane_, time);
    if constexpr (Policy::chunks == 1) {
      reader::each_head([&](auto i) {
        constexpr int span = windows::span(i.value), first = windows::row(i.value) - span;
        each<span>([&](auto j) { input_[first + j] = input_[first + j + Policy::steps]; });
      });
    } else {
      from.template read_halo<false>(
          [&](auto row, const auto& number) { input_[row] = read(number); });
    }
    each_while<Policy::steps>([&](auto s) {
      if (s >= steps) {
        return false;
      }
      from.read_step([&](auto row, const auto& number) {
        input_[int(row.value) + int(s.value)] = read(number);
      });
      return true;
    });
  }

  /// f(step, its inputs) for the first `steps` steps.
  template <class F>
  __device__ __forceinline__ void each_step(int steps, F&& f) const {
    each_while<Policy::steps>([&](auto s) {
      if (s >= steps) {
        return false;
      }
      real input[at_least_one(Cell::inputs)];
      each<Cell::inputs>([&](auto i) { input[i] = input_[windows::row(i.value) + int(s.value)]; });
      f(s, input);
      return true;
    });
  }

  template <int s, int n>
  __device__ __forceinline__ void keep(constant<s>, const real (&result)[n]) {
    each<n>([&](auto r) { result_[s][r] = result[r]; });
  }

  /// Writes the results kept.
  __device__ __forceinline__ void close(long long time, int steps) const {
    if (steps == 0) {
      return;
    }
    result_writer<Cell, real, Args> writer(args_, lane_, time);
    each_while<Policy::steps>([&](auto s) {
      if (s >= steps) {
        return false;
      }
      writer.write(result_[s]);
      return true;
    });
  }

private:
  static __device__ __forceinline__ real read(const real* from) { return load_global(from); }
  static __device__ __forceinline__ real read(real value) { return value; }

  const Args& args_;
  const lane_sequences<Cell, real>& lane_;
  real input_[at_least_one(windows::rows)];
  real result_[Policy::steps][at_least_one(results_of<Cell>::size)];
};

/// In shared memory: loops over steps are rolled. With two buffers the next tile is copied while
/// this one is solved.
template <class Cell, class Policy, class Args>
class shared_stage {
public:
  using real = typename number_of<Cell>::type;
  using reader = window_reader<Cell, Policy, Args>;
  using windows = typename reader::windows;

  /// `column` is this thread's: rows are Policy::lanes * Policy::chunks apart.
  __device__ shared_stage(const Args& args, const lane_sequences<Cell, real>& lane, real* column)
      : args_(args), lane_(lane), input_(column),
        result_(column + buffers * buffer_rows * threads) {}

  /// Before the first tile of a lane.
  __device__ void begin(long long time, int steps) {
    if constexpr (buffers == 2) {
      copy(input_, time, steps);
      commit();
    }
  }

  /// Makes the inputs of `steps` steps from `time` on ready, and looks ahead at the next tile's.
  __device__ __forceinline__ void open(long long time, int steps, long long next, int next_steps) {
    if constexpr (buffers == 2) {
      now_ = input_ + buffer_ * (buffer_rows * threads);
      buffer_ ^= 1;
      copy(input_ + buffer_ * (buffer_rows * threads), next, next_steps);
      commit();
      wait<1>();
    } else {
      now_ = input_;
      copy(input_, time, steps);
      commit();
      wait<0>();
    }
  }

  template <class F>
  __device__ __forceinline__ void each_step(int steps, F&& f) const {
    const real* row = now_;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      real input[at_least_one(Cell::inputs)];
      each<Cell::inputs>([&](auto i) { input[i] = row[windows::row(i.value) * threads]; });
      row += threads;
      f(s, input);
    }
  }

  template <int n>
  __device__ __forceinline__ void keep(int s, const real (&result)[n]) {
    real* row = result_ + s * (results * threads);
    each<results>([&](auto r) { row[r * threads] = result[r]; });
  }

  __device__ __forceinline__ void close(long long time, int steps) const {
    if (steps == 0) {
      return;
    }
    result_writer<Cell, real, Args> writer(args_, lane_, time);
    const real* row = result_;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
      real result[at_least_one(results)];
      each<results>([&](auto r) { result[r] = row[r * threads]; });
      row += results * threads;
      writer.write(result);
    }
  }

private:
  enum {
    threads = Policy::lanes * Policy::chunks,
    results = results_of<Cell>::size,
    buffers = Policy::stage == staging::shared ? 2 : 1,
    buffer_rows = windows::rows
  };

  __device__ __forceinline__ void copy(real* to, long long time, int steps) const {
    if (steps == 0) {
      return;
    }
    reader from(args_, lane_, time);
    from.template read_halo<true>(
        [&](auto row, const auto& number) { put(to + row * threads, number); });
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
      from.read_step([&](auto row, const auto& number) { put(to + row * threads, number); });
      to += threads;
    }
  }
  static __device__ __forceinline__ void put(real* to, const real* from) {
    copy_async<sizeof(real)>(to, from);
  }
  static __device__ __forceinline__ void put(real* to, real value) { *to = value; }

  const Args& args_;
  const lane_sequences<Cell, real>& lane_;
  real* input_;
  real* result_;
  const real* now_ = nullptr;
  int buffer_ = 0;
};

} // namespace rnn
