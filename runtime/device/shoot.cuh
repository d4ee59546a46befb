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

/// Runs `steps` steps of the stage from `state`, which ends up as the end state. Results of every
/// step go to `keep(step, result)`. Returns the first step with a state that is not finite, or -1.
/// With `jacobian`, `carry` becomes the product of the Jacobians, latest leftmost.
template <class Cell, bool jacobian, class Stage, class real, class Keep>
__device__ __forceinline__ int
shoot(const Stage& stage, int steps, const real (&param)[at_least_one(Cell::params)],
      real (&state)[Cell::states], real (&carry)[Cell::carry::size], Keep&& keep) {
  int broken = -1;
  if constexpr (jacobian) {
    identity<typename Cell::carry>(carry);
  }
  stage.each_step(steps, [&](auto s, const real(&input)[at_least_one(Cell::inputs)]) {
    real next[Cell::states], output[at_least_one(Cell::outputs)];
    if constexpr (jacobian) {
      real entries[Cell::entries::size];
      Cell::step_jacobian(state, input, param, next, output, entries);
      if constexpr (detail::surely_first(decltype(s)())) {
        widen<typename Cell::entries, typename Cell::carry>(entries, carry);
      } else {
        real product[Cell::carry::size];
        multiply<typename Cell::entries, typename Cell::carry>(entries, carry, product);
        each<Cell::carry::size>([&](auto c) { carry[c] = product[c]; });
      }
    } else {
      Cell::step(state, input, param, next, output);
    }
    bool whole = true;
    each<Cell::states>([&](auto i) {
      whole = whole && finite(next[i]);
      state[i] = next[i];
    });
    broken = broken < 0 && !whole ? static_cast<int>(s) : broken;
    real result[at_least_one(results_of<Cell>::size)];
    results_of<Cell>::collect(next, output, result);
    keep(s, result);
  });
  return broken;
}

} // namespace rnn
