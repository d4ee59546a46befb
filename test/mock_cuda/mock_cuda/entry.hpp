// How the mock driver calls kernels that were compiled for the host.
#pragma once

#include "mock_cuda/driver.hpp"

#include "host_cuda/launch.hpp"

#include <cstring>

namespace mock_cuda {

template <class Args>
Kernel kernelOf(std::string name, unsigned lanes, unsigned chunks, void (*entry)(Args)) {
  return {std::move(name), lanes, chunks, sizeof(Args),
          [=](unsigned grid, unsigned shared, const void* argument) {
            Args args;
            std::memcpy(static_cast<void*>(&args), argument, sizeof(args));
            return host_cuda::launch({}, grid, dim3(lanes, chunks), shared, entry, args).error;
          }};
}

} // namespace mock_cuda

#define MOCK_ENTRY(name)                                                                           \
  extern "C" void mock_entry_##name(unsigned lanes, unsigned chunks, mock_cuda::Kernel* out) {     \
    *out = mock_cuda::kernelOf(#name, lanes, chunks, name);                                        \
  }
