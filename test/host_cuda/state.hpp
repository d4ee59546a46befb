// The launch that is running: its threads, who is ready, what each waits for, what was counted.
#pragma once

#include "fiber.hpp"
#include "host_cuda/launch.hpp"
#include "host_cuda/warp.hpp"

#include <array>
#include <csetjmp>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace host_cuda::detail {

constexpr int warp_size = 32;

// What uninitialised memory holds: a quiet NaN as f16, bf16, f32 and f64.
constexpr std::uint16_t nan_pattern = 0xfffd;
void fill_nan(void* memory, std::size_t bytes);

struct copy {
  unsigned char* to;
  const unsigned char* from;
  unsigned bytes, source_bytes;
};

enum class thread_state : unsigned char { ready, waiting, finished };
enum class wish : unsigned char { go_on, backtrace, give_up };

// A CUDA thread. Its fiber outlives the block and the launch.
struct thread {
  explicit thread(int linear);

  fiber context;
  int linear, warp, lane; // the place in the block, x fastest
  uint3 index{};
  thread_state state = thread_state::finished;
  bool inside = false;       // the kernel was entered and not left
  bool gave_up = false;      // and left by an exception
  wish wanted = wish::go_on; // what a suspended thread does when it is resumed

  // What it waits for, and with what.
  operation kind{};
  unsigned mask = 0;
  std::uint64_t value = 0;
  int source_lane = 0, width = 32;
  std::size_t site = 0; // which call site, see site_of
  // How often it came to the removed barrier in this block.
  std::size_t removed_visits = 0;
  // What it got.
  std::uint64_t answer = 0;
  int all = 0;

  std::deque<std::vector<copy>> groups; // committed, oldest first
  std::vector<copy> open;               // not committed
  sigjmp_buf recovery;                  // where a signal's handler goes on
  std::vector<void*> frames;            // return addresses, where wanted == backtrace was answered
};

struct tracked {
  buffer memory;
  std::vector<unsigned char> before; // an input's bytes at the launch
};

// Thrown through a kernel whose launch has failed.
struct giving_up {};

// Why a launch ends. What threads stand where is looked up from outside of all fibers.
struct failure {
  std::string text;
  const thread* about = nullptr; // whom the text names; null: the block
  std::vector<thread*> others{}; // whose stacks are shown beside that
  bool whole_block = false;      // every thread's place is shown
};

// Lanes of a warp that wait at a warp operation for the rest of its mask.
struct warp_group {
  std::size_t site;
  unsigned mask, arrived;
};

// A call site as the compiler gives it: several may have one text.
struct known_site {
  operation kind;
  const char* file;
  unsigned line, column;
  std::size_t index; // in result::call_sites
};

struct launch_state {
  const options& how;
  invocation kernel;
  result report{};
  std::vector<known_site> known_sites{};
  std::size_t removed_site = SIZE_MAX; // options.fault.removed
  std::vector<tracked> tracked_buffers{};
  std::vector<thread*> threads{}; // of the block
  std::vector<thread*> ready{};   // from ready_begin on, in order
  std::size_t ready_begin = 0;
  std::mt19937_64 random{};
  thread* current = nullptr;
  std::unique_ptr<failure> failed{};
  int finished = 0, at_barrier = 0;
  std::array<std::vector<warp_group>, 32> warp_groups{};
  std::vector<thread*> lanes{}; // of the warp operation that completes
  std::uint64_t meetings = 0;   // of this block
  uint3 block_index{};
  unsigned char* dynamic = nullptr;
  std::size_t dynamic_bytes = 0;
  std::size_t last_buffer = 0; // the buffer that was accessed last: mostly the next one too
};

// The launch that is running; null outside of one.
extern launch_state* active;

// The running thread. Throws std::logic_error, naming `function`, outside of a kernel.
thread& this_thread(const char* function);

void make_ready(thread& who);
// Suspends the running thread until somebody makes it ready. Throws giving_up.
void sleep(thread& who);
// Ends the launch with an error: throws giving_up. Called by the running thread.
[[noreturn]] void fail(failure why);
[[noreturn]] void fail(thread& about, std::string text);

// Orders the accesses of these threads for ThreadSanitizer, see fiber.hpp's join.
void order(const std::vector<thread*>& threads, bool with_outside, void* sync);

// The index of a call site in the result, where it is entered at its first time.
std::size_t site_of(launch_state& state, operation kind, const place& where);
const char* name_of(operation kind);
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
// The operation, its mask and its place.
std::string describe_call(const thread& who);

// Keeps the return addresses of the running thread in its `frames`.
void capture_stack(thread& who);
// The launch's error text. Outside of all fibers.
std::string describe(launch_state& state, const failure& why);
// Makes a suspended thread capture its stack.
void resume_to_capture(launch_state& state, thread& who);

} // namespace host_cuda::detail
