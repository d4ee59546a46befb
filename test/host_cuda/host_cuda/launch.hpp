// Runs a kernel on the host and says what it did.
//
// A launch runs its blocks in order on the calling OS thread, each CUDA thread as a fiber that runs
// until a barrier, a warp operation or its end. It ends at the first error, whose text names the
// block, the thread and where each thread stands:
//   - threads wait at a barrier or warp operation that others never reach, or that they left by
//     returning; threads of a block meet at different __syncthreads(), lanes at different shuffles;
//   - a warp operation's mask lacks the caller or names a lane that is not there; a shuffle reads
//     a lane that is not in the mask;
//   - an access outside the registered buffers (if there are any), a store into an input, a load of
//     an output not written before, misalignment;
//   - a block meets more often than options.meeting_limit allows;
//   - dynamic shared memory written past its ends; asynchronous copies never waited for; __trap();
//   - an access that the processor refuses, a division by zero (the sanitizers report these
//   instead).
// Before each block shared memory is filled with a NaN pattern, and so are outputs before a launch,
// so that what nobody wrote shows. Under AddressSanitizer dynamic shared memory has red zones;
// under ThreadSanitizer a barrier orders the accesses of exactly those threads that it joins, so a
// missing one is reported as a race, in any order of fibers.
#pragma once

#include "language.hpp"

#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace host_cuda {

enum class access { input, output, inout };

// Global memory that a kernel may touch. Not owned; must outlive the launch.
struct buffer {
  std::string name;
  void* data = nullptr;
  std::size_t bytes = 0;
  access kind = access::inout;
};

// Inputs may not be stored into and are compared (and restored) after the launch; outputs are
// filled with the NaN pattern before it. Anything contiguous: a vector, an array, a span.
template <class Range>
buffer input(std::string name, const Range& range) {
  const std::span view(range);
  return {std::move(name), const_cast<void*>(static_cast<const void*>(view.data())),
          view.size_bytes(), access::input};
}
template <class Range>
buffer output(std::string name, Range&& range) {
  const std::span view(range);
  return {std::move(name), view.data(), view.size_bytes(), access::output};
}
template <class Range>
buffer inout(std::string name, Range&& range) {
  const std::span view(range);
  return {std::move(name), view.data(), view.size_bytes(), access::inout};
}

// A barrier or warp operation in the text of a kernel, as a launch met it.
struct call_site {
  std::string operation;   // "__syncthreads()"
  std::string place;       // "file:line:column"
  std::uint64_t times = 0; // how often a block or warp met there
  // What a block's barrier that counts gave, for each block in order.
  std::vector<std::vector<int>> answers{};
};

// Makes a right kernel wrong, to see that its tests notice.
struct faults {
  // The barrier or warp operation at this place (call_site::place) no longer orders accesses, which
  // ThreadSanitizer notices. A block's barrier or a __syncwarp is not there at all: nobody waits,
  // and one that counts gives what it gave in the right run, from which `answers` are. Without
  // answers it waits to count.
  std::string removed{};
  std::vector<std::vector<int>> answers{};
  int late_groups = 0;        // every wait() leaves so many more groups of copies under way
  unsigned flipped_lanes = 0; // lanes added to, or taken from, the mask of every warp operation
};

// The fault that a call site of a right run is missing.
inline faults removing(const call_site& site) {
  return {.removed = site.place, .answers = site.answers};
}

struct options {
  std::vector<buffer> buffers{}; // none: global accesses are counted, not checked
  // 0: fibers run in the order of their threads. Else they run in a random order from this seed,
  // so that a result that depends on the order shows.
  std::uint64_t seed = 0;
  // Under AddressSanitizer: registered buffers are poisoned, so that an access that goes past
  // host_cuda::load and store is reported. Elsewhere without effect.
  bool guard = false;
  faults fault{};
  // Barriers and warp operations of one block after which the launch ends: an endless loop.
  std::uint64_t meeting_limit = 10'000'000;
  std::size_t shared_limit = 232448; // dynamic shared memory a block may ask for: sm_90's
};

// Calls and bytes; asynchronous copies count as loads, also before their data arrive.
struct access_counts {
  std::uint64_t loads = 0, load_bytes = 0, stores = 0, store_bytes = 0, atomics = 0;
};

struct buffer_counts : access_counts {
  std::string name;
  // Per byte, saturating at 65535. An atomic operation counts as a read and a write.
  std::vector<std::uint16_t> reads, writes;

  // True where every byte was read (written) this many times.
  bool each_read(unsigned times) const;
  bool each_written(unsigned times) const;
};

struct result {
  std::string error; // empty: all is well
  access_counts global;
  std::vector<buffer_counts> buffers; // in the order of options.buffers
  std::vector<call_site> call_sites;  // in the order in which they were first reached
  std::uint64_t blocks = 0, barriers = 0, warp_operations = 0;

  bool ok() const { return error.empty(); }
  const buffer_counts& operator[](std::string_view name) const; // throws std::out_of_range
};

namespace detail {
struct invocation {
  void (*call)(const void* arguments);
  const void* arguments;
};
result run(const options& how, dim3 grid, dim3 block, std::size_t dynamic_shared,
           invocation kernel);
} // namespace detail

// Runs `kernel<<<grid, block, dynamic_shared>>>(args...)`. One launch at a time in a process:
// others wait. Errors of the kernel and of the configuration are in the result; nothing is thrown.
template <class... Parameters, class... Arguments>
result launch(const options& how, dim3 grid, dim3 block, std::size_t dynamic_shared,
              void (*kernel)(Parameters...), Arguments&&... args) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  using values = std::tuple<std::remove_cv_t<Parameters>...>;
  const std::pair<void (*)(Parameters...), values> bound(kernel,
                                                         values(std::forward<Arguments>(args)...));
  const auto call = [](const void* erased) {
    const auto& [function, arguments] = *static_cast<decltype(&bound)>(erased);
    std::apply(function, arguments);
  };
  return detail::run(how, grid, block, dynamic_shared, {call, &bound});
}

template <class... Parameters, class... Arguments>
result launch(dim3 grid, dim3 block, std::size_t dynamic_shared, void (*kernel)(Parameters...),
              Arguments&&... args) {
  return launch(options(), grid, block, dynamic_shared, kernel, std::forward<Arguments>(args)...);
}

} // namespace host_cuda
