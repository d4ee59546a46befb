// The product's kernels for AVX-512: 24 of 32 registers hold sums.
#include "cpu/product_kernel.hpp"

namespace rnnc::runtime::cpu {

const ProductKernels* productKernelsAvx512() {
#if defined(__AVX512F__)
  static constexpr ProductKernels kernels = kernelsOf<64, 12, 2>();
  return &kernels;
#else
  return nullptr;
#endif
}

} // namespace rnnc::runtime::cpu
