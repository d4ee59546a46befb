// The product's kernels for AVX2 with fused multiply-adds: 12 of 16 registers hold sums.
#include "cpu/product_kernel.hpp"

namespace rnnc::runtime::cpu {

const ProductKernels* productKernelsAvx2() {
#if defined(__AVX2__) && defined(__FMA__)
  static constexpr ProductKernels kernels = kernelsOf<32, 6, 2>();
  return &kernels;
#else
  return nullptr;
#endif
}

} // namespace rnnc::runtime::cpu
