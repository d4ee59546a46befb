// Step 2 and 3 of a sweep (SOLVER.md section 2): do the chunks meet, and where should they start.
//
// The unknowns are the chunks' start states u; shooting gave the ends e and the products of the
// Jacobians A. Newton's step on u_{w+1} = e_w(u_w) is a scan over the defects d:
//
//     d_1 = 0,   d_{w+1} = (e_w - u_{w+1}) + A_w d_w,   u'_{w+1} = e_w + A_w d_w
//
// The guard: where d is exactly 0 or A d is not finite, the product is dropped. So the first n
// chunks are exact after n sweeps whatever the cell does, in floating point too.
#pragma once

#include "core/plan.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace rnnc::runtime::cpu {

template <class F>
using BitsOf = std::conditional_t<sizeof(F) == 4, uint32_t, uint64_t>;

/// Equal as the exactness contract means it: bit for bit, any NaN equal to any NaN.
template <class F>
inline bool same(F a, F b) {
  BitsOf<F> bitsA, bitsB;
  std::memcpy(&bitsA, &a, sizeof(F));
  std::memcpy(&bitsB, &b, sizeof(F));
  return (bitsA == bitsB) | ((a != a) & (b != b));
}

/// |e - u| / (1 + |u|): 0 only where they are the same, infinite where that is no number.
template <class F>
inline F mismatch(F e, F u) {
  constexpr F infinity = std::numeric_limits<F>::infinity();
  const F ratio = std::fabs(e - u) / (1 + std::fabs(u));
  const F positive = ratio > 0 ? ratio : std::numeric_limits<F>::denorm_min();
  return same(e, u) ? F(0) : ratio < infinity ? positive : infinity;
}

/// The guard's first half, for one term of A d.
template <class F>
inline F guardedTerm(F a, F d) {
  return d == 0 ? F(0) : a * d;
}

/// Its second half, for one row of A d: is there anything to add?
template <class F>
inline bool isUsable(F product) {
  return std::fabs(product) <= std::numeric_limits<F>::max() && product != 0;
}

/// Where the carry's numbers stand.
struct CarryPattern {
  uint32_t states, carry, places;
  const rnn_carry_place* place; ///< [places]

  explicit CarryPattern(const rnn_system_desc& desc)
      : states(desc.states), carry(desc.carry), places(desc.carry_places), place(desc.carry_place) {
  }
};

/// Chunks one after the other, each a vector of lanes: [chunk][state][width] and
/// [chunk][carry][width].
template <class F>
struct ChunkVectors {
  int64_t count, width;
  F* start;
  const F* end;
  const F* carry;
};

/// worst[lane] = the largest mismatch at the boundaries from chunk `first` on.
template <class F>
void worstMismatch(const CarryPattern& pattern, const ChunkVectors<F>& chunks, int64_t first,
                   F* worst);

/// What a correction did to the start states.
struct Changes {
  int64_t count = 0;
  int64_t first = 0; ///< the first chunk whose start changed; 0: none did

  void add(int64_t chunk) {
    first = count == 0 || chunk < first ? chunk : first;
    ++count;
  }
};

/// Corrects the start states behind chunk `first`. `defect` ([states][width]) is that chunk's d and
/// is used up; lanes with a nonzero `frozen` keep their starts. Sets dirty[w] where the start of
/// chunk w changed, clears it elsewhere behind `first`. `product` is room for [states][width].
template <class F>
Changes correct(const CarryPattern& pattern, const ChunkVectors<F>& chunks, int64_t first,
                const BitsOf<F>* frozen, F* defect, F* product, uint8_t* dirty);

/// The same for one lane whose chunks are the columns of vectors: chunk w is column w % width of
/// vector w / width.
template <class F>
F worstMismatchAcross(const CarryPattern& pattern, const ChunkVectors<F>& vectors, int64_t chunks);

/// `defect` ([states]) is the first chunk's d. Sets dirty[v] where a start in vector v changed.
/// Columns past the last chunk follow it. `product` is room for [states].
template <class F>
Changes correctAcross(const CarryPattern& pattern, const ChunkVectors<F>& vectors, int64_t chunks,
                      F* defect, F* product, uint8_t* dirty);

/// carry = left * carry, over the `products` of the pattern: `columns` columns each,
/// [carry][columns]; rows of `left` are `leftStride` apart. `room` is for one more carry. The guard
/// inside a composition: nothing passes through a zero, so an infinite factor spoils no entry that
/// it does not reach.
template <class F>
void compose(const std::vector<CarryTerm>& products, const CarryPattern& pattern, int64_t columns,
             const F* left, int64_t leftStride, F* carry, F* room);

} // namespace rnnc::runtime::cpu
