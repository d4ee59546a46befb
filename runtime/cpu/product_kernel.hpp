// The innermost loop of a matrix product, compiled once for each instruction set. Nothing here may
// be shared between those files: the linker would keep one copy, for processors that lack it.
#pragma once

#include <cstdint>

namespace rnnc::runtime::cpu {

/// Of all kernels below.
constexpr int64_t productMaxMr = 12, productMaxNr = 32;

/// tile[i][j] += sum over k of a[k][i] * b[k][j], for `mr` rows and `nr` columns, row-major. The
/// sum is a chain in the order of k, one fused multiply-add a term where the processor has them, so
/// that an element's bits depend on nothing but its own terms.
template <class F>
struct ProductKernel {
  int64_t mr, nr;
  void (*run)(int64_t k, const F* a, const F* b, F* tile);
  /// The same with a chain that starts with 0 and is then added to the tile.
  void (*add)(int64_t k, const F* a, const F* b, F* tile);
};

struct ProductKernels {
  ProductKernel<float> f32;
  ProductKernel<double> f64;
  template <class F>
  const ProductKernel<F>& of() const {
    if constexpr (sizeof(F) == 4) {
      return f32;
    } else {
      return f64;
    }
  }
};

// Null where the build has none for this instruction set.
const ProductKernels* productKernelsBaseline();
const ProductKernels* productKernelsAvx2();
const ProductKernels* productKernelsAvx512();

/// The widest ones that this processor can run.
const ProductKernels& productKernels();

namespace {

/// `vectors` registers of `bytes` bytes a row. Everything is unrolled: the sums stay in registers.
template <class F, int bytes, int rows, int vectors, bool fromZero>
void productTile(int64_t k, const F* a, const F* b, F* tile) {
  typedef F Vector __attribute__((vector_size(bytes), aligned(sizeof(F)), may_alias));
  constexpr int lanes = bytes / sizeof(F);
  Vector sum[rows][vectors];
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] =
          fromZero ? Vector{} : *reinterpret_cast<const Vector*>(tile + (i * vectors + v) * lanes);
    }
  }
  for (int64_t step = 0; step < k; ++step) {
    Vector right[vectors];
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v) {
      right[v] = *reinterpret_cast<const Vector*>(b + v * lanes);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < rows; ++i) {
#pragma clang loop unroll(full)
      for (int v = 0; v < vectors; ++v) {
        sum[i][v] += a[i] * right[v];
      }
    }
    a += rows;
    b += vectors * lanes;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < rows; ++i) {
#pragma clang loop unroll(full)
    for (int v = 0; v < vectors; ++v) {
      Vector& to = *reinterpret_cast<Vector*>(tile + (i * vectors + v) * lanes);
      to = fromZero ? to + sum[i][v] : sum[i][v];
    }
  }
}

template <int bytes, int rows, int vectors>
constexpr ProductKernels kernelsOf() {
  return {{rows, vectors * bytes / 4, productTile<float, bytes, rows, vectors, false>,
           productTile<float, bytes, rows, vectors, true>},
          {rows, vectors * bytes / 8, productTile<double, bytes, rows, vectors, false>,
           productTile<double, bytes, rows, vectors, true>}};
}

} // namespace
} // namespace rnnc::runtime::cpu
