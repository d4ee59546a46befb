//===- Maps.h - the GPU's elementary functions, compiled for the host ------------------------===//
#pragma once

#include "Sweep.h"

#include <cstdint>
#include <span>

namespace device_math {

using elementary::Map;

/// The same text on a GPU goes through every argument (tools/gpu), and so does RNN_SOAK here.
constexpr int64_t kUsually = 1024;

struct Maps {
  const char* name;
  Map<float> f32;
  Map<double> f64;
};

/// rnn::polynomial with approximate instructions that are exact, but for a rounding: as in host
/// execution.
std::span<const Maps> polynomial();

/// The same with approximate instructions that are off by up to what NVIDIA states.
std::span<const Maps> disturbedPolynomial();

/// rnn::special<float>, with those too. f64 is rnn::special<double>.
std::span<const Maps> disturbedSpecial();

/// Aborts the test where there is none of that name.
const Maps& mapsOf(std::span<const Maps> list, std::string_view name);

template <typename T>
Map<T> mapOf(const Maps& maps) {
  if constexpr (sizeof(T) == 4)
    return maps.f32;
  else
    return maps.f64;
}

} // namespace device_math
