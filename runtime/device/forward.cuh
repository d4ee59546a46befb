// The forward solve of a group of lanes: what a kernel's body calls.
//
// A cell is a template over the type of computation and its math:
//
//     template <class real, class math> struct Cell {
//       static constexpr int states, inputs, params, outputs;
//       static constexpr bool linear;
//       using stored = rnn::list<0, ...>;           // states that a caller may want as a sequence
//       using entries = rnn::pattern<states, ...>;  // what step_jacobian yields
//       using carry = rnn::pattern<states, ...>;    // its reflexive transitive closure
//       static __device__ void step(const real (&state)[], const real (&input)[],
//                                   const real (&param)[], real (&next)[], real (&output)[]);
//       static __device__ void step_jacobian(the same, real (&jacobian)[entries::size]);
//     };
//
// Launch with blockDim = (Policy::lanes, Policy::chunks), any grid along x, and the dynamic shared
// memory that `forward_shape<Cell, Policy>().bytes(sizeof(real))` says.
#pragma once

#include "rnn/args.cuh"
#include "rnn/pattern.cuh"
#include "rnn/platform.cuh"
#include "rnn/policy.cuh"

namespace rnn {

/// The type of computation of Cell<real, math>.
template <class Cell>
struct number_of;
template <template <class, class> class Cell, class real, class math>
struct number_of<Cell<real, math>> {
  using type = real;
};

template <class Cell, class Policy>
constexpr shared_shape forward_shape() {
  return {Policy::lanes, Policy::chunks,    Policy::steps, Policy::stage,
          Cell::states,  Cell::carry::size, Cell::inputs,  Cell::stored::size + Cell::outputs};
}

/// Solves all lanes of the call that fall to this block.
template <class Cell, class Policy, int rank>
__device__ void
forward(const forward_args<Cell::states, Cell::inputs, Cell::params, Cell::outputs, rank>& args);

} // namespace rnn
