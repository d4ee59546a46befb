// The threads of a plan on the CPU.
#pragma once

#include <memory>

namespace rnnc::runtime::cpu {

struct Arena; // threads.hpp

/// One for each core that this process may use.
int usualThreads();
std::shared_ptr<Arena> makeArena(int threads);

} // namespace rnnc::runtime::cpu
