// CUDA C++ as ordinary C++20: included by force before a text of kernels that runs on the host.
//
// A kernel is compiled by clang++ and run by host_cuda::launch, one block after another, a fiber a
// thread. See launch.hpp for what a launch checks and counts, memory.hpp for what device code calls
// in place of PTX. Differences from nvcc: `extern __shared__` does not compile (dynamic shared
// memory comes from host_cuda::dynamic_shared), `__noinline__` is not a keyword (libstdc++ uses the
// word), `__CUDA_ARCH__` is not defined, and a thread may not return while others wait for it. A
// failed launch leaves its kernel by an exception, so no function of a kernel is noexcept.
#pragma once

#define RNN_HOST_CUDA 1

#include "host_cuda/language.hpp"

#include "host_cuda/atomics.hpp"
#include "host_cuda/intrinsics.hpp"
#include "host_cuda/launch.hpp"
#include "host_cuda/memory.hpp"
#include "host_cuda/warp.hpp"
