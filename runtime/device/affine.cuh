// Numbers and maps of the correction: equality, mismatch, products of Jacobians, and their guard.
//
// The product of the Jacobians of a chunk is a matrix whose pattern is closed (pattern.cuh), so
// full, triangular, diagonal and any other block are one code: what is identically zero costs
// nothing, and what stands in several places is computed once.
#pragma once

#include "rnn/cell.cuh"
#include "rnn/pattern.cuh"
#include "rnn/platform.cuh"

namespace rnn {

/// Equal as the exactness contract means it: bit for bit, any NaN equal to any NaN.
template <class real>
__device__ inline bool same(real a, real b) {
  return bits(a) == bits(b) || (a != a && b != b);
}

template <int n, class real>
__device__ inline bool same(const real (&a)[n], const real (&b)[n]) {
  bool all = true;
  each<n>([&](auto i) { all = all && same(a[i], b[i]); });
  return all;
}

/// |e - u| / (1 + |u|): 0 only where they are the same, infinite where that is no number.
template <class real>
__device__ inline real mismatch(real e, real u) {
  if (same(e, u)) {
    return real(0);
  }
  const real ratio = magnitude(e - u) / (real(1) + magnitude(u));
  const real positive = ratio > real(0) ? ratio : limits<real>::smallest();
  return ratio <= limits<real>::largest() ? positive : limits<real>::infinity();
}

template <class real>
__device__ inline bool finite(real x) {
  return magnitude(x) <= limits<real>::largest();
}

template <int sign, class real>
__device__ inline real with_sign(real number) {
  return sign < 0 ? -number : number;
}

namespace detail {
/// Is m the first term of (left * right) at (i, j)? Only asked of places that have one.
template <class Left, class Right>
constexpr bool first_term(int i, int j, int m) {
  for (int n = 0; n < m; ++n) {
    if (Left::contains(i, n) && Right::contains(n, j)) {
      return false;
    }
  }
  return true;
}
} // namespace detail

/// product = jacobian * carry: each number once, at its first place.
template <class Entries, class Carry, class real>
__device__ inline void multiply(const real (&jacobian)[Entries::size],
                                const real (&carry)[Carry::size], real (&product)[Carry::size]) {
  constexpr int k = Carry::states;
  each<k * k>([&](auto ij) {
    constexpr int i = decltype(ij)::value / k, j = decltype(ij)::value % k;
    if constexpr (Carry::contains(i, j) && Carry::first(i, j)) {
      real sum = 0;
      each<k>([&](auto m) {
        if constexpr (Entries::contains(i, m.value) && Carry::contains(m.value, j)) {
          constexpr int sign = Entries::sign(i, m.value) * Carry::sign(m.value, j);
          const real a = with_sign<sign>(jacobian[Entries::position(i, m.value)]);
          const real b = carry[Carry::position(m.value, j)];
          sum = detail::first_term<Entries, Carry>(i, j, m.value) ? a * b : fused(a, b, sum);
        }
      });
      product[Carry::position(i, j)] = sum;
    }
  });
}

/// A carry from a Jacobian alone: the product over one step.
template <class Entries, class Carry, class real>
__device__ inline void widen(const real (&jacobian)[Entries::size], real (&carry)[Carry::size]) {
  constexpr int k = Carry::states;
  each<k * k>([&](auto ij) {
    constexpr int i = decltype(ij)::value / k, j = decltype(ij)::value % k;
    if constexpr (Carry::contains(i, j) && Carry::first(i, j)) {
      real number = 0;
      if constexpr (Entries::contains(i, j)) {
        number = with_sign<Entries::sign(i, j)>(jacobian[Entries::position(i, j)]);
      }
      carry[Carry::position(i, j)] = number;
    }
  });
}

/// The product over no step.
template <class Carry, class real>
__device__ inline void identity(real (&carry)[Carry::size]) {
  constexpr int k = Carry::states;
  each<k * k>([&](auto ij) {
    constexpr int i = decltype(ij)::value / k, j = decltype(ij)::value % k;
    if constexpr (Carry::contains(i, j) && Carry::first(i, j)) {
      carry[Carry::position(i, j)] = real(i == j ? 1 : 0);
    }
  });
}

/// Row i of A d, A(c) the number c of the carry. The guard's first half: a term whose d is exactly
/// 0 is left out.
template <class Carry, int i, class real, class A>
__device__ inline real apply_row(A&& carry, const real (&defect)[Carry::states]) {
  real sum = 0;
  each<Carry::states>([&](auto j) {
    if constexpr (Carry::contains(i, j.value)) {
      const real a =
          with_sign<Carry::sign(i, j.value)>(carry(constant<Carry::position(i, j.value)>()));
      const real term = a * defect[j];
      sum += defect[j] == real(0) ? real(0) : term;
    }
  });
  return sum;
}

/// The guard's second half, for one row of A d: is there anything to add?
template <class real>
__device__ inline bool usable(real product) {
  return finite(product) && product != real(0);
}

} // namespace rnn
