//===- Table.h - a struct of device functions as a table of maps -----------------------------===//
//
// Included by the files that compile the functions, after them.
//
//===-----------------------------------------------------------------------------------------===//
#pragma once

#include "Maps.h"

namespace {

template <typename T, T (*f)(T)>
void unary(const T* a, const T*, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = f(a[i]);
}

template <typename T, T (*f)(T, T)>
void binary(const T* a, const T* b, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = f(a[i], b[i]);
}

#define RNN_MAP(kind, name)                                                                        \
  {#name, kind<float, math<float>::name>, kind<double, math<double>::name>}

template <template <class> class math>
std::span<const device_math::Maps> tableOf() {
  static const device_math::Maps table[] = {
      RNN_MAP(unary, exp),      RNN_MAP(unary, expm1), RNN_MAP(unary, log),
      RNN_MAP(unary, log1p),    RNN_MAP(unary, tanh),  RNN_MAP(unary, sigmoid),
      RNN_MAP(unary, softplus), RNN_MAP(unary, sin),   RNN_MAP(unary, cos),
      RNN_MAP(unary, tan),      RNN_MAP(unary, asin),  RNN_MAP(unary, acos),
      RNN_MAP(unary, atan),     RNN_MAP(unary, sinh),  RNN_MAP(unary, cosh),
      RNN_MAP(unary, erf),      RNN_MAP(unary, rsqrt), RNN_MAP(unary, sign),
      RNN_MAP(unary, sqrt),     RNN_MAP(unary, abs),   RNN_MAP(unary, floor),
      RNN_MAP(binary, atan2),   RNN_MAP(binary, pow),  RNN_MAP(binary, copysign)};
  return table;
}

#undef RNN_MAP

} // namespace
