#include "cpu/product.hpp"

#include "cpu/behind.hpp"
#include "cpu/product_kernel.hpp"
#include "cpu/sequences.hpp"
#include "cpu/stage.hpp"
#include "cpu/threads.hpp"

#include <algorithm>

namespace rnnc::runtime::cpu {
namespace {

// Bytes of the sequence's rows that a thread packs at once: they stay in the second-level cache
// while all columns of the weights pass.
constexpr int64_t rowBytes = 256 * 1024;
constexpr int64_t maxTiles = 20;
constexpr int64_t maxWidth = productMaxNr;
constexpr int64_t maxTile = productMaxMr * productMaxNr;

int64_t roundUp(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Rows of the sequence in one task.
template <class F>
int64_t rowsOf(const ProductPlan& product) {
  const int64_t mr = productKernels().of<F>().mr;
  const int64_t bytes = std::max<int64_t>(product.contracted, 1) * mr * int64_t(sizeof(F));
  return mr * std::clamp<int64_t>(rowBytes / bytes, 1, maxTiles);
}

template <class F>
int64_t packedNumbers(const ProductPlan& product, int64_t columns) {
  const int64_t width = roundUp(columns, productKernels().of<F>().nr);
  return checkedProduct(checkedProduct(product.heads, width, "the workspace"), product.contracted,
                        "the workspace");
}

// An array of the call, as elements at offsets.
struct Array {
  char* data = nullptr;
  rnn_dtype dtype = RNN_F32;
  int64_t batch = 0, time = 0;
  const int64_t* dims = nullptr;
  uint32_t rank = 0;

  Array() = default;
  Array(const Call& call, uint32_t index) {
    const rnn_tensor& tensor = call.tensors[index];
    const SequenceStrides strides = sequenceStrides(call.plan, index, tensor);
    data = static_cast<char*>(tensor.data);
    dtype = tensor.dtype;
    batch = strides.batch;
    time = strides.time;
    dims = strides.dims;
    rank = static_cast<uint32_t>(call.plan.tensorSizes[index].size());
  }
  template <class F>
  F load(int64_t offset) const {
    return loadElement<F>(data + offset * elementSize(dtype), dtype);
  }
};

// Where the columns of a tile stand in an array.
struct ColumnOffsets {
  int64_t count = 0;
  int64_t at[maxWidth];
  // In a row without gaps.
  bool isContiguous() const {
    for (int64_t j = 1; j < count; ++j) {
      if (at[j] != at[0] + j) {
        return false;
      }
    }
    return true;
  }
};

template <class F>
class Runner {
public:
  Runner(const Call& call, const StagePlan& stage)
      : call_(call), product_(stage.product), kernel_(productKernels().of<F>()),
        begin_(call.beginOf(stage.phase)), time_(call.endOf(stage.phase) - begin_),
        rows_(batchOf(call.plan, stage.phase) * time_ * stage.product.rows),
        sequence_(call, stage.product.desc->sequence),
        before_(static_cast<F>(call.plan.table().tensor[stage.product.desc->sequence].fill)),
        history_(stage.product.desc->back > 0 ? call.history<F>(stage.product.desc->sequence)
                                              : History<F>{}),
        ahead_(stage.product.ahead) {}

  void packWeights(F* to) const;
  int64_t tasks() const { return product_.heads * blocks(); }
  void task(int64_t item, const F* packed, F* slice) const;

private:
  int64_t blocks() const {
    const int64_t each = rowsOf<F>(product_);
    return (rows_ + each - 1) / each;
  }
  int64_t headOffset(const Array& array, int64_t head) const;
  ColumnOffsets columnOffsets(const ProductPart& part, const Array& array, int64_t end,
                              int64_t first) const;
  void packPanel(const ProductPart& part, int64_t head, int64_t panel, F* to) const;
  void packRows(int64_t head, int64_t first, int64_t count, F* to) const;
  void packBefore(F* to) const;
  void packEarlier(int64_t head, int64_t row, F* to) const;
  void packFrom(const rnn_tensor& tensor, int64_t base, const int64_t* dims, int64_t head,
                int64_t row, F* to) const;
  void packBehind(int64_t head, int64_t row, F* to) const;
  void multiply(const ProductPart& part, int64_t head, int64_t first, int64_t count, const F* rows,
                const F* weights) const;
  void startTile(const ProductPart& part, int64_t head, int64_t column, F* tile) const;
  void storeTile(const Array& result, int64_t head, int64_t row, int64_t rows,
                 const ColumnOffsets& columns, bool isContiguous, const F* tile) const;
  int64_t timeAt(int64_t step) const { return begin_ + step % time_; }
  // A row is a batch element, a step, and an index along the sequence's own axis.
  int64_t rowOffset(const Array& array, int64_t row, int64_t ownStride, int64_t back) const {
    const int64_t own = row % product_.rows, step = row / product_.rows;
    return step / time_ * array.batch + (timeAt(step) - back) * array.time + own * ownStride;
  }

  const Call& call_;
  const ProductPlan& product_;
  const ProductKernel<F>& kernel_;
  int64_t begin_, time_; ///< the first step, and how many
  int64_t rows_;
  Array sequence_;
  F before_;           ///< what the sequence was before its first step
  History<F> history_; ///< of a stream: what it was before the call
  int64_t ahead_;      ///< of an adjoint: its rows are those of so many steps later
};

template <class F>
int64_t Runner<F>::headOffset(const Array& array, int64_t head) const {
  const std::vector<int64_t>& sizes = call_.plan.tensorSizes[product_.desc->part[0].weight];
  int64_t offset = 0;
  for (uint32_t a = product_.desc->heads; a-- > 0;) {
    offset += head % sizes[a] * array.dims[a];
    head /= sizes[a];
  }
  return offset;
}

// A tile's columns from `first` on, in an array whose column axes end in front of axis `end`. Axes
// that it lacks in front are broadcast.
template <class F>
ColumnOffsets Runner<F>::columnOffsets(const ProductPart& part, const Array& array, int64_t end,
                                       int64_t first) const {
  const int64_t* sizes =
      call_.plan.tensorSizes[part.desc->weight].data() + product_.weightColumn + part.columnAxes;
  ColumnOffsets offsets;
  offsets.count = std::min(kernel_.nr, part.columns - first);
  for (int64_t j = 0; j < offsets.count; ++j) {
    int64_t column = first + j;
    offsets.at[j] = 0;
    for (int64_t a = 1; a <= std::min<int64_t>(part.columnAxes, end); ++a) {
      offsets.at[j] += column % sizes[-a] * array.dims[end - a];
      column /= sizes[-a];
    }
  }
  return offsets;
}

// [contracted][nr], zeros beyond the last column.
template <class F>
void Runner<F>::packPanel(const ProductPart& part, int64_t head, int64_t panel, F* to) const {
  const Array weight(call_, part.desc->weight);
  const int64_t nr = kernel_.nr;
  const int64_t down = weight.dims[part.contracted];
  const int64_t base = headOffset(weight, head);
  const ColumnOffsets columns =
      columnOffsets(part, weight, product_.weightColumn + part.columnAxes, panel * nr);
  withNumber(weight.dtype, [&]<class T>() {
    const T* from = reinterpret_cast<const T*>(weight.data) + base;
    for (int64_t k = 0; k < product_.contracted; ++k) {
      for (int64_t j = 0; j < nr; ++j) {
        to[k * nr + j] = j < columns.count ? static_cast<F>(from[k * down + columns.at[j]]) : F(0);
      }
    }
  });
}

template <class F>
void Runner<F>::packWeights(F* to) const {
  for (const ProductPart& part : product_.parts) {
    const int64_t panels = roundUp(part.columns, kernel_.nr) / kernel_.nr;
    const int64_t each = product_.contracted * kernel_.nr;
    parallelFor(*call_.plan.arena, product_.heads * panels, [&](int64_t item, int) {
      packPanel(part, item / panels, item % panels, to + item * each);
    });
    to += packedNumbers<F>(product_, part.columns);
  }
}

// Tiles of [contracted][mr], zeros beyond the last row.
template <class F>
void Runner<F>::packRows(int64_t head, int64_t first, int64_t count, F* to) const {
  const int64_t mr = kernel_.mr, contracted = product_.contracted, back = product_.desc->back;
  const int64_t stride = sequence_.dims[product_.sequenceContracted];
  const int64_t own = product_.hasRow ? sequence_.dims[product_.sequenceRow] : 0;
  const int64_t base = headOffset(sequence_, head);
  for (int64_t tile = 0; tile < count; tile += mr, to += contracted * mr) {
    for (int64_t i = 0; i < mr; ++i) {
      const int64_t row = first + tile + i;
      if (tile + i >= count) {
        for (int64_t k = 0; k < contracted; ++k) {
          to[k * mr + i] = 0;
        }
        continue;
      }
      const int64_t step = row / product_.rows;
      if (!sequence_.data) { // of an adjoint: nobody gave it
        packBefore(to + i);
        continue;
      }
      if (isBehind(call_, step / time_, timeAt(step), ahead_)) {
        packBehind(head, row, to + i);
        continue;
      }
      if (back > 0 && call_.beginsWithin(step / time_, timeAt(step), back)) {
        packBefore(to + i);
        continue;
      }
      if (timeAt(step) < back) {
        packEarlier(head, row, to + i);
        continue;
      }
      const int64_t at = base + rowOffset(sequence_, row, own, back - ahead_);
      withNumber(sequence_.dtype, [&]<class T>() {
        const T* from = reinterpret_cast<const T*>(sequence_.data) + at;
        for (int64_t k = 0; k < contracted; ++k) {
          to[k * mr + i] = static_cast<F>(from[k * stride]);
        }
      });
    }
  }
}

// A row of a step before the sequence's first one.
template <class F>
void Runner<F>::packBefore(F* to) const {
  for (int64_t k = 0; k < product_.contracted; ++k) {
    to[k * kernel_.mr] = before_;
  }
}

// A row of a step before the call's first one.
template <class F>
void Runner<F>::packEarlier(int64_t head, int64_t row, F* to) const {
  if (!history_.data) {
    packBefore(to);
    return;
  }
  Array kept;
  kept.dims = history_.strides;
  const int64_t own = row % product_.rows, step = row / product_.rows;
  const F* from = history_.at(timeAt(step) - product_.desc->back) +
                  step / time_ * history_.steps * history_.elements + headOffset(kept, head) +
                  (product_.hasRow ? own * history_.strides[product_.sequenceRow] : 0);
  const int64_t stride = history_.strides[product_.sequenceContracted];
  for (int64_t k = 0; k < product_.contracted; ++k) {
    to[k * kernel_.mr] = from[k * stride];
  }
}

// A row of an array that has no time, of which `dims` are the strides along the sequence's axes.
template <class F>
void Runner<F>::packFrom(const rnn_tensor& tensor, int64_t base, const int64_t* dims, int64_t head,
                         int64_t row, F* to) const {
  Array array;
  array.data = static_cast<char*>(tensor.data);
  array.dtype = tensor.dtype;
  array.dims = dims;
  const int64_t own = product_.hasRow ? row % product_.rows * dims[product_.sequenceRow] : 0;
  const int64_t at = base + headOffset(array, head) + own;
  for (int64_t k = 0; k < product_.contracted; ++k) {
    to[k * kernel_.mr] = array.load<F>(at + k * dims[product_.sequenceContracted]);
  }
}

// A row behind an adjoint's last step: what the cell's state was before its first one.
template <class F>
void Runner<F>::packBehind(int64_t head, int64_t row, F* to) const {
  const int64_t step = row / product_.rows;
  const Behind behind = behindOf(call_, product_.desc->sequence, step / time_, timeAt(step));
  if (behind.from) {
    packFrom(*behind.from, behind.base, behind.strides, head, row, to);
    return;
  }
  for (int64_t k = 0; k < product_.contracted; ++k) {
    to[k * kernel_.mr] = static_cast<F>(behind.fill);
  }
}

// The bias in every row, or zeros.
template <class F>
void Runner<F>::startTile(const ProductPart& part, int64_t head, int64_t column, F* tile) const {
  const int64_t mr = kernel_.mr, nr = kernel_.nr;
  std::fill(tile, tile + mr * nr, F(0));
  if (part.desc->bias < 0) {
    return;
  }
  const auto index = static_cast<uint32_t>(part.desc->bias);
  const Array bias(call_, index);
  // Its axes are the last ones of the result; those in front of the column are heads.
  const std::vector<int64_t>& sizes = call_.plan.tensorSizes[product_.desc->part[0].weight];
  int64_t base = 0;
  uint32_t axis = bias.rank - std::min(bias.rank, part.columnAxes);
  for (uint32_t a = product_.desc->heads; a-- > 0;) {
    if (axis > 0) {
      base += head % sizes[a] * bias.dims[--axis];
    }
    head /= sizes[a];
  }
  const ColumnOffsets columns = columnOffsets(part, bias, bias.rank, column);
  for (int64_t j = 0; j < columns.count; ++j) {
    tile[j] = bias.load<F>(base + columns.at[j]);
  }
  for (int64_t i = 1; i < mr; ++i) {
    std::copy(tile, tile + nr, tile + i * nr);
  }
}

// `isContiguous`: the columns are neighbours.
template <class F>
void Runner<F>::storeTile(const Array& result, int64_t head, int64_t row, int64_t rows,
                          const ColumnOffsets& columns, bool isContiguous, const F* tile) const {
  const int64_t own = product_.hasRow ? result.dims[product_.resultRow] : 0;
  const int64_t base = headOffset(result, head);
  withNumber(result.dtype, [&]<class T>() {
    for (int64_t i = 0; i < rows; ++i) {
      T* to = reinterpret_cast<T*>(result.data) + base + rowOffset(result, row + i, own, 0);
      const F* from = tile + i * kernel_.nr;
      if (isContiguous) {
        to += columns.at[0];
        for (int64_t j = 0; j < columns.count; ++j) {
          to[j] = static_cast<T>(from[j]);
        }
        continue;
      }
      for (int64_t j = 0; j < columns.count; ++j) {
        to[columns.at[j]] = static_cast<T>(from[j]);
      }
    }
  });
}

template <class F>
void Runner<F>::multiply(const ProductPart& part, int64_t head, int64_t first, int64_t count,
                         const F* rows, const F* weights) const {
  const Array result(call_, part.desc->result);
  if (!result.data) {
    return; // nobody wants it
  }
  const int64_t mr = kernel_.mr, nr = kernel_.nr, contracted = product_.contracted;
  alignas(64) F start[maxTile], tile[maxTile];
  for (int64_t column = 0; column < part.columns; column += nr) {
    startTile(part, head, column, start);
    const ColumnOffsets columns =
        columnOffsets(part, result, product_.resultColumn + part.columnAxes, column);
    const bool isContiguous = columns.isContiguous();
    for (int64_t row = 0; row < count; row += mr) {
      std::copy(start, start + mr * nr, tile);
      kernel_.run(contracted, rows + row * contracted, weights + column * contracted, tile);
      storeTile(result, head, first + row, std::min(mr, count - row), columns, isContiguous, tile);
    }
  }
}

template <class F>
void Runner<F>::task(int64_t item, const F* packed, F* slice) const {
  const int64_t head = item / blocks(), each = rowsOf<F>(product_);
  const int64_t first = item % blocks() * each, count = std::min(each, rows_ - first);
  packRows(head, first, count, slice);
  for (const ProductPart& part : product_.parts) {
    const int64_t ofHead = roundUp(part.columns, kernel_.nr) * product_.contracted;
    multiply(part, head, first, count, slice, packed + head * ofHead);
    packed += packedNumbers<F>(product_, part.columns);
  }
}

} // namespace

template <class F>
int64_t Product<F>::packedBytes(const ProductPlan& product) {
  int64_t numbers = 0;
  for (const ProductPart& part : product.parts) {
    numbers = checkedSum(numbers, packedNumbers<F>(product, part.columns), "the workspace");
  }
  return checkedProduct(numbers, sizeof(F), "the workspace");
}

template <class F>
int64_t Product<F>::sliceBytes(const ProductPlan& product) {
  return checkedProduct(checkedProduct(rowsOf<F>(product), product.contracted, "the workspace"),
                        sizeof(F), "the workspace");
}

template <class F>
void Product<F>::pack(const Call& call, const StagePlan& stage, char* packed) {
  Runner<F>(call, stage).packWeights(reinterpret_cast<F*>(packed));
}

template <class F>
void Product<F>::run(const Call& call, const StagePlan& stage, char* packed, bool isPacked,
                     char* slices, int64_t bytesEach) {
  const Runner<F> runner(call, stage);
  bool wanted = false;
  for (const ProductPart& part : stage.product.parts) {
    wanted |= call.tensors[part.desc->result].data != nullptr;
  }
  if (!wanted) {
    return;
  }
  F* weights = reinterpret_cast<F*>(packed);
  if (!isPacked) {
    runner.packWeights(weights);
  }
  parallelFor(*call.plan.arena, runner.tasks(), [&](int64_t item, int slot) {
    runner.task(item, weights, reinterpret_cast<F*>(slices + slot * bytesEach));
  });
}

template class Product<float>;
template class Product<double>;

} // namespace rnnc::runtime::cpu
