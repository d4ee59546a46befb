#include "cpu/stage.hpp"

#include <algorithm>
#include <type_traits>

namespace rnnc::runtime::cpu {
namespace {

// Blocks of one cache line of steps times as many columns: every line of either side is used up
// while it is in the first-level cache, also where the columns are a power of two apart.
constexpr int64_t block = 16;

// Squares of one SSE or NEON register a row. They work on numbers of the size of F as bits.
template <class F>
struct Square;

template <>
struct Square<float> {
  static constexpr int64_t side = 4;
  typedef uint32_t Row __attribute__((vector_size(16), aligned(4), may_alias));

  template <class In, class Out>
  static void transpose(const In& in, const Out& out) {
    const Row a = *in(0), b = *in(1), c = *in(2), d = *in(3);
    const Row ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Row ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Row cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Row cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *out(0) = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    *out(1) = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    *out(2) = __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5);
    *out(3) = __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7);
  }
};

template <>
struct Square<double> {
  static constexpr int64_t side = 2;
  typedef uint64_t Row __attribute__((vector_size(16), aligned(8), may_alias));

  template <class In, class Out>
  static void transpose(const In& in, const Out& out) {
    const Row a = *in(0), b = *in(1);
    *out(0) = __builtin_shufflevector(a, b, 0, 2);
    *out(1) = __builtin_shufflevector(a, b, 1, 3);
  }
};

// Calls square(step, j) over the part of `steps` x `columns` that squares cover, block by block,
// and element(step, j) over the rest.
template <int64_t side, class OnSquare, class OnElement>
void inBlocks(int64_t steps, int64_t columns, const OnSquare& square, const OnElement& element) {
  const int64_t fullSteps = steps / side * side;
  const int64_t fullColumns = columns / side * side;
  for (int64_t j0 = 0; j0 < fullColumns; j0 += block) {
    const int64_t j1 = std::min(j0 + block, fullColumns);
    for (int64_t t0 = 0; t0 < fullSteps; t0 += block) {
      const int64_t t1 = std::min(t0 + block, fullSteps);
      for (int64_t j = j0; j < j1; j += side) {
        for (int64_t t = t0; t < t1; t += side) {
          square(t, j);
        }
      }
    }
  }
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t j = t < fullSteps ? fullColumns : 0; j < columns; ++j) {
      element(t, j);
    }
  }
}

// The columns' addresses as what they point to.
template <class T>
struct Columns {
  const void* const* address;
  const T* operator[](int64_t j) const { return static_cast<const T*>(address[j]); }
};
template <class T>
struct WritableColumns {
  void* const* address;
  T* operator[](int64_t j) const { return static_cast<T*>(address[j]); }
};

// How many columns from the first on are neighbours in memory.
template <class C>
int64_t contiguousColumns(const C& column, int64_t width) {
  int64_t count = 1;
  while (count < width && column[count] == column[0] + count) {
    ++count;
  }
  return count;
}

template <class F, class T>
void gatherFrom(F* rows, int64_t width, Columns<T> column, int64_t stride, int64_t steps) {
  if constexpr (std::is_same_v<F, T>) {
    if (stride == 1) {
      using S = Square<F>;
      inBlocks<S::side>(
          steps, width,
          [&](int64_t t, int64_t j) {
            S::transpose(
                [&](int64_t i) {
                  return reinterpret_cast<const typename S::Row*>(column[j + i] + t);
                },
                [&](int64_t i) {
                  return reinterpret_cast<typename S::Row*>(rows + (t + i) * width + j);
                });
          },
          [&](int64_t t, int64_t j) { rows[t * width + j] = column[j][t]; });
      return;
    }
  }
  const int64_t together = contiguousColumns(column, width);
  if (together == 1) {
    auto element = [&](int64_t t, int64_t j) {
      rows[t * width + j] = static_cast<F>(column[j][t * stride]);
    };
    inBlocks<1>(steps, width, element, element);
    return;
  }
  for (int64_t t = 0; t < steps; ++t) {
    const T* from = column[0] + t * stride;
    F* row = rows + t * width;
    for (int64_t j = 0; j < together; ++j) {
      row[j] = static_cast<F>(from[j]);
    }
    for (int64_t j = together; j < width; ++j) {
      row[j] = static_cast<F>(column[j][t * stride]);
    }
  }
}

template <class F, class T>
void scatterTo(const F* rows, int64_t width, WritableColumns<T> column, int64_t valid,
               int64_t stride, int64_t steps) {
  if constexpr (std::is_same_v<F, T>) {
    if (stride == 1) {
      using S = Square<F>;
      inBlocks<S::side>(
          steps, valid,
          [&](int64_t t, int64_t j) {
            S::transpose(
                [&](int64_t i) {
                  return reinterpret_cast<const typename S::Row*>(rows + (t + i) * width + j);
                },
                [&](int64_t i) { return reinterpret_cast<typename S::Row*>(column[j + i] + t); });
          },
          [&](int64_t t, int64_t j) { column[j][t] = rows[t * width + j]; });
      return;
    }
  }
  const int64_t together = contiguousColumns(column, valid);
  if (together == 1) {
    auto element = [&](int64_t t, int64_t j) {
      column[j][t * stride] = static_cast<T>(rows[t * width + j]);
    };
    inBlocks<1>(steps, valid, element, element);
    return;
  }
  for (int64_t t = 0; t < steps; ++t) {
    T* to = column[0] + t * stride;
    const F* row = rows + t * width;
    for (int64_t j = 0; j < together; ++j) {
      to[j] = static_cast<T>(row[j]);
    }
    for (int64_t j = together; j < valid; ++j) {
      column[j][t * stride] = static_cast<T>(row[j]);
    }
  }
}

} // namespace

template <class F>
void gather(F* rows, int64_t width, const void* const* column, rnn_dtype dtype, int64_t stride,
            int64_t steps) {
  withNumber(dtype, [&]<class T>() { gatherFrom(rows, width, Columns<T>{column}, stride, steps); });
}

template <class F>
void scatter(const F* rows, int64_t width, void* const* column, int64_t valid, rnn_dtype dtype,
             int64_t stride, int64_t steps) {
  withNumber(dtype, [&]<class T>() {
    scatterTo(rows, width, WritableColumns<T>{column}, valid, stride, steps);
  });
}

template void gather(float*, int64_t, const void* const*, rnn_dtype, int64_t, int64_t);
template void gather(double*, int64_t, const void* const*, rnn_dtype, int64_t, int64_t);
template void scatter(const float*, int64_t, void* const*, int64_t, rnn_dtype, int64_t, int64_t);
template void scatter(const double*, int64_t, void* const*, int64_t, rnn_dtype, int64_t, int64_t);

} // namespace rnnc::runtime::cpu
