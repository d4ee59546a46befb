// The forward solve of a group of lanes: what a kernel's body calls.
//
// A cell is a template over the type of computation and its math:
//
//     template <class real, class math> struct Cell {
//       static constexpr int states, inputs, params, outputs;
//       static constexpr bool linear;
//       using stored = rnn::indices<0, ...>;        // states that a caller may want
//       using reads = rnn::reads<rnn::read<source, back>, ...>; // only with earlier inputs,
//       static __device__ void before(real (&fill)[inputs]);    // as this: what they are before 0
//       using entries = rnn::pattern<states, ...>;  // where step_jacobian's numbers stand
//       using carry = rnn::pattern<states, ...>;    // the form of a product of such matrices
//       static __device__ void step(const real (&state)[], const real (&input)[],
//                                   const real (&param)[], real (&next)[], real (&output)[]);
//       static __device__ void step_jacobian(the same, real (&jacobian)[entries::size]);
//       static constexpr bool implicit = true;      // if so, both take a last bool *unsolved
//     };
//
// Launch with blockDim = (Policy::lanes, Policy::chunks), any grid along x, and the dynamic shared
// memory that `forward_shape<Cell, Policy>().bytes(sizeof(real))` says.
#pragma once

#include "rnn/cell.cuh"
#include "rnn/report.cuh"
#include "rnn/stage.cuh"
#include "rnn/tile.cuh"

namespace rnn {

namespace detail {

/// A thread's lane: its place, parameters, and state at the time reached.
template <class Cell, class Args>
struct lane_run {
  using real = typename number_of<Cell>::type;

  const Args& args;
  const long long lane;
  const bool valid; ///< lanes past the last one read and write nothing
  lane_sequences<Cell, real> sequences;
  real param[at_least_one(Cell::params)];
  real state[Cell::states];

  __device__ __forceinline__ lane_run(const Args& a, long long n, long long lanes)
      : args(a), lane(n), valid(n < lanes) {
    const lane_place<Args::axes> place(args, valid ? lane : 0);
    sequences.find(args, place);
    each<Cell::params>([&](auto p) {
      param[p] = valid ? load_global(place.template of<real>(args.param[p])) : real(0);
    });
    each<Cell::states>([&](auto i) {
      const real* from = place.template boundary<real>(args.state[i].initial);
      state[i] = valid && from ? load_global(from) : real(args.state[i].fill);
    });
  }

  /// Finds the place again: keeping it would cost registers all the way.
  __device__ __forceinline__ void store_final() const {
    const lane_place<Args::axes> place(args, lane);
    each<Cell::states>([&](auto i) {
      real* to = place.template boundary<real>(args.state[i].final);
      if (to) {
        store_global(to, state[i]);
      }
    });
  }
};

/// The plain loop: a thread runs its lane from the first step to the last.
template <class Cell, class Policy, class Args>
__device__ __forceinline__ void run_sequential(lane_run<Cell, Args>& lane) {
  using real = typename number_of<Cell>::type;
  static_assert(Policy::stage == staging::registers, "a sequential kernel needs no shared memory");
  const Args& args = lane.args;
  register_stage<Cell, Policy, Args> stage(args, lane.sequences);
  nonfinite_watch watch;
  unsolved_watch searches;
  stage.begin(0, 0);
  for (long long time = 0; lane.valid && time < args.time; time += Policy::steps) {
    const int steps = clipped(args.time - time, Policy::steps);
    stage.open(time, steps, 0, 0);
    result_writer<Cell, real, Args> writer(args, lane.sequences, time);
    no_carry carry;
    const shot seen = shoot<Cell>(stage, steps, lane.param, lane.state, carry,
                                  [&](auto, const auto& result) { writer.write(result); });
    watch.saw(args.report, seen.broken, time);
    searches.saw(args.report, seen.unsolved, time, lane.lane);
  }
}

/// A tile after the other; the threads of a lane share its chunks. The tally is zero.
template <class Cell, class Policy, class Args, class Stage>
__device__ __forceinline__ void
run_tiles(lane_run<Cell, Args>& lane, Stage& stage,
          exchange<Cell, Policy, typename number_of<Cell>::type>& others, block_notes& notes) {
  constexpr int tile_steps = Policy::chunks * Policy::steps;
  const Args& args = lane.args;
  const long long ahead = static_cast<long long>(threadIdx.y) * Policy::steps; // of this chunk
  const auto steps_at = [&](long long time) {
    return lane.valid ? clipped(args.time - time - ahead, Policy::steps) : 0;
  };
  walk_policy policy;
  nonfinite_watch watch;
  unsolved_watch searches;
  stage.begin(ahead, steps_at(0));
  for (long long time = 0; time < args.time; time += tile_steps) {
    const long long next = time + tile_steps;
    const int steps = steps_at(time);
    const int chunks = (clipped(args.time - time, tile_steps) + Policy::steps - 1) / Policy::steps;
    stage.open(time + ahead, steps, next + ahead, steps_at(next));
    const bool walk = policy.walk_next();
    tile_solver<Cell, Policy, Stage> solver(others, notes, stage, lane.param, lane.valid, chunks,
                                            steps);
    const tile_end end = solver.solve(lane.state, {args.tolerance, args.max_sweeps}, walk);
    if (!walk) {
      policy.tried(end.hopeless);
    }
    stage.close(time + ahead, steps);
    watch.saw(args.report, end.seen.broken, time + ahead);
    searches.saw(args.report, end.seen.unsolved, time + ahead, lane.lane);
    if (end.given_up && takes_notes()) {
      notes.tally.give_up(time / tile_steps);
    }
  }
}

template <class Cell, class Policy, class Args>
__device__ __forceinline__ void run_parallel(lane_run<Cell, Args>& lane, int lanes) {
  using real = typename number_of<Cell>::type;
  static_assert(Cell::carry::closed() && Cell::entries::template within<typename Cell::carry>(),
                "the carry is the closure of the Jacobian's pattern");
  constexpr shared_shape shape = forward_shape<Cell, Policy>();
  real* const memory = reinterpret_cast<real*>(dynamic_shared());
  block_notes& notes = *reinterpret_cast<block_notes*>(
      dynamic_shared() + shape.bytes(sizeof(real)) - shape.notes_bytes);
  if (takes_notes()) {
    notes.tally = {};
  }
  exchange<Cell, Policy, real> others(memory, threadIdx.x);
  if constexpr (Policy::stage == staging::registers) {
    register_stage<Cell, Policy, Args> stage(lane.args, lane.sequences);
    run_tiles<Cell, Policy>(lane, stage, others, notes);
  } else {
    const int thread = threadIdx.y * Policy::lanes + threadIdx.x;
    shared_stage<Cell, Policy, Args> stage(
        lane.args, lane.sequences, memory + shape.exchange_rows() * shape.threads() + thread);
    run_tiles<Cell, Policy>(lane, stage, others, notes);
  }
  if (takes_notes() && lane.args.report) {
    notes.tally.add_to(*lane.args.report, lanes);
  }
}

} // namespace detail

/// Solves all lanes of the call that fall to this block.
template <class Cell, class Policy, int rank>
__device__ __forceinline__ void
forward(const forward_args<Cell::states, Cell::inputs, Cell::params, Cell::outputs, rank>& args) {
  using Args = forward_args<Cell::states, Cell::inputs, Cell::params, Cell::outputs, rank>;
  static_assert(sizeof(Args) <= 32764, "a kernel's arguments have at most 32764 bytes");
  const long long lanes = lane_count(args);
  const long long stride = static_cast<long long>(gridDim.x) * Policy::lanes;
  for (long long first = static_cast<long long>(blockIdx.x) * Policy::lanes; first < lanes;
       first += stride) {
    detail::lane_run<Cell, Args> lane(args, first + threadIdx.x, lanes);
    if constexpr (Policy::chunks == 1) {
      detail::run_sequential<Cell, Policy>(lane);
    } else {
      detail::run_parallel<Cell, Policy>(lane, clipped(lanes - first, Policy::lanes));
    }
    if (lane.valid && threadIdx.y == 0) {
      lane.store_final();
    }
  }
}

} // namespace rnn
