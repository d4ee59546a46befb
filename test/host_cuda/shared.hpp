// Static and dynamic shared memory of the block that runs.
#pragma once

#include "state.hpp"

namespace host_cuda::detail {

// Every __shared__ variable of the program, filled with the NaN pattern.
void fill_static_shared();

void make_dynamic_shared(launch_state& state, std::size_t bytes);
void free_dynamic_shared(launch_state& state);
// Fails the launch where a block wrote past either end. Outside of all fibers.
void check_dynamic_shared(launch_state& state);

} // namespace host_cuda::detail
