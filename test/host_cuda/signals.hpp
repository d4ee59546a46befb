// Accesses that the processor refuses, as errors of a launch. The sanitizers report them
// themselves.
#pragma once

#include "state.hpp"

namespace host_cuda::detail {

// While one lives, a kernel's SIGSEGV, SIGBUS or SIGFPE fails the launch and not the process. Other
// threads' signals, and those outside of kernels, go where they went before.
class signal_guard {
public:
  signal_guard();
  ~signal_guard();
  signal_guard(const signal_guard&) = delete;
};

// Calls the kernel; false where a signal ended it. Then its frames were left without their
// destructors being called.
bool call_guarded(thread& who, const invocation& kernel);

} // namespace host_cuda::detail
