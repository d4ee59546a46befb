#include "cpu/tile.hpp"

#include <algorithm>
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

template <class F>
void Tile<F>::shootVector(int64_t vector, bool withCarry) {
  load(vector);
  std::memcpy(endOf(vector), startOf(vector), sizeof(F) * stateSize());
  columns_.shoot(rowOf(vector), stepsOf(vector), endOf(vector),
                 withCarry ? carryOf(vector) : nullptr, finiteOf(vector), unsolvedOf(vector));
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
