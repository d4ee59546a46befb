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

} // namespace rnnc::runtime::cpu
