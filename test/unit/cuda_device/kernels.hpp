// The cells of runtime/cells.hpp as cells of runtime/device/forward.cuh, so that one step is solved
// by the CPU's schedules and by the kernels of a GPU, and has the same bits.
#pragma once

#include "cells.hpp"
#include "mock_cuda/entry.hpp"

#include "rnn/forward.cuh"

#include <utility>

namespace rnnc::test {

struct TilePolicy {
  static constexpr int lanes = 32, chunks = 8, steps = 4;
  static constexpr rnn::staging stage = rnn::staging::shared;
};
struct PlainPolicy {
  static constexpr int lanes = 64, chunks = 1, steps = 4;
  static constexpr rnn::staging stage = rnn::staging::registers;
};

template <class Host, class Numbers>
struct patterns;
template <class Host, size_t... n>
struct patterns<Host, std::index_sequence<n...>> {
  using type =
      rnn::pattern<Host::K, rnn::at<int(Host::pattern[n][0]), int(Host::pattern[n][1])>...>;
};
template <class Numbers>
struct all_indices;
template <int... n>
struct all_indices<std::integer_sequence<int, n...>> {
  using type = rnn::indices<n...>;
};

template <class Host>
struct Adapted {
  template <class real, class math>
  struct Cell {
    using scalar = real;
    static constexpr int states = Host::K, inputs = Host::I, params = Host::P, outputs = Host::O;
    static constexpr bool linear = false;
    using stored = typename all_indices<std::make_integer_sequence<int, Host::K>>::type;
    using entries =
        typename patterns<Host, std::make_index_sequence<std::size(Host::pattern)>>::type;
    using carry = entries;

    static void step(const real (&state)[states], const real (&input)[rnn::at_least_one(inputs)],
                     const real (&param)[rnn::at_least_one(params)], real (&next)[states],
                     real (&output)[rnn::at_least_one(outputs)]) {
      Host::template step<false>(state, input, param, next, output, static_cast<real*>(nullptr));
    }
    static void step_jacobian(const real (&state)[states],
                              const real (&input)[rnn::at_least_one(inputs)],
                              const real (&param)[rnn::at_least_one(params)], real (&next)[states],
                              real (&output)[rnn::at_least_one(outputs)],
                              real (&jacobian)[entries::size]) {
      Host::template step<true>(state, input, param, next, output, jacobian);
    }
  };
};

/// Two inputs that read one array, now and two steps ago, and are 1.5 before it begins.
template <class Host>
struct Delayed {
  template <class real, class math>
  struct Cell : Adapted<Host>::template Cell<real, math> {
    static_assert(Host::I == 2);
    using reads = rnn::reads<rnn::read<0, 0>, rnn::read<0, 2>>;
    static void before(real (&fill)[2]) { fill[0] = fill[1] = real(1.5); }
  };
};

template <class Args>
struct launcher;
template <int s, int i, int p, int o, int rank>
struct launcher<rnn::forward_args<s, i, p, o, rank>> {
  using Args = rnn::forward_args<s, i, p, o, rank>;
  template <class Cell, class Policy>
  static void entry(Args args) {
    rnn::forward<Cell, Policy>(args);
  }
};

template <class Host, class real, class Policy, int rank, template <class> class Form = Adapted>
struct Kernel {
  using Cell = typename Form<Host>::template Cell<real, int>;
  using Args = rnn::forward_args<Host::K, Host::I, Host::P, Host::O, rank>;
  static constexpr auto sharedBytes = rnn::forward_shape<Cell, Policy>().bytes(sizeof(real));

  static mock_cuda::Kernel bring(std::string name) {
    return mock_cuda::kernelOf(std::move(name), Policy::lanes, Policy::chunks,
                               launcher<Args>::template entry<Cell, Policy>);
  }
};

} // namespace rnnc::test
