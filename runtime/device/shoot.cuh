// Shooting: the true recurrence for some steps, with the product of the Jacobians on the way.
#pragma once

#include "rnn/affine.cuh"
#include "rnn/lane.cuh"

namespace rnn {

namespace detail {
template <class Step>
constexpr bool surely_first(Step) {
  return false;
}
constexpr bool surely_first(constant<0>) { return true; }
} // namespace detail

/// What was seen on the way: first steps, or -1.
struct shot {
  int broken = -1;   ///< with a state that is not finite
  int unsolved = -1; ///< whose implicit equation found no solution
};

/// In place of a carry that nobody wants.
struct no_carry {};

template <class Cell, class real>
__device__ __forceinline__ void begin(real (&carry)[Cell::carry::size]) {
  identity<typename Cell::carry>(carry);
}
template <class Cell>
__device__ __forceinline__ void begin(no_carry&) {}

/// One step. With a carry, multiplies the step's Jacobian onto it from the left.
template <class Cell, bool first, class real>
__device__ __forceinline__ void
advance(const real (&state)[Cell::states], const real (&input)[at_least_one(Cell::inputs)],
        const real (&param)[at_least_one(Cell::params)], real (&next)[Cell::states],
        real (&output)[at_least_one(Cell::outputs)], real (&carry)[Cell::carry::size],
        [[maybe_unused]] bool& unsolved) {
  using Entries = typename Cell::entries;
  using Carry = typename Cell::carry;
  real jacobian[Entries::size];
  if constexpr (is_implicit<Cell>::value) {
    Cell::step_jacobian(state, input, param, next, output, jacobian, &unsolved);
  } else {
    Cell::step_jacobian(state, input, param, next, output, jacobian);
  }
  if constexpr (first) {
    widen<Entries, Carry>(jacobian, carry);
  } else {
    real product[Carry::size];
    multiply<Entries, Carry>(jacobian, carry, product);
    each<Carry::size>([&](auto c) { carry[c] = product[c]; });
  }
}
template <class Cell, bool first, class real>
__device__ __forceinline__ void
advance(const real (&state)[Cell::states], const real (&input)[at_least_one(Cell::inputs)],
        const real (&param)[at_least_one(Cell::params)], real (&next)[Cell::states],
        real (&output)[at_least_one(Cell::outputs)], no_carry&, [[maybe_unused]] bool& unsolved) {
  if constexpr (is_implicit<Cell>::value) {
    Cell::step(state, input, param, next, output, &unsolved);
  } else {
    Cell::step(state, input, param, next, output);
  }
}

/// Runs `steps` steps of the stage from `state`, which ends up as the end state. Results of every
/// step go to `keep(step, result)`. `carry`, if it is one, becomes the product of the Jacobians,
/// latest leftmost.
template <class Cell, class Stage, class real, class Carry, class Keep>
__device__ __forceinline__ shot shoot(const Stage& stage, int steps,
                                      const real (&param)[at_least_one(Cell::params)],
                                      real (&state)[Cell::states], Carry& carry, Keep&& keep) {
  shot seen;
  begin<Cell>(carry);
  stage.each_step(steps, [&](auto s, const real(&input)[at_least_one(Cell::inputs)]) {
    real next[Cell::states], output[at_least_one(Cell::outputs)];
    bool whole = true, unsolved = false;
    advance<Cell, detail::surely_first(decltype(s)())>(state, input, param, next, output, carry,
                                                       unsolved);
    each<Cell::states>([&](auto i) {
      whole = whole && finite(next[i]);
      state[i] = next[i];
    });
    seen.broken = seen.broken < 0 && !whole ? static_cast<int>(s) : seen.broken;
    if constexpr (is_implicit<Cell>::value) {
      seen.unsolved = seen.unsolved < 0 && unsolved ? static_cast<int>(s) : seen.unsolved;
    }
    real result[at_least_one(results_of<Cell>::size)];
    results_of<Cell>::collect(next, output, result);
    keep(s, result);
  });
  return seen;
}

} // namespace rnn
