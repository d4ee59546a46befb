#include "cpu/outer.hpp"

#include "cpu/behind.hpp"
#include "cpu/carver.hpp"
#include "cpu/forward.hpp"
#include "cpu/product_kernel.hpp"
#include "cpu/sequences.hpp"
#include "cpu/stage.hpp"
#include "cpu/threads.hpp"

#include <algorithm>
#include <cmath>

namespace rnnc::runtime::cpu {
namespace {

// Steps that are one chain: what rnn_outer says.
constexpr int64_t blockSteps = 64;
static_assert(sumSteps % blockSteps == 0, "windows are made of whole blocks");

// Of both factors together, at once: they stay in the second-level cache while the tiles of the
// result pass, and threads meet seldom.
constexpr int64_t packedBytes = int64_t(1) << 20;

// Tiles of the result, one below the other, in one task: they share the columns.
constexpr int64_t taskTiles = 4;

constexpr int64_t maxWidth = std::max(productMaxMr, productMaxNr);

// One factor as tiles of `width` elements; the last one is filled up with whatever is there.
struct Side {
  const OuterFactor& factor;
  int64_t width, tiles;

  Side(const OuterFactor& f, int64_t w) : factor(f), width(w), tiles((f.elements + w - 1) / w) {}
  int64_t padded() const { return width * tiles; }
  int64_t valid(int64_t tile) const { return std::min(width, factor.elements - tile * width); }
};

// Which factor has the rows of the kernels' tiles: the one with which they are fuller.
template <class F>
struct Tiling {
  Side rows, columns;
  int64_t heads;
  bool isSwapped;

  explicit Tiling(const OuterPlan& outer) : Tiling(outer, swaps(outer)) {}
  int64_t tile() const { return rows.width * columns.width; }
  int64_t numbers() const {
    return checkedProduct(checkedProduct(heads, rows.padded(), "the workspace"), columns.padded(),
                          "the workspace");
  }
  // Of a step of a batch element, of both factors.
  int64_t packed() const {
    return checkedProduct(heads, checkedSum(rows.padded(), columns.padded(), "the workspace"),
                          "the workspace");
  }
  F* tileOf(F* sums, int64_t head, int64_t row, int64_t column) const {
    return sums + ((head * columns.tiles + column) * rows.tiles + row) * tile();
  }

private:
  Tiling(const OuterPlan& outer, bool swap)
      : rows(swap ? outer.right : outer.left, productKernels().of<F>().mr),
        columns(swap ? outer.left : outer.right, productKernels().of<F>().nr), heads(outer.heads),
        isSwapped(swap) {}
  static bool swaps(const OuterPlan& outer) {
    const Tiling as(outer, false), swapped(outer, true);
    return double(swapped.rows.padded()) * double(swapped.columns.padded()) <
           double(as.rows.padded()) * double(as.columns.padded());
  }
};

// Blocks of a batch element that are packed together.
template <class F>
int64_t unitsAtOnce(const Plan& plan, const Tiling<F>& tiling) {
  const int64_t time = plan.window > 0 ? plan.window : plan.time;
  const int64_t all = plan.batch * ((time + blockSteps - 1) / blockSteps);
  const int64_t bytes = checkedProduct(std::max<int64_t>(tiling.packed(), 1),
                                       blockSteps * int64_t(sizeof(F)), "the workspace");
  return std::clamp<int64_t>(packedBytes / bytes, 1, std::max<int64_t>(all, 1));
}

// Steps one behind the other that are all read in the same way.
struct Span {
  int64_t begin, steps;
  bool isBehind;
};

// Offsets of elements of a factor in an array with these strides.
struct Places {
  int64_t fixed = 0;
  int64_t along[RNN_MAX_RANK] = {};

  Places(const rnn_slot& slot, size_t rank, const int64_t* strides) {
    for (size_t a = 0; a < rank; ++a) {
      fixed += slot.at[a] * strides[a];
      if (slot.lane_axis[a] >= 0) {
        along[slot.lane_axis[a]] += strides[a];
      }
    }
  }
};

/// The offset of index `at` along `axes`, row-major.
int64_t offsetOf(const std::vector<int64_t>& sizes, const std::vector<uint32_t>& axes,
                 const int64_t* along, int64_t at) {
  int64_t offset = 0;
  for (size_t a = axes.size(); a-- > 0;) {
    offset += at % sizes[axes[a]] * along[axes[a]];
    at /= sizes[axes[a]];
  }
  return offset;
}

template <class F>
class Runner {
public:
  Runner(const Call& call, const StagePlan& stage, char* shared)
      : call_(call), outer_(stage.outer), tiling_(outer_), kernel_(productKernels().of<F>()),
        begin_(call.beginOf(stage.phase)), end_(call.endOf(stage.phase)),
        atOnce_(unitsAtOnce(call.plan, tiling_)),
        sums_(static_cast<F*>(call.sums) + outer_.sumsOffset) {
    Carver carver(shared);
    carve(carver);
  }
  static int64_t sharedBytes(const Plan& plan, const OuterPlan& outer) {
    const Tiling<F> tiling(outer);
    const int64_t units = unitsAtOnce(plan, tiling);
    Carver carver(nullptr);
    carver.take<F>(roomOf(tiling.rows, tiling.heads, units));
    carver.take<F>(roomOf(tiling.columns, tiling.heads, units));
    carver.take<uint8_t>(tiling.heads * units);
    return carver.used();
  }
  void run();

private:
  static int64_t roomOf(const Side& side, int64_t heads, int64_t units) {
    return checkedProduct(checkedProduct(heads, side.padded(), "the workspace"), units * blockSteps,
                          "the workspace");
  }
  void carve(Carver& carver) {
    rows_ = carver.take<F>(roomOf(tiling_.rows, tiling_.heads, atOnce_));
    columns_ = carver.take<F>(roomOf(tiling_.columns, tiling_.heads, atOnce_));
    isFinite_ = carver.take<uint8_t>(tiling_.heads * atOnce_);
  }

  // A unit is a block of steps of one batch element; those of a block come one after the other.
  int64_t units() const {
    return call_.plan.batch * ((end_ - begin_ + blockSteps - 1) / blockSteps);
  }
  int64_t firstOf(int64_t unit) const { return begin_ + unit / call_.plan.batch * blockSteps; }
  int64_t stepsOf(int64_t unit) const { return std::min(blockSteps, end_ - firstOf(unit)); }
  F* packedAt(F* base, const Side& side, int64_t head, int64_t tile, int64_t place) const {
    return base + ((head * side.tiles + tile) * atOnce_ + place) * blockSteps * side.width;
  }
  bool isGuarded(const Side& side) const { return (&side == &tiling_.rows) != tiling_.isSwapped; }

  int64_t listSpans(const OuterFactor& factor, int64_t unit, Span* spans) const;
  void packUnit(const Side& side, F* base, int64_t head, int64_t unit, int64_t place);
  void packTile(const Side& side, int64_t head, int64_t tile, int64_t unit, const Span* spans,
                int64_t count, F* to) const;
  void packBehind(const Side& side, int64_t head, int64_t tile, int64_t batch, int64_t time,
                  F* to) const;
  void listOffsets(const Side& side, const Places& places, int64_t head, int64_t tile,
                   int64_t* offsets) const;
  void multiply(int64_t item, int64_t firstUnit, int64_t units);
  void addGuarded(int64_t steps, const F* rows, const F* columns, F* tile) const;

  const Call& call_;
  const OuterPlan& outer_;
  const Tiling<F> tiling_;
  const ProductKernel<F>& kernel_;
  int64_t begin_, end_;
  int64_t atOnce_;
  F* sums_;
  F *rows_ = nullptr, *columns_ = nullptr; ///< [heads][tiles][units at once][blockSteps][width]
  uint8_t* isFinite_ = nullptr; ///< [heads][units at once] of the factor that is not the guard
};

template <class F>
int64_t Runner<F>::listSpans(const OuterFactor& factor, int64_t unit, Span* spans) const {
  const int64_t batch = unit % call_.plan.batch, first = firstOf(unit);
  int64_t count = 0;
  for (int64_t t = first; t < first + stepsOf(unit); ++t) {
    const bool behind = isBehind(call_, batch, t, factor.ahead);
    if (count > 0 && !behind && !spans[count - 1].isBehind) {
      ++spans[count - 1].steps;
    } else {
      spans[count++] = {t, 1, behind};
    }
  }
  return count;
}

// What fills up the last tile is a copy of the last element: never read, and never out of bounds.
template <class F>
void Runner<F>::listOffsets(const Side& side, const Places& places, int64_t head, int64_t tile,
                            int64_t* offsets) const {
  const int64_t base = places.fixed + offsetOf(outer_.sizes, outer_.headAxes, places.along, head);
  const std::vector<uint32_t>& axes = side.factor.axes;
  for (int64_t j = 0; j < side.width; ++j) {
    const int64_t element = std::min(tile * side.width + j, side.factor.elements - 1);
    offsets[j] = base + offsetOf(outer_.sizes, axes, places.along, element);
  }
}

template <class F>
void Runner<F>::packBehind(const Side& side, int64_t head, int64_t tile, int64_t batch,
                           int64_t time, F* to) const {
  const rnn_slot& slot = *side.factor.slot;
  const Behind behind = behindOf(call_, slot.tensor, batch, time);
  if (!behind.from) {
    std::fill_n(to, side.width, static_cast<F>(behind.fill));
    return;
  }
  int64_t offsets[maxWidth];
  const Places places(slot, call_.plan.tensorSizes[slot.tensor].size(), behind.strides);
  listOffsets(side, places, head, tile, offsets);
  for (int64_t j = 0; j < side.width; ++j) {
    const int64_t at = (behind.base + offsets[j]) * elementSize(behind.from->dtype);
    to[j] = loadElement<F>(static_cast<const char*>(behind.from->data) + at, behind.from->dtype);
  }
}

template <class F>
void Runner<F>::packTile(const Side& side, int64_t head, int64_t tile, int64_t unit,
                         const Span* spans, int64_t count, F* to) const {
  const rnn_slot& slot = *side.factor.slot;
  const rnn_tensor& tensor = call_.tensors[slot.tensor];
  const SequenceStrides strides = sequenceStrides(call_.plan, slot.tensor, tensor);
  const int64_t batch = unit % call_.plan.batch, size = elementSize(tensor.dtype);
  int64_t offsets[maxWidth];
  listOffsets(side, Places(slot, call_.plan.tensorSizes[slot.tensor].size(), strides.dims), head,
              tile, offsets);
  for (const Span* span = spans; span != spans + count; ++span) {
    if (span->isBehind) {
      packBehind(side, head, tile, batch, span->begin, to);
    } else {
      const int64_t base = batch * strides.batch + (span->begin + side.factor.ahead) * strides.time;
      const void* addresses[maxWidth];
      for (int64_t j = 0; j < side.width; ++j) {
        addresses[j] = static_cast<const char*>(tensor.data) + (base + offsets[j]) * size;
      }
      gather(to, side.width, addresses, tensor.dtype, strides.time, span->steps);
    }
    to += span->steps * side.width;
  }
}

template <class F>
void Runner<F>::packUnit(const Side& side, F* base, int64_t head, int64_t unit, int64_t place) {
  Span spans[blockSteps];
  const int64_t count = listSpans(side.factor, unit, spans);
  const bool asks = outer_.desc->guarded && !isGuarded(side);
  bool isFinite = true;
  for (int64_t tile = 0; tile < side.tiles; ++tile) {
    F* to = packedAt(base, side, head, tile, place);
    packTile(side, head, tile, unit, spans, count, to);
    isFinite = isFinite && (!asks || std::all_of(to, to + stepsOf(unit) * side.width,
                                                 [](F x) { return std::isfinite(x); }));
  }
  if (asks) {
    isFinite_[head * atOnce_ + place] = isFinite;
  }
}

// As if the numbers that are not finite were 0; then those, where the guard is not 0. What they are
// added to is never finite again, so that their order makes no difference.
template <class F>
void Runner<F>::addGuarded(int64_t steps, const F* rows, const F* columns, F* tile) const {
  const int64_t mr = kernel_.mr, nr = kernel_.nr;
  const bool isRow = isGuarded(tiling_.rows);
  const F* given = isRow ? columns : rows;
  const int64_t width = isRow ? nr : mr;
  alignas(64) F finite[blockSteps * maxWidth];
  std::transform(given, given + steps * width, finite,
                 [](F x) { return std::isfinite(x) ? x : F(0); });
  kernel_.add(steps, isRow ? rows : finite, isRow ? finite : columns, tile);
  for (int64_t k = 0; k < steps; ++k) {
    for (int64_t i = 0; i < mr; ++i) {
      for (int64_t j = 0; j < nr; ++j) {
        const F row = rows[k * mr + i], column = columns[k * nr + j];
        if (!std::isfinite(isRow ? column : row) && (isRow ? row : column) != 0) {
          tile[i * nr + j] += row * column;
        }
      }
    }
  }
}

// Some tiles below each other, through all of the units that are packed.
template <class F>
void Runner<F>::multiply(int64_t item, int64_t firstUnit, int64_t units) {
  const int64_t parts = (tiling_.rows.tiles + taskTiles - 1) / taskTiles;
  const int64_t part = item % parts, column = item / parts % tiling_.columns.tiles;
  const int64_t head = item / parts / tiling_.columns.tiles;
  const int64_t first = part * taskTiles, last = std::min(first + taskTiles, tiling_.rows.tiles);
  for (int64_t place = 0; place < units; ++place) {
    const int64_t steps = stepsOf(firstUnit + place);
    const F* columns = packedAt(columns_, tiling_.columns, head, column, place);
    const bool isPlain = !outer_.desc->guarded || isFinite_[head * atOnce_ + place];
    for (int64_t row = first; row < last; ++row) {
      const F* rows = packedAt(rows_, tiling_.rows, head, row, place);
      F* to = tiling_.tileOf(sums_, head, row, column);
      if (isPlain) {
        kernel_.add(steps, rows, columns, to);
      } else {
        addGuarded(steps, rows, columns, to);
      }
    }
  }
}

template <class F>
void Runner<F>::run() {
  if (!call_.tensors[outer_.left.slot->tensor].data ||
      !call_.tensors[outer_.right.slot->tensor].data || tiling_.numbers() == 0) {
    return; // of an adjoint: nobody gave it, it is 0
  }
  const int64_t parts = (tiling_.rows.tiles + taskTiles - 1) / taskTiles;
  for (int64_t first = 0; first < units(); first += atOnce_) {
    const int64_t count = std::min(atOnce_, units() - first), each = tiling_.heads * count;
    parallelFor(*call_.plan.arena, 2 * each, [&](int64_t item, int) {
      const bool isRow = item < each;
      const int64_t place = item % count, head = item % each / count;
      packUnit(isRow ? tiling_.rows : tiling_.columns, isRow ? rows_ : columns_, head,
               first + place, place);
    });
    parallelFor(*call_.plan.arena, tiling_.heads * tiling_.columns.tiles * parts,
                [&](int64_t item, int) { multiply(item, first, count); });
  }
}

} // namespace

int64_t outerNumbers(const OuterPlan& outer, rnn_dtype compute) {
  return compute == RNN_F32 ? Tiling<float>(outer).numbers() : Tiling<double>(outer).numbers();
}

template <class F>
int64_t Outer<F>::sharedBytes(const Plan& plan, const OuterPlan& outer) {
  return Runner<F>::sharedBytes(plan, outer);
}

template <class F>
void Outer<F>::run(const Call& call, const StagePlan& stage, char* shared) {
  Runner<F>(call, stage, shared).run();
}

template <class F>
void Outer<F>::addTo(const OuterPlan& outer, const F* sums, int64_t fixed, const int64_t* along,
                     F* to) {
  const Tiling<F> tiling(outer);
  const Side &rows = tiling.rows, &columns = tiling.columns;
  F* from = const_cast<F*>(sums) + outer.sumsOffset; // only read
  const int64_t tiles = tiling.heads * columns.tiles;
  for (int64_t item = 0; item < tiles; ++item) {
    const int64_t head = item / columns.tiles, column = item % columns.tiles;
    const int64_t base = fixed + offsetOf(outer.sizes, outer.headAxes, along, head);
    const int64_t count = columns.valid(column);
    int64_t offsets[maxWidth];
    for (int64_t j = 0; j < count; ++j) {
      offsets[j] =
          base + offsetOf(outer.sizes, columns.factor.axes, along, column * columns.width + j);
    }
    for (int64_t i = 0; i < rows.factor.elements; ++i) {
      const int64_t row = offsetOf(outer.sizes, rows.factor.axes, along, i);
      const F* values =
          tiling.tileOf(from, head, i / rows.width, column) + i % rows.width * columns.width;
      for (int64_t j = 0; j < count; ++j) {
        to[row + offsets[j]] += outer.desc->negative ? -values[j] : values[j];
      }
    }
  }
}

template class Outer<float>;
template class Outer<double>;

} // namespace rnnc::runtime::cpu
