// What is known of a cell at compile time.
#pragma once

#include "rnn/pattern.cuh"
#include "rnn/policy.cuh"
#include "rnn/windows.cuh"

namespace rnn {

/// The type of computation of Cell<real, math>.
template <class Cell>
struct number_of;
template <template <class, class> class Cell, class real, class math>
struct number_of<Cell<real, math>> {
  using type = real;
};

/// Whether a cell solves implicit steps: its step functions then take one argument more, `bool*`,
/// and set it where an equation found no solution.
template <class Cell, class = void>
struct is_implicit {
  enum { value = false };
};
template <class Cell>
struct is_implicit<Cell, decltype(void(Cell::implicit))> {
  enum { value = Cell::implicit };
};

/// What the inputs of a scalar cell read.
template <class Cell>
using reads_of_cell = typename reads_of<Cell, Cell::inputs>::type;

/// Of the block's shared memory. A sequential kernel needs no Jacobian, and a cell may have none.
template <class Cell, class Policy>
constexpr shared_shape forward_shape() {
  int carry = 0;
  if constexpr (Policy::chunks > 1) {
    carry = Cell::carry::size;
  }
  return {Policy::lanes,
          Policy::chunks,
          Policy::steps,
          Policy::stage,
          Cell::states,
          carry,
          reads_of_cell<Cell>::template windows<Policy::steps>::rows,
          Cell::stored::size + Cell::outputs};
}

} // namespace rnn
