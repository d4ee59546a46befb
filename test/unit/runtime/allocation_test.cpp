// rnn_forward lives off the workspace it is given.
#include "harness.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace {
thread_local int64_t allocations = 0;
} // namespace

void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace rnnc::test {
namespace {

TEST(Allocation, ForwardMakesNone) {
  for (rnn_schedule schedule : {RNN_SCHEDULE_SEQUENTIAL, RNN_SCHEDULE_PARALLEL}) {
    for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
      for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
        Problem<float>::Options options;
        options.width = 21;
        options.time = 500;
        Problem<float> problem(cellNamed("paralstm"), options);
        rnn_plan_options o = planOptions();
        o.schedule = schedule;
        if (schedule == RNN_SCHEDULE_PARALLEL) {
          o.vector = vector;
          o.tiles = tiles;
        }
        o.threads = 1;
        const int64_t made = problem.forwardAllocations(o, [] { return allocations; });
        EXPECT_EQ(made, 0) << schedule << vector << tiles;
      }
    }
  }
}

} // namespace
} // namespace rnnc::test
