// Static and dynamic shared memory of the block that runs.
#include "shared.hpp"

#include "host_cuda/atomics.hpp"
#include "sanitizers.hpp"

#include <cstdlib>
#include <cstring>

// The linker's names for the ends of the section that __shared__ variables lie in; null where a
// program has none.
extern "C" {
__attribute__((weak, visibility("hidden"))) extern unsigned char __start_rnn_shared[];
__attribute__((weak, visibility("hidden"))) extern unsigned char __stop_rnn_shared[];
}

namespace host_cuda::detail {

namespace {

#ifdef HOST_CUDA_ASAN
constexpr std::size_t margin = 0; // malloc's red zones, exact to the byte
#else
constexpr std::size_t margin = 1024;
#endif
constexpr unsigned char margin_byte = 0xa5;
unsigned char* allocation = nullptr;

} // namespace

void fill_static_shared() {
  fill_nan(__start_rnn_shared, static_cast<std::size_t>(__stop_rnn_shared - __start_rnn_shared));
}

void make_dynamic_shared(launch_state& state, std::size_t bytes) {
  // 16 bytes beyond a multiple of 32: code that counts on more alignment than CUDA gives fails.
  const std::size_t shift = margin ? 16 : 0;
  void* memory = nullptr;
  if (margin) {
    memory = std::aligned_alloc(4096, (bytes + 2 * margin + shift + 4095) / 4096 * 4096);
  } else {
    memory = std::malloc(bytes);
  }
  if (!memory) {
    throw std::bad_alloc();
  }
  allocation = static_cast<unsigned char*>(memory);
  state.dynamic = allocation + margin + shift;
  state.dynamic_bytes = bytes;
  std::memset(allocation, margin_byte, margin ? margin + shift : 0);
  std::memset(state.dynamic + bytes, margin_byte, margin);
}

void free_dynamic_shared(launch_state& state) {
  std::free(allocation);
  allocation = state.dynamic = nullptr;
}

void check_dynamic_shared(launch_state& state) {
  const auto complain = [&](const char* where, std::size_t distance) {
    state.failed = std::make_unique<failure>(
        failure{.text = format("a store %zu bytes %s of the %zu bytes of dynamic shared memory",
                               distance, where, state.dynamic_bytes)});
  };
  for (std::size_t i = 0; i < margin && !state.failed; ++i) {
    if (state.dynamic[state.dynamic_bytes + i] != margin_byte) {
      complain("past the end", i);
    } else if (*(state.dynamic - 1 - i) != margin_byte) {
      complain("before the start", i + 1);
    }
  }
}

bool is_shared(const void* address) {
  const auto* byte = static_cast<const unsigned char*>(address);
  return (byte >= __start_rnn_shared && byte < __stop_rnn_shared) ||
         (active && byte >= active->dynamic && byte < active->dynamic + active->dynamic_bytes);
}

} // namespace host_cuda::detail
