// What the chunks of a tile tell each other: the scan over the defects of SOLVER.md section 2.
//
//     d_1 = 0,   d_{w+1} = (e_w - u_{w+1}) + A_w d_w,   u'_{w+1} = e_w + A_w d_w
//
// Every thread goes through the chunks in front of its own, so that one barrier between writing and
// reading is all it takes; beside a shoot the work is small. Where d is exactly 0 or a row of A d
// is not finite, the product is dropped: after n sweeps the first n chunks are exact.
#pragma once

#include "rnn/affine.cuh"
#include "rnn/policy.cuh"

namespace rnn {

/// A lane's view of the block's shared memory: [row][chunk][lane].
template <class Cell, class Policy, class real>
class exchange {
public:
  enum { k = Cell::states };
  using Carry = typename Cell::carry;

  __device__ exchange(real* memory, int lane) : column_(memory + lane) {}

  __device__ __forceinline__ void publish(int chunk, const real (&start)[k], const real (&end)[k],
                                          const real (&carry)[Carry::size]) {
    each<k>([&](auto i) {
      at(starts + i, chunk) = start[i];
      at(ends + i, chunk) = end[i];
    });
    each<Carry::size>([&](auto c) { at(carries + c, chunk) = carry[c]; });
  }

  __device__ __forceinline__ void end_of(int chunk, real (&end)[k]) const {
    each<k>([&](auto i) { end[i] = at(ends + i, chunk); });
  }

  /// By how much `start` misses the end of the chunk in front of `chunk`: the largest mismatch.
  __device__ __forceinline__ real miss(int chunk, const real (&start)[k]) const {
    real worst = 0;
    each<k>([&](auto i) {
      const real m = mismatch(at(ends + i, chunk - 1), start[i]);
      worst = m > worst ? m : worst;
    });
    return worst;
  }

  /// u' of `chunk`, which is not the first.
  __device__ __forceinline__ void correct(int chunk, real (&corrected)[k]) const {
    real defect[k] = {};
#pragma unroll(Carry::size > 4 ? 1 : 2)
    for (int w = 0; w + 1 < chunk; ++w) {
      real next[k];
      each<k>([&](auto i) {
        const real e = at(ends + i, w), u = at(starts + i, w + 1);
        const real gap = same(e, u) ? real(0) : e - u;
        const real product = row<i.value>(w, defect);
        next[i] = usable(product) ? gap + product : gap;
      });
      each<k>([&](auto i) { defect[i] = next[i]; });
    }
    each<k>([&](auto i) {
      const real e = at(ends + i, chunk - 1);
      const real product = row<i.value>(chunk - 1, defect);
      corrected[i] = usable(product) ? e + product : e;
    });
  }

  __device__ __forceinline__ void publish_miss(int chunk, real miss) { at(misses, chunk) = miss; }
  __device__ __forceinline__ real miss_of(int chunk) const { return at(misses, chunk); }

private:
  enum { starts = 0, ends = k, carries = 2 * k, misses = 2 * k + Carry::size };

  template <int i>
  __device__ __forceinline__ real row(int chunk, const real (&defect)[k]) const {
    return apply_row<Carry, i>([&](auto c) { return at(carries + c, chunk); }, defect);
  }
  __device__ __forceinline__ real& at(int row, int chunk) const {
    return column_[(row * Policy::chunks + chunk) * Policy::lanes];
  }

  real* column_;
};

} // namespace rnn
