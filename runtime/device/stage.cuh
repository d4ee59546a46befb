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
    each<Cell::inputs>([&](auto i) { input[i] = place.template begin<real>(args.input[i]); });
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

/// In registers, so that every index must be a constant: all loops over steps are unrolled.
template <class Cell, class Policy, class Args>
class register_stage {
public:
  using real = typename number_of<Cell>::type;

  __device__ register_stage(const Args& args, const lane_sequences<Cell, real>& lane)
      : args_(args), lane_(lane) {}

  __device__ void begin(long long, int) {}

  /// Reads the inputs of `steps` steps from `time` on.
  __device__ __forceinline__ void open(long long time, int steps, long long, int) {
    const real* from[at_least_one(Cell::inputs)];
    each<Cell::inputs>([&](auto i) { from[i] = lane_.input[i] + time * args_.input[i].stride[1]; });
    each_while<Policy::steps>([&](auto s) {
      if (s >= steps) {
        return false;
      }
      each<Cell::inputs>([&](auto i) {
        input_[s][i] = load_global(from[i]);
        from[i] += args_.input[i].stride[1];
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
      f(s, input_[s]);
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
  const Args& args_;
  const lane_sequences<Cell, real>& lane_;
  real input_[Policy::steps][at_least_one(Cell::inputs)];
  real result_[Policy::steps][at_least_one(results_of<Cell>::size)];
};

/// In shared memory: loops over steps are rolled. With two buffers the next tile is copied while
/// this one is solved.
template <class Cell, class Policy, class Args>
class shared_stage {
public:
  using real = typename number_of<Cell>::type;

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
      each<Cell::inputs>([&](auto i) { input[i] = row[i * threads]; });
      row += Cell::inputs * threads;
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
    buffer_rows = Policy::steps * Cell::inputs
  };

  __device__ __forceinline__ void copy(real* to, long long time, int steps) const {
    if (steps == 0) {
      return;
    }
    const real* from[at_least_one(Cell::inputs)];
    each<Cell::inputs>([&](auto i) { from[i] = lane_.input[i] + time * args_.input[i].stride[1]; });
#pragma unroll 4
    for (int s = 0; s < steps; ++s) {
      each<Cell::inputs>([&](auto i) {
        copy_async<sizeof(real)>(to + i * threads, from[i]);
        from[i] += args_.input[i].stride[1];
      });
      to += Cell::inputs * threads;
    }
  }

  const Args& args_;
  const lane_sequences<Cell, real>& lane_;
  real* input_;
  real* result_;
  const real* now_ = nullptr;
  int buffer_ = 0;
};

} // namespace rnn
