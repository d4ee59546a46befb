// One flat loop over independent items, on the plan's threads.
#pragma once

#include "cpu/float_env.hpp"

#include <cstdint>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RNN_TSAN 1
#endif
#endif
#ifdef RNN_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace rnnc::runtime::cpu {

// oneTBB is not built with ThreadSanitizer, which therefore does not see that a task starts after
// the loop began and ends before it returns. This says so; what items do to each other stays
// visible.
class ForkJoin {
public:
#ifdef RNN_TSAN
  void fork() { __tsan_release(&forked_); }
  void enter() { __tsan_acquire(&forked_); }
  void leave() { __tsan_release(&joined_); }
  void join() { __tsan_acquire(&joined_); }

private:
  char forked_ = 0, joined_ = 0;
#else
  void fork() {}
  void enter() {}
  void leave() {}
  void join() {}
#endif
};

/// Calls body(item, slot) for every item in 0..items-1. `slot` is below the arena's concurrency,
/// and no two calls that run at the same time have the same one. Bodies do not wait for each other,
/// so a thread never begins an item inside another.
template <class Body>
void parallelFor(tbb::task_arena& arena, int64_t items, const Body& body) {
  if (items <= 1 || arena.max_concurrency() == 1) {
    const IeeeScope scope;
    for (int64_t i = 0; i < items; ++i) {
      body(i, 0);
    }
    return;
  }
  ForkJoin edges;
  edges.fork();
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, items),
                      [&](const tbb::blocked_range<int64_t>& range) {
                        edges.enter();
                        const IeeeScope scope;
                        const int slot = tbb::this_task_arena::current_thread_index();
                        for (int64_t i = range.begin(); i != range.end(); ++i) {
                          body(i, slot);
                        }
                        edges.leave();
                      });
  });
  edges.join();
}

} // namespace rnnc::runtime::cpu
