// The product's kernels for every processor of the architecture, and the choice between all.
#include "cpu/product_kernel.hpp"

namespace rnnc::runtime::cpu {

const ProductKernels* productKernelsBaseline() {
  static constexpr ProductKernels kernels = kernelsOf<16, 4, 2>();
  return &kernels;
}

const ProductKernels& productKernels() {
#if defined(__x86_64__)
  if (productKernelsAvx512() && __builtin_cpu_supports("avx512f")) {
    return *productKernelsAvx512();
  }
  if (productKernelsAvx2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return *productKernelsAvx2();
  }
#endif
  return *productKernelsBaseline();
}

} // namespace rnnc::runtime::cpu
