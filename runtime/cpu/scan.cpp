#include "cpu/scan.hpp"

#include "core/module.hpp"

#include <algorithm>
#include <cstring>

namespace rnnc::runtime::cpu {
namespace {

// product = A d, each row 0 where it is dropped.
template <class F>
void applyCarry(const CarryPattern& pattern, const F* carry, const F* defect, int64_t width,
                F* product) {
  std::fill(product, product + pattern.states * width, F(0));
  for (uint32_t p = 0; p < pattern.places; ++p) {
    const rnn_carry_place& place = pattern.place[p];
    const F* a = carry + place.number * width;
    const F* d = defect + place.column * width;
    F* row = product + place.row * width;
    const F sign = F(place.sign);
    for (int64_t j = 0; j < width; ++j) {
      row[j] += guardedTerm(sign * a[j], d[j]);
    }
  }
}

// One state of one boundary, all lanes. Returns nonzero where a start changed.
template <class F>
BitsOf<F> correctVector(const F* end, F* start, const F* product, F* defect,
                        const BitsOf<F>* frozen, int64_t width) {
  BitsOf<F> changed = 0;
  for (int64_t j = 0; j < width; ++j) {
    const F e = end[j], u = start[j], p = product[j];
    const bool usable = isUsable(p);
    const F moved = usable ? e + p : e;
    const F corrected = frozen[j] ? u : moved;
    const F gap = same(e, u) ? F(0) : e - u;
    defect[j] = frozen[j] ? F(0) : usable ? gap + p : gap;
    start[j] = corrected;
    changed |= same(corrected, u) ? 0 : 1;
  }
  return changed;
}

} // namespace

template <class F>
void worstMismatch(const CarryPattern& pattern, const ChunkVectors<F>& chunks, int64_t first,
                   F* worst) {
  const int64_t vector = pattern.states * chunks.width;
  std::fill(worst, worst + chunks.width, F(0));
  for (int64_t w = first; w + 1 < chunks.count; ++w) {
    const F* end = chunks.end + w * vector;
    const F* start = chunks.start + (w + 1) * vector;
    for (uint32_t i = 0; i < pattern.states; ++i) {
      for (int64_t j = 0; j < chunks.width; ++j) {
        const F m = mismatch(end[i * chunks.width + j], start[i * chunks.width + j]);
        worst[j] = m > worst[j] ? m : worst[j];
      }
    }
  }
}

template <class F>
Changes correct(const CarryPattern& pattern, const ChunkVectors<F>& chunks, int64_t first,
                const BitsOf<F>* frozen, F* defect, F* product, uint8_t* dirty) {
  const int64_t width = chunks.width;
  const int64_t vector = pattern.states * width;
  Changes changes;
  for (int64_t w = first; w + 1 < chunks.count; ++w) {
    applyCarry(pattern, chunks.carry + w * pattern.carry * width, defect, width, product);
    BitsOf<F> changed = 0;
    for (uint32_t i = 0; i < pattern.states; ++i) {
      changed |= correctVector(chunks.end + w * vector + i * width,
                               chunks.start + (w + 1) * vector + i * width, product + i * width,
                               defect + i * width, frozen, width);
    }
    dirty[w + 1] = changed != 0;
    if (changed) {
      changes.add(w + 1);
    }
  }
  return changes;
}

template <class F>
F worstMismatchAcross(const CarryPattern& pattern, const ChunkVectors<F>& vectors, int64_t chunks) {
  const int64_t width = vectors.width;
  F worst = 0;
  for (int64_t v = 0; v < vectors.count; ++v) {
    for (uint32_t i = 0; i < pattern.states; ++i) {
      const F* end = vectors.end + (v * pattern.states + i) * width;
      const F* start = vectors.start + (v * pattern.states + i) * width;
      const int64_t inside = std::min(width, chunks - v * width) - 1;
      for (int64_t j = 0; j < inside; ++j) {
        const F m = mismatch(end[j], start[j + 1]);
        worst = m > worst ? m : worst;
      }
      if (v + 1 < vectors.count) {
        const F m = mismatch(end[width - 1], start[pattern.states * width]);
        worst = m > worst ? m : worst;
      }
    }
  }
  return worst;
}

template <class F>
Changes correctAcross(const CarryPattern& pattern, const ChunkVectors<F>& vectors, int64_t chunks,
                      F* defect, F* product, uint8_t* dirty) {
  const int64_t width = vectors.width;
  const uint32_t states = pattern.states;
  Changes changes;
  for (int64_t w = 0; w + 1 < chunks; ++w) {
    const int64_t v = w / width, j = w % width;
    const int64_t nextV = (w + 1) / width, nextJ = (w + 1) % width;
    const F* carry = vectors.carry + v * pattern.carry * width + j;
    const F* end = vectors.end + v * states * width + j;
    F* start = vectors.start + nextV * states * width + nextJ;
    std::fill(product, product + states, F(0));
    for (uint32_t p = 0; p < pattern.places; ++p) {
      const rnn_carry_place& place = pattern.place[p];
      product[place.row] +=
          guardedTerm(F(place.sign) * carry[place.number * width], defect[place.column]);
    }
    bool changed = false;
    for (uint32_t i = 0; i < states; ++i) {
      const F e = end[i * width], u = start[i * width], p = product[i];
      const bool usable = isUsable(p);
      const F corrected = usable ? e + p : e;
      const F gap = same(e, u) ? F(0) : e - u;
      defect[i] = usable ? gap + p : gap;
      start[i * width] = corrected;
      changed |= !same(corrected, u);
    }
    if (changed) {
      dirty[nextV] = 1;
      changes.add(w + 1);
    }
  }
  // The columns past the last chunk stay its copies.
  const int64_t lastV = (chunks - 1) / width, lastJ = (chunks - 1) % width;
  for (uint32_t i = 0; i < states; ++i) {
    F* start = vectors.start + (lastV * states + i) * width;
    std::fill(start + lastJ + 1, start + width, start[lastJ]);
  }
  return changes;
}

template <class F>
void compose(const std::vector<CarryTerm>& products, const CarryPattern& pattern, int64_t columns,
             const F* left, int64_t leftStride, F* carry, F* room) {
  std::fill(room, room + pattern.carry * columns, F(0));
  for (const CarryTerm& term : products) {
    const F* a = left + term.a * leftStride;
    const F* b = carry + term.b * columns;
    F* out = room + term.result * columns;
    const F times = F(term.times);
    for (int64_t j = 0; j < columns; ++j) {
      out[j] += ((a[j] == 0) | (b[j] == 0)) ? F(0) : times * a[j] * b[j];
    }
  }
  std::memcpy(carry, room, sizeof(F) * pattern.carry * columns);
}

#define RNN_INSTANTIATE(F)                                                                         \
  template void worstMismatch(const CarryPattern&, const ChunkVectors<F>&, int64_t, F*);           \
  template Changes correct(const CarryPattern&, const ChunkVectors<F>&, int64_t, const BitsOf<F>*, \
                           F*, F*, uint8_t*);                                                      \
  template F worstMismatchAcross(const CarryPattern&, const ChunkVectors<F>&, int64_t);            \
  template Changes correctAcross(const CarryPattern&, const ChunkVectors<F>&, int64_t, F*, F*,     \
                                 uint8_t*);                                                        \
  template void compose(const std::vector<CarryTerm>&, const CarryPattern&, int64_t, const F*,     \
                        int64_t, F*, F*);
RNN_INSTANTIATE(float)
RNN_INSTANTIATE(double)
#undef RNN_INSTANTIATE

} // namespace rnnc::runtime::cpu
