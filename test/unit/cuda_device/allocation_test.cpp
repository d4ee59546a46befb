// rnn_forward on CUDA takes no memory of the host's either; what the driver takes is its own
// affair.
#include "mock.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local int64_t allocations = 0;
mock_cuda::Driver* driver = nullptr;
} // namespace

void* operator new(size_t size) {
  allocations += driver && !driver->isInside();
  if (void* memory = std::malloc(size ? size : 1)) {
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace rnnc::test {
namespace {

TEST(Allocation, ForwardMakesNoneOnCuda) {
  EmaModule module;
  EmaCall call(module, 2, 40, 5);
  void* stream = mock().makeStream(0);
  driver = &mock();
  allocations = 0;
  const rnn_status status = call.forward(stream);
  const int64_t made = allocations;
  ::operator delete(::operator new(1)); // the counter works
  const int64_t more = allocations;
  driver = nullptr;
  EXPECT_EQ(status, RNN_OK) << module.error();
  EXPECT_EQ(made, 0);
  EXPECT_EQ(more, 1);
  mock().wait(stream);
}

} // namespace
} // namespace rnnc::test
