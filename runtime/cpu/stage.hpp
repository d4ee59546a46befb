// Between the caller's arrays and the layout of the kernels, [step][column].
#pragma once

#include "core/elements.hpp"

#include <cstdint>

namespace rnnc::runtime::cpu {

/// rows[step * width + j] = column[j][step * stride], converted. The columns are arrays of `dtype`;
/// the stride counts elements. Bits are kept where nothing is converted.
template <class F>
void gather(F* rows, int64_t width, const void* const* column, rnn_dtype dtype, int64_t stride,
            int64_t steps);

/// column[j][step * stride] = rows[step * width + j] for the first `valid` columns.
template <class F>
void scatter(const F* rows, int64_t width, void* const* column, int64_t valid, rnn_dtype dtype,
             int64_t stride, int64_t steps);

template <class F>
F loadElement(const char* element, rnn_dtype dtype) {
  return dtype == RNN_F32 ? static_cast<F>(*reinterpret_cast<const float*>(element))
                          : static_cast<F>(*reinterpret_cast<const double*>(element));
}

template <class F>
void storeElement(char* element, rnn_dtype dtype, F value) {
  if (dtype == RNN_F32) {
    *reinterpret_cast<float*>(element) = static_cast<float>(value);
  } else {
    *reinterpret_cast<double*>(element) = static_cast<double>(value);
  }
}

template <class F>
constexpr rnn_dtype dtypeOf = sizeof(F) == 4 ? RNN_F32 : RNN_F64;

} // namespace rnnc::runtime::cpu
