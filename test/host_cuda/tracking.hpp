// Registered buffers: found by address, checked, counted, guarded, restored.
#pragma once

#include "state.hpp"

namespace host_cuda::detail {

// Takes over options.buffers and prepares the memory. The error, or empty.
std::string track_buffers(launch_state& state);
// Lifts the guard, restores inputs and reports those that changed.
void untrack_buffers(launch_state& state);

// Fails where the thread has asynchronous copies that it never waited for; forgets empty groups.
void check_copies_awaited(thread& who);

} // namespace host_cuda::detail
