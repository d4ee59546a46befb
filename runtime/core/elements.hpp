// The types that arrays are stored in.
#pragma once

#include "rnn/rnn.h"

#include <cstdint>

namespace rnnc::runtime {

/// Bytes; of a type that there is.
constexpr int64_t elementSize(rnn_dtype dtype) {
  switch (dtype) {
  case RNN_F64:
    return 8;
  case RNN_BF16:
  case RNN_F16:
    return 2;
  case RNN_U8:
    return 1;
  case RNN_F32:
    break;
  }
  return 4;
}

} // namespace rnnc::runtime
