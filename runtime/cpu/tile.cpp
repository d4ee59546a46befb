#include "cpu/tile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rnnc::runtime::cpu {

template <class F>
void Tile<F>::setRows(const TileFrame& frame, int64_t vectors, int64_t chunkSteps, int64_t rows) {
  frame_ = frame;
  vectors_ = vectors;
  chunkSteps_ = chunkSteps;
  rows_ = rows;
  std::fill(scratch_.shot, scratch_.shot + vectors, uint8_t(0));
  std::fill(scratch_.loaded, scratch_.loaded + vectors, uint8_t(0));
}

template <class F>
void Tile<F>::load(int64_t vector) {
  if (!scratch_.loaded[vector]) {
    scratch_.loaded[vector] = 1;
    columns_.load(rowOf(vector), stepsOf(vector));
  }
}

/// For a carry that is wanted. A Jacobian that depends on no state gives the same product from any
/// start, so that the first sweep's stays right; one that is constant in time needs no sweep.
template <class F>
bool Tile<F>::needsJacobian(int64_t vector) {
  const rnn_system_desc& desc = *system_.desc;
  if (!desc.linear) {
    return true;
  }
  const bool known = s_.known[vector];
  s_.known[vector] = 1;
  if (!known && desc.constant) {
    takePower(vector);
  }
  return !known && !desc.constant;
}

/// The product over a chunk is a power of the Jacobian, by squaring: once for these columns and
/// each length of chunk.
template <class F>
void Tile<F>::takePower(int64_t vector) {
  const int64_t steps = stepsOf(vector), width = columns_.width();
  const size_t bytes = sizeof(F) * pattern_.carry * width;
  if (scratch_.powerSteps != steps) {
    if (scratch_.powerSteps == 0) {
      columns_.jacobian(rowOf(vector), startOf(vector), scratch_.jacobian);
    }
    scratch_.powerSteps = steps;
    std::memcpy(scratch_.power, scratch_.jacobian, bytes);
    for (int64_t bit = int64_t(1) << (std::bit_width(uint64_t(steps)) - 1); bit > 1;) {
      bit /= 2;
      extendCarry(width, scratch_.power, width, scratch_.power);
      if (steps & bit) {
        extendCarry(width, scratch_.jacobian, width, scratch_.power);
      }
    }
  }
  std::memcpy(carryOf(vector), scratch_.power, bytes);
}

template <class F>
void Tile<F>::shootVector(int64_t vector, bool withCarry) {
  load(vector);
  withCarry = withCarry && needsJacobian(vector);
  std::memcpy(endOf(vector), startOf(vector), sizeof(F) * stateSize());
  columns_.shoot(rowOf(vector), stepsOf(vector), endOf(vector),
                 withCarry ? carryOf(vector) : nullptr, finiteOf(vector), unsolvedOf(vector),
                 sumsOf(vector));
  s_.dirty[vector] = 0;
  scratch_.shot[vector] = 1;
}

template <class F>
void Tile<F>::store() {
  for (int64_t v = 0; v < vectors_; ++v) {
    if (scratch_.shot[v]) {
      scratch_.shot[v] = 0;
      columns_.store(rowOf(v), stepsOf(v));
    }
  }
}

template class Tile<float>;
template class Tile<double>;

} // namespace rnnc::runtime::cpu
