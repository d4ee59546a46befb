// sin, cos and tan: the CPU's operations, so its bits.
#pragma once

#include "rnn/math_turns.cuh"

namespace rnn::elementary {

/// Of an angle within an eighth of a turn and a little more.
template <class real>
__device__ inline real sine_of_small(real r) {
  real square = r * r;
  return fused(square * r, estrin(square, terms<real>(sine_tail_f32(), sine_tail_f64())), r);
}
template <class real>
__device__ inline real cosine_of_small(real r) {
  real square = r * r;
  real tail = estrin(square, terms<real>(cosine_tail_f32(), cosine_tail_f64()));
  return fused(square * square, tail, fused(square, real(-0.5), real(1)));
}

/// The sign bit where the number of quarter turns is 2 or 3 modulo 4.
template <class real>
__device__ inline bits_of<real> turned_sign(bits_of<real> quarters) {
  return (quarters & 2) << (8 * sizeof(real) - 2);
}

template <class real>
__device__ inline real sin(real x) {
  quarter_turns<real> turns = reduce_angle(x);
  real s = sine_of_small(turns.r), c = cosine_of_small(turns.r);
  real y = flip_sign(turns.count & 1 ? c : s, turned_sign<real>(turns.count));
  return x == real(0) ? x : y; // the sum r + r^3 p loses the sign of a zero
}

template <class real>
__device__ inline real cos(real x) {
  quarter_turns<real> turns = reduce_angle(x);
  real s = sine_of_small(turns.r), c = cosine_of_small(turns.r);
  return flip_sign(turns.count & 1 ? s : c, turned_sign<real>(turns.count + 1));
}

template <class real>
__device__ inline real tan(real x) {
  quarter_turns<real> turns = reduce_angle(x);
  real s = sine_of_small(turns.r), c = cosine_of_small(turns.r);
  bool odd = turns.count & 1;
  real y = quotient(odd ? c : s, odd ? s : c);
  return x == real(0) ? x : flip_sign(y, turns.count << (8 * sizeof(real) - 1));
}

} // namespace rnn::elementary
