// Do two strided arrays share memory?
#pragma once

#include "rnn/rnn.h"

#include <cstdint>

namespace rnnc::runtime {

/// The memory of one tensor: its elements lie at `base` + sum of index * stride, in bytes; axes of
/// size 1 are left out.
struct Footprint {
  uint32_t rank = 0;
  int64_t size[RNN_MAX_RANK + 2];
  int64_t stride[RNN_MAX_RANK + 2];
  int64_t elementSize = 0;
  intptr_t base = 0; ///< of the element with all indices 0
  intptr_t low = 0;  ///< first byte
  intptr_t high = 0; ///< one past the last byte; equal to `low` where there is no element

  bool empty() const { return low == high; }
};

/// Fails (false) where the extent does not fit in the address space.
bool makeFootprint(const rnn_tensor& tensor, int64_t elementSize, Footprint& out);

/// No two elements of the tensor share memory: by size of their strides, each axis steps over
/// everything that the smaller ones span.
bool elementsAreApart(const Footprint& footprint);

/// True only where it is certain: the byte ranges do not meet, or the two interleave with a common
/// period (the halves of every row, the channels of one recording).
bool areApart(const Footprint& a, const Footprint& b);

} // namespace rnnc::runtime
