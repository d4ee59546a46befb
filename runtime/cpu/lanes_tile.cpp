#include "cpu/tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rnnc::runtime::cpu {

template <class F>
void LanesTile<F>::begin(const TileFrame& frame, const F* start) {
  const int64_t count = (frame.steps - 1) / this->system_.chunk + 1;
  this->setRows(frame, count, this->system_.chunk, frame.steps);
  this->columns_.frameLanes(frame.time);
  for (int64_t w = 0; w < count; ++w) {
    std::memcpy(this->startOf(w), start, sizeof(F) * this->stateSize());
    this->s_.dirty[w] = 1;
    this->s_.known[w] = 0;
  }
  std::fill(this->s_.agreed, this->s_.agreed + this->columns_.width(), BitsOf<F>(0));
  countWaiting();
}

// Chunk 1 starts elsewhere by d_1; the scan takes that to all others, to first order.
template <class F>
void LanesTile<F>::restart(const TileFrame& frame, const F* start) {
  const int64_t count = (frame.steps - 1) / this->system_.chunk + 1;
  const int64_t width = this->columns_.width();
  this->setRows(frame, count, this->system_.chunk, frame.steps);
  this->columns_.frameLanes(frame.time);
  F* old = this->startOf(0);
  for (uint32_t i = 0; i < this->columns_.states(); ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = i * width + j;
      const bool moved = !same(start[at], old[at]);
      this->s_.agreed[j] &= moved ? 0 : ~BitsOf<F>(0);
      this->scratch_.defect[at] = moved ? start[at] - old[at] : F(0);
    }
  }
  std::memcpy(old, start, sizeof(F) * this->stateSize());
  correctVectorsFrom(0);
  this->s_.dirty[0] = 1;
  countWaiting();
}

template <class F>
Changes LanesTile<F>::correctVectorsFrom(int64_t first) {
  return rnnc::runtime::cpu::correct(this->pattern_, this->vectors(), first, this->s_.agreed,
                                     this->scratch_.defect, this->scratch_.product, this->s_.dirty);
}

template <class F>
void LanesTile<F>::countWaiting() {
  this->waiting_ =
      std::count(this->s_.agreed, this->s_.agreed + this->columns_.valid(), BitsOf<F>(0));
}

template <class F>
void LanesTile<F>::shoot(int64_t) {
  first_ = this->vectors_;
  for (int64_t w = 0; w < this->vectors_; ++w) {
    if (this->s_.dirty[w]) {
      first_ = std::min(first_, w);
      this->shootVector(w, w + 1 < this->vectors_ || this->frame_.wantsCarry);
    }
  }
}

template <class F>
double LanesTile<F>::agree(int64_t sweep, const SweepRules& rules, TileStats& stats) {
  F* worst = this->scratch_.worst;
  // In front of the chunk before the first one shot, lanes that still wait meet bit for bit.
  worstMismatch(this->pattern_, this->vectors(), std::max<int64_t>(first_ - 1, 0), worst);
  double left = 0;
  for (int64_t j = 0; j < this->columns_.width(); ++j) {
    if (this->s_.agreed[j]) {
      continue;
    }
    if (worst[j] <= rules.tolerance) {
      this->s_.agreed[j] = ~BitsOf<F>(0);
      stats.laneSweeps += j < this->columns_.valid() ? sweep : 0;
      stats.mismatch = std::max<double>(stats.mismatch, worst[j]);
    } else {
      left = std::max<double>(left, worst[j]);
    }
  }
  countWaiting();
  return left;
}

template <class F>
Changes LanesTile<F>::correct() {
  std::fill(this->scratch_.defect, this->scratch_.defect + this->stateSize(), F(0));
  return correctVectorsFrom(std::max<int64_t>(first_ - 1, 0));
}

// Sweeping on would have taken a lane at most one sweep for each start that is wrong here, and one
// to see that none is; that is what its count of sweeps says.
template <class F>
void LanesTile<F>::walk(int64_t sweep, int64_t firstChunk, TileStats& stats) {
  const int64_t width = this->columns_.width();
  F* wrong = this->scratch_.worst;
  std::fill(wrong, wrong + width, F(0));
  for (int64_t w = firstChunk; w < this->vectors_; ++w) {
    if (w > firstChunk) {
      takeEnds(w, wrong);
    }
    this->shootVector(w, false);
  }
  for (int64_t j = 0; j < this->columns_.valid(); ++j) {
    if (!this->s_.agreed[j]) {
      stats.laneSweeps += std::min(chunks(), sweep + 1 + static_cast<int64_t>(wrong[j]));
    }
  }
  std::fill(this->s_.agreed, this->s_.agreed + width, ~BitsOf<F>(0));
  countWaiting();
}

// Lanes that wait start chunk `w` where the chunk in front ended. Counts those that changed.
template <class F>
void LanesTile<F>::takeEnds(int64_t w, F* wrong) {
  const int64_t width = this->columns_.width();
  F* start = this->startOf(w);
  const F* end = this->endOf(w - 1);
  for (int64_t j = 0; j < width; ++j) {
    bool changed = false;
    for (uint32_t i = 0; i < this->columns_.states() && !this->s_.agreed[j]; ++i) {
      changed |= !same(start[i * width + j], end[i * width + j]);
      start[i * width + j] = end[i * width + j];
    }
    wrong[j] += F(changed);
  }
}

template <class F>
void LanesTile<F>::addSums(F* total) {
  for (int64_t w = 0; w < this->vectors_; ++w) {
    this->columns_.addSums(this->sumsOf(w), total);
  }
}

template <class F>
void LanesTile<F>::tileCarry(F* carry) {
  const int64_t width = this->columns_.width();
  std::memcpy(carry, this->carryOf(0), sizeof(F) * this->pattern_.carry * width);
  for (int64_t w = 1; w < this->vectors_; ++w) {
    this->extendCarry(width, this->carryOf(w), width, carry);
  }
}

template <class F>
void LanesTile<F>::noteNonfinite(TileStats& stats) {
  for (int64_t w = 0; w < this->vectors_; ++w) {
    const F* finite = this->finiteOf(w);
    const int64_t valid = this->columns_.valid();
    if (std::any_of(finite, finite + valid, [](F flag) { return std::isnan(flag); })) {
      this->load(w);
      this->columns_.noteNonfinite(finite, this->rowOf(w), this->stepsOf(w), this->startOf(w), 0,
                                   valid, stats.nonfinite);
    }
  }
}

template <class F>
void LanesTile<F>::noteUnsolved(TileStats& stats) {
  for (int64_t w = 0; w < this->vectors_; ++w) {
    this->columns_.noteUnsolved(this->unsolvedOf(w), this->rowOf(w), 0, this->columns_.valid(),
                                stats.unsolved);
  }
}

template class LanesTile<float>;
template class LanesTile<double>;

} // namespace rnnc::runtime::cpu
