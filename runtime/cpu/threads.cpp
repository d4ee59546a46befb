// All of oneTBB's templates that we use, in a file of their own: under ThreadSanitizer it is built
// without instrumentation. oneTBB synchronises with fences inside a library that the sanitizer does
// not see into, and is reported even for a six-line parallel_for.
#include "cpu/threads.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>

namespace rnnc::runtime::cpu {

int usualThreads() { return tbb::info::default_concurrency(); }

std::shared_ptr<Arena> makeArena(int threads) {
  auto arena = std::make_shared<Arena>(threads);
  arena->initialize();
  return arena;
}

void runOnThreads(Arena& arena, int64_t items,
                  void (*run)(void* context, int64_t begin, int64_t end, int slot), void* context) {
  arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, items), [=](const tbb::blocked_range<int64_t>& range) {
          run(context, range.begin(), range.end(), tbb::this_task_arena::current_thread_index());
        });
  });
}

} // namespace rnnc::runtime::cpu
