// The kernels of math_test.cpp as text, for NVRTC.
#pragma once

#include "device/text.hpp"

namespace rnnc {

/// math_sweep.cuh.
std::span<const EmbeddedText> mathText();

} // namespace rnnc
