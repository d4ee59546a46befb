// Cells written by hand, as the compiler prints them: for tests of the solve alone.
#pragma once

#include "rnn/forward.cuh"
#include "rnn/math.cuh"

namespace cells {

/// A GRU whose recurrent weights are diagonal; params: three weights and the update gate's bias.
template <class real, class math>
struct gru {
  static constexpr int states = 1, inputs = 3, params = 4, outputs = 0;
  static constexpr bool linear = false;
  using stored = rnn::indices<0>;
  using entries = rnn::pattern<1, rnn::at<0, 0>>;
  using carry = entries;

  static __device__ void step(const real (&state)[1], const real (&input)[3],
                              const real (&param)[4], real (&next)[1], real (&output)[1]) {
    real jacobian[1];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[1], const real (&input)[3],
                                       const real (&param)[4], real (&next)[1], real (&)[1],
                                       real (&jacobian)[1]) {
    const real h = state[0];
    const real z = math::sigmoid(math::fma(param[0], h, input[0] + param[3]));
    const real r = math::sigmoid(math::fma(param[1], h, input[1]));
    const real n = math::tanh(math::fma(param[2], r * h, input[2]));
    next[0] = math::fma(z, n, (real(1) - z) * h);
    const real dz = param[0] * z * (real(1) - z), dr = param[1] * r * (real(1) - r);
    const real dn = (real(1) - n * n) * param[2] * math::fma(dr, h, r);
    jacobian[0] = math::fma(z, dn, math::fma(dz, n - h, real(1) - z));
  }
};

/// The same with a Jacobian that is zero: every answer stays right, and every sweep count grows.
template <class real, class math>
struct gru_without_jacobian : gru<real, math> {
  static __device__ void step_jacobian(const real (&state)[1], const real (&input)[3],
                                       const real (&param)[4], real (&next)[1], real (&output)[1],
                                       real (&jacobian)[1]) {
    gru<real, math>::step_jacobian(state, input, param, next, output, jacobian);
    jacobian[0] = real(0);
  }
};

/// An LSTM with diagonal weights and peepholes. The memory c is hidden; h and the output gate are
/// wanted.
template <class real, class math>
struct lstm {
  static constexpr int states = 2, inputs = 3, params = 5, outputs = 1;
  static constexpr bool linear = false;
  using stored = rnn::indices<1>;
  using entries = rnn::pattern<2, rnn::at<0, 0>, rnn::at<0, 1>, rnn::at<1, 0>, rnn::at<1, 1>>;
  using carry = entries;

  static __device__ void step(const real (&state)[2], const real (&input)[3],
                              const real (&param)[5], real (&next)[2], real (&output)[1]) {
    real jacobian[4];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[2], const real (&input)[3],
                                       const real (&param)[5], real (&next)[2], real (&output)[1],
                                       real (&jacobian)[4]) {
    const real c = state[0], h = state[1], one = real(1);
    const real f = math::sigmoid(math::fma(param[0], h, math::fma(param[1], c, input[0])));
    const real z = math::tanh(math::fma(param[2], h, input[1]));
    const real memory = math::fma(f, c, (one - f) * z);
    const real o = math::sigmoid(math::fma(param[3], h, math::fma(param[4], memory, input[2])));
    const real t = math::tanh(memory);
    next[0] = memory;
    next[1] = o * t;
    output[0] = o;
    const real df = f * (one - f) * (c - z), dz = (one - f) * (one - z * z) * param[2];
    const real dh = o * (one - o) * t, dm = math::fma(dh, param[4], o * (one - t * t));
    jacobian[0] = math::fma(df, param[1], f);
    jacobian[1] = math::fma(df, param[0], dz);
    jacobian[2] = dm * jacobian[0];
    jacobian[3] = math::fma(dm, jacobian[1], dh * param[3]);
  }
};

/// h = tanh(R h + x) over a block of four, of which two are wanted.
template <class real, class math>
struct block {
  static constexpr int states = 4, inputs = 4, params = 16, outputs = 0;
  static constexpr bool linear = false;
  using stored = rnn::indices<1, 3>;
  using entries = rnn::pattern<4, rnn::at<0, 0>, rnn::at<0, 1>, rnn::at<0, 2>, rnn::at<0, 3>,
                               rnn::at<1, 0>, rnn::at<1, 1>, rnn::at<1, 2>, rnn::at<1, 3>,
                               rnn::at<2, 0>, rnn::at<2, 1>, rnn::at<2, 2>, rnn::at<2, 3>,
                               rnn::at<3, 0>, rnn::at<3, 1>, rnn::at<3, 2>, rnn::at<3, 3>>;
  using carry = entries;

  static __device__ void step(const real (&state)[4], const real (&input)[4],
                              const real (&param)[16], real (&next)[4], real (&output)[1]) {
    real jacobian[16];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[4], const real (&input)[4],
                                       const real (&param)[16], real (&next)[4], real (&)[1],
                                       real (&jacobian)[16]) {
    rnn::each<4>([&](auto i) {
      real sum = input[i];
      rnn::each<4>([&](auto j) { sum = math::fma(param[4 * i + j], state[j], sum); });
      next[i] = math::tanh(sum);
      const real slope = real(1) - next[i] * next[i];
      rnn::each<4>([&](auto j) { jacobian[4 * i + j] = slope * param[4 * i + j]; });
    });
  }
};

/// Earlier inputs: of one array at four steps, near and far; of another one never at the step
/// itself. What was before the start differs from what any step has.
template <class real, class math>
struct echo {
  static constexpr int states = 1, inputs = 6, params = 1, outputs = 1;
  static constexpr bool linear = false;
  using stored = rnn::indices<0>;
  using reads = rnn::reads<rnn::read<0, 0>, rnn::read<1, 5>, rnn::read<0, 4>, rnn::read<0, 1>,
                           rnn::read<1, 3>, rnn::read<0, 300>>;
  using entries = rnn::pattern<1, rnn::at<0, 0>>;
  using carry = entries;

  static __device__ void before(real (&fill)[6]) {
    rnn::each<6>([&](auto i) { fill[i] = reads::source(i.value) == 0 ? real(0.75) : real(-0.5); });
  }
  static __device__ void step(const real (&state)[1], const real (&input)[6],
                              const real (&param)[1], real (&next)[1], real (&output)[1]) {
    real jacobian[1];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[1], const real (&input)[6],
                                       const real (&param)[1], real (&next)[1], real (&output)[1],
                                       real (&jacobian)[1]) {
    const real u = math::fma(real(0.5), input[1], input[0] - input[2]);
    const real v = math::fma(real(0.25), input[3], input[4] - input[5]);
    next[0] = math::tanh(math::fma(param[0], state[0], u + v));
    output[0] = u - v;
    jacobian[0] = (real(1) - next[0] * next[0]) * param[0];
  }
};

/// An exponential moving average.
template <class real, class math>
struct average {
  static constexpr int states = 1, inputs = 1, params = 1, outputs = 0;
  static constexpr bool linear = true;
  using stored = rnn::indices<0>;
  using entries = rnn::pattern<1, rnn::at<0, 0>>;
  using carry = entries;

  static __device__ void step(const real (&state)[1], const real (&input)[1],
                              const real (&param)[1], real (&next)[1], real (&output)[1]) {
    real jacobian[1];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[1], const real (&input)[1],
                                       const real (&param)[1], real (&next)[1], real (&)[1],
                                       real (&jacobian)[1]) {
    next[0] = math::fma(param[0], state[0], (real(1) - param[0]) * input[0]);
    jacobian[0] = param[0];
  }
};

/// The logistic map, whose rate is 3.9 and a little input: chaos, no parameter.
template <class real, class math>
struct logistic {
  static constexpr int states = 1, inputs = 1, params = 0, outputs = 0;
  static constexpr bool linear = false;
  using stored = rnn::indices<0>;
  using entries = rnn::pattern<1, rnn::at<0, 0>>;
  using carry = entries;

  static __device__ void step(const real (&state)[1], const real (&input)[1],
                              const real (&param)[1], real (&next)[1], real (&output)[1]) {
    real jacobian[1];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[1], const real (&input)[1],
                                       const real (&)[1], real (&next)[1], real (&)[1],
                                       real (&jacobian)[1]) {
    const real rate = math::fma(real(0.05), math::tanh(input[0]), real(3.9));
    next[0] = rate * state[0] * (real(1) - state[0]);
    jacobian[0] = rate * (real(1) - real(2) * state[0]);
  }
};

/// Three states in a row, each seeing itself and the one before: the product of two Jacobians has a
/// place that none of them has. No state is wanted, only what is read out; there is no input.
template <class real, class math>
struct cascade {
  static constexpr int states = 3, inputs = 0, params = 2, outputs = 2;
  static constexpr bool linear = false;
  using stored = rnn::indices<>;
  using entries =
      rnn::pattern<3, rnn::at<0, 0>, rnn::at<1, 0>, rnn::at<1, 1>, rnn::at<2, 1>, rnn::at<2, 2>>;
  using carry = rnn::pattern<3, rnn::at<0, 0>, rnn::at<1, 0>, rnn::at<1, 1>, rnn::at<2, 0>,
                             rnn::at<2, 1>, rnn::at<2, 2>>;

  static __device__ void step(const real (&state)[3], const real (&input)[1],
                              const real (&param)[2], real (&next)[3], real (&output)[2]) {
    real jacobian[5];
    step_jacobian(state, input, param, next, output, jacobian);
  }
  static __device__ void step_jacobian(const real (&state)[3], const real (&)[1],
                                       const real (&param)[2], real (&next)[3], real (&output)[2],
                                       real (&jacobian)[5]) {
    const real a = param[0], b = param[1];
    next[0] = math::fma(a, state[0], real(0.125));
    const real u = math::tanh(state[0]), v = math::tanh(state[1]);
    next[1] = math::fma(a, state[1], b * u);
    next[2] = math::fma(a, state[2], b * v);
    output[0] = next[2] - next[0];
    output[1] = u * v;
    jacobian[0] = a;
    jacobian[1] = b * (real(1) - u * u);
    jacobian[2] = a;
    jacobian[3] = b * (real(1) - v * v);
    jacobian[4] = a;
  }
};

/// h = c + h^2 with c = h' / 10 + x / 10, solved in closed form: the smaller root, where there is
/// one.
template <class real, class math>
struct root {
  static constexpr int states = 1, inputs = 1, params = 0, outputs = 0;
  static constexpr bool linear = false, implicit = true;
  using stored = rnn::indices<0>;
  using entries = rnn::pattern<1, rnn::at<0, 0>>;
  using carry = entries;

  static __device__ void step(const real (&state)[1], const real (&input)[1],
                              const real (&param)[1], real (&next)[1], real (&output)[1],
                              bool* unsolved) {
    real jacobian[1];
    step_jacobian(state, input, param, next, output, jacobian, unsolved);
  }
  static __device__ void step_jacobian(const real (&state)[1], const real (&input)[1],
                                       const real (&)[1], real (&next)[1], real (&)[1],
                                       real (&jacobian)[1], bool* unsolved) {
    const real square = real(1) - real(0.4) * (state[0] + input[0]);
    const bool solved = !(square < real(0));
    const real width = math::sqrt(solved ? square : real(0));
    next[0] = real(0.5) - real(0.5) * width;
    jacobian[0] = width > real(0) ? real(0.1) / width : real(0);
    *unsolved = !solved;
  }
};

} // namespace cells
