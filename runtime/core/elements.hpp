// The types that arrays are stored in, and which arrays a call writes.
#pragma once

#include "core/halves.hpp"
#include "rnn/rnn.h"

#include <cstdint>

namespace rnnc::runtime {

/// Calls use.operator()<T>() with the type of an array's numbers. (Masks have none.)
template <class Use>
constexpr decltype(auto) withNumber(rnn_dtype dtype, const Use& use) {
  switch (dtype) {
  case RNN_F64:
    return use.template operator()<double>();
  case RNN_BF16:
    return use.template operator()<BFloat16>();
  case RNN_F16:
    return use.template operator()<Float16>();
  default:
    return use.template operator()<float>();
  }
}

/// A call writes it.
constexpr bool isResult(rnn_arg_kind kind) {
  return kind == RNN_ARG_SEQUENCE || kind == RNN_ARG_FINAL;
}

/// Bytes.
constexpr int64_t elementSize(rnn_dtype dtype) {
  return dtype == RNN_U8 ? 1 : withNumber(dtype, []<class T>() { return int64_t(sizeof(T)); });
}

/// The compute type F as it is stored.
template <class F>
constexpr rnn_dtype dtypeOf = sizeof(F) == 4 ? RNN_F32 : RNN_F64;

/// Of numbers, converted.
template <class F>
F loadElement(const char* element, rnn_dtype dtype) {
  return withNumber(
      dtype, [&]<class T>() { return static_cast<F>(*reinterpret_cast<const T*>(element)); });
}

template <class F>
void storeElement(char* element, rnn_dtype dtype, F value) {
  withNumber(dtype, [&]<class T>() { *reinterpret_cast<T*>(element) = static_cast<T>(value); });
}

} // namespace rnnc::runtime
