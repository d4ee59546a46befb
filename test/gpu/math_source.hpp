// A text of CUDA C++ with a kernel for every elementary function: its error over ranges of
// arguments.
#pragma once

#include <string>
#include <vector>

namespace gpu {

struct MathKernel {
  std::string name;
  double bound; ///< of what the kernel finds
  std::string text;
};

/// Behind math_sweep.cuh.
inline std::vector<MathKernel> mathKernels() {
  std::vector<MathKernel> all;
  const auto add = [&](const std::string& name, double bound, const std::string& body) {
    all.push_back({name, bound,
                   "extern \"C\" __global__ void " + name +
                       "(const __grid_constant__ sweep::args of) {\n  " + body + ";\n}\n"});
  };
#define RNN_ULP(name, arguments, f32, f64)                                                         \
  add("polynomial_" #name, f32, "RNN_SWEEP_ULP(" #name ", " #arguments ")");
#define RNN_ALLOWED(name, flushes, allowed)                                                        \
  add("special_" #name, 1, "RNN_SWEEP_ALLOWED(" #name ", " #flushes ", " #allowed ")");
#include "math_bounds.inc"
#undef RNN_ULP
#undef RNN_ALLOWED
  return all;
}

/// Of math_sweep.cuh's text.
inline std::string mathSource(std::string sweep) {
  for (const MathKernel& kernel : mathKernels()) {
    sweep += kernel.text;
  }
  return sweep;
}

} // namespace gpu
