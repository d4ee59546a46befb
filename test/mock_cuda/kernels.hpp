// Printed units as kernels that the mock driver runs.
#pragma once

#include "mock_cuda/entry.hpp"

#include "rnn/dense.cuh"
#include "rnn/forward.cuh"
#include "rnn/math.cuh"

inline std::vector<mock_cuda::Kernel>& brought() {
  static std::vector<mock_cuda::Kernel> kernels;
  return kernels;
}

template <class Args>
bool bring(const char* name, unsigned lanes, unsigned chunks, void (*entry)(Args)) {
  brought().push_back(mock_cuda::kernelOf(name, lanes, chunks, entry));
  return true;
}

#define MOCK_KERNEL(unit, system)                                                                  \
  static const bool unit##_##system##_brought =                                                    \
      bring(#system "_forward", unit::system##_policy::lanes, unit::system##_policy::chunks,       \
            unit::unit##_##system##_forward);
// A dense system's kernel has no policy: 128 threads, a lane each.
#define MOCK_DENSE_KERNEL(unit, system)                                                            \
  static const bool unit##_##system##_brought =                                                    \
      bring(#system "_forward", 128, 1, unit::unit##_##system##_forward);
