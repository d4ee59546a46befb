#include "cpu/tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rnnc::runtime::cpu {

template <class F>
void ChunksTile<F>::open(const TileFrame& frame) {
  const int64_t width = this->columns_.width();
  const int64_t steps = chunkStepsFor(system(), frame.steps);
  const int64_t vectors = (system().chunks + width - 1) / width;
  this->setRows(frame, vectors, steps, vectors * steps);
  this->columns_.frameChunks(frame.time, steps, system().chunks);
  this->waiting_ = 1;
  walkedFrom_ = system().chunks;
}

template <class F>
void ChunksTile<F>::begin(const TileFrame& frame, const F* start) {
  open(frame);
  const int64_t width = this->columns_.width();
  for (int64_t v = 0; v < this->vectors_; ++v) {
    for (uint32_t i = 0; i < this->columns_.states(); ++i) {
      std::fill_n(this->startOf(v) + i * width, width, start[i]);
    }
    this->s_.dirty[v] = 1;
    this->s_.known[v] = 0;
  }
}

template <class F>
void ChunksTile<F>::restart(const TileFrame& frame, const F* start) {
  open(frame);
  const int64_t width = this->columns_.width();
  F* defect = this->scratch_.defect;
  for (uint32_t i = 0; i < this->columns_.states(); ++i) {
    F& old = this->startOf(0)[i * width];
    defect[i] = same(start[i], old) ? F(0) : start[i] - old;
    old = start[i];
  }
  this->s_.dirty[0] = 1;
  correctAcross(this->pattern_, this->vectors(), system().chunks, defect, this->scratch_.product,
                this->s_.dirty);
}

template <class F>
void ChunksTile<F>::shoot(int64_t sweep) {
  const bool isLast = sweep == this->frame_.expectedSweeps;
  for (int64_t v = 0; v < this->vectors_; ++v) {
    if (this->s_.dirty[v]) {
      const bool hasNext = v * this->columns_.width() + 1 < system().chunks;
      this->shootVector(v, (hasNext && !isLast) || this->frame_.wantsCarry);
    }
  }
}

template <class F>
double ChunksTile<F>::agree(int64_t sweep, const SweepRules& rules, TileStats& stats) {
  const double worst = worstMismatchAcross(this->pattern_, this->vectors(), system().chunks);
  if (worst <= rules.tolerance) {
    this->waiting_ = 0;
    stats.laneSweeps += sweep;
    stats.mismatch = std::max(stats.mismatch, worst);
  }
  return worst;
}

template <class F>
Changes ChunksTile<F>::correct() {
  std::fill_n(this->scratch_.defect, this->columns_.states(), F(0));
  return correctAcross(this->pattern_, this->vectors(), system().chunks, this->scratch_.defect,
                       this->scratch_.product, this->s_.dirty);
}

// The chunks in front are final and go to the caller's arrays first: their vectors hold later
// chunks too, whose results the run alone overwrites. Sweeping on would have taken at most one
// sweep for each start that is wrong here, and one to see that none is.
template <class F>
void ChunksTile<F>::walk(int64_t sweep, int64_t firstChunk, TileStats& stats) {
  const int64_t width = this->columns_.width();
  const uint32_t states = this->columns_.states();
  this->store();
  walkedFrom_ = firstChunk;
  int64_t wrong = 0;
  for (int64_t w = firstChunk; w < chunks(); ++w) {
    const F* start = this->startOf(w / width) + w % width;
    bool changed = false;
    for (uint32_t i = 0; i < states; ++i) {
      changed |= !same(start[i * width], this->scratch_.walkEnd[i]);
      this->scratch_.walkEnd[i] = w == firstChunk ? start[i * width] : this->scratch_.walkEnd[i];
    }
    wrong += changed && w > firstChunk;
    runAlone(this->frame_.time + w * this->chunkSteps_, this->chunkSteps_, this->scratch_.walkEnd,
             stats);
  }
  stats.laneSweeps += std::min(chunks(), sweep + 1 + wrong);
  this->waiting_ = 0;
}

template <class F>
void ChunksTile<F>::runAlone(int64_t time, int64_t steps, F* state, TileStats& stats) {
  const int64_t width = alone_.width();
  for (uint32_t i = 0; i < alone_.states(); ++i) {
    std::fill_n(aloneState_ + i * width, width, state[i]);
  }
  alone_.walk(time, steps, aloneState_, stats.nonfinite, stats.unsolved, aloneSums_);
  for (uint32_t i = 0; i < alone_.states(); ++i) {
    state[i] = aloneState_[i * width];
  }
}

template <class F>
void ChunksTile<F>::endState(F* state) {
  if (walkedFrom_ < system().chunks) {
    std::copy_n(this->scratch_.walkEnd, this->columns_.states(), state);
    return;
  }
  const int64_t width = this->columns_.width();
  const F* end = this->endOf((chunks() - 1) / width) + (chunks() - 1) % width;
  for (uint32_t i = 0; i < this->columns_.states(); ++i) {
    state[i] = end[i * width];
  }
}

template <class F>
void ChunksTile<F>::addSums(F* total) {
  const int64_t width = this->columns_.width();
  for (uint32_t i = 0; i < system().desc->sums; ++i) {
    for (int64_t w = 0; w < walkedFrom_; ++w) {
      total[i] += this->sumsOf(w / width)[i * width + w % width];
    }
  }
}

template <class F>
void ChunksTile<F>::tileCarry(F* carry) {
  const int64_t width = this->columns_.width();
  for (int64_t w = 0; w < chunks(); ++w) {
    const F* a = this->carryOf(w / width) + w % width;
    if (w == 0) {
      for (uint32_t c = 0; c < this->pattern_.carry; ++c) {
        carry[c] = a[c * width];
      }
    } else {
      this->extendCarry(1, a, width, carry);
    }
  }
}

template <class F>
void ChunksTile<F>::noteNonfinite(TileStats& stats) {
  const int64_t width = this->columns_.width();
  for (int64_t w = 0; w < walkedFrom_; ++w) {
    const int64_t v = w / width, j = w % width;
    if (std::isnan(this->finiteOf(v)[j])) {
      this->load(v);
      this->columns_.noteNonfinite(this->finiteOf(v), this->rowOf(v), this->chunkSteps_,
                                   this->startOf(v), j, j + 1, stats.nonfinite);
    }
  }
}

// Chunks that were walked have told already.
template <class F>
void ChunksTile<F>::noteUnsolved(TileStats& stats) {
  const int64_t width = this->columns_.width();
  for (int64_t v = 0; v * width < walkedFrom_; ++v) {
    this->columns_.noteUnsolved(this->unsolvedOf(v), this->rowOf(v), 0,
                                std::min(width, walkedFrom_ - v * width), stats.unsolved);
  }
}

template class ChunksTile<float>;
template class ChunksTile<double>;

} // namespace rnnc::runtime::cpu
