// One flat loop over independent items, on the plan's threads.
#pragma once

#include "cpu/arena.hpp"
#include "cpu/float_env.hpp"

#include <cstdint>
#include <oneapi/tbb/task_arena.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RNN_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace rnnc::runtime::cpu {

/// oneTBB's, whose headers only the CPU's part includes.
struct Arena : tbb::task_arena {
  using task_arena::task_arena;
};

/// Calls run(context, begin, end, slot) for pieces of 0..items-1 on the arena's threads.
void runOnThreads(Arena& arena, int64_t items,
                  void (*run)(void* context, int64_t begin, int64_t end, int slot), void* context);

// ThreadSanitizer does not see how oneTBB synchronises (threads.cpp), so this says that pieces
// start after the loop began and end before it returns. What they do to each other stays visible.
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

template <class Body>
struct Loop {
  const Body& body;
  ForkJoin edges;

  static void run(void* context, int64_t begin, int64_t end, int slot) {
    auto* loop = static_cast<Loop*>(context);
    loop->edges.enter();
    {
      const IeeeScope scope;
      items(*loop, begin, end, slot);
    }
    loop->edges.leave();
  }

  // Not inlined: see IeeeScope.
  [[gnu::noinline]] static void items(const Loop& loop, int64_t begin, int64_t end, int slot) {
    for (int64_t i = begin; i != end; ++i) {
      loop.body(i, slot);
    }
  }
};

/// Calls body(item, slot) for every item in 0..items-1. `slot` is below the arena's concurrency,
/// and no two calls that run at the same time have the same one. Bodies do not wait for each other,
/// so a thread never begins an item inside another.
template <class Body>
void parallelFor(Arena& arena, int64_t items, const Body& body) {
  Loop<Body> loop{body, {}};
  if (items <= 1 || arena.max_concurrency() == 1) {
    Loop<Body>::run(&loop, 0, items, 0);
    return;
  }
  loop.edges.fork();
  runOnThreads(arena, items, Loop<Body>::run, &loop);
  loop.edges.join();
}

} // namespace rnnc::runtime::cpu
