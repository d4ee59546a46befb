// A launch: checks the configuration, prepares memory, runs block after block.
#include "sanitizers.hpp"
#include "shared.hpp"
#include "signals.hpp"
#include "state.hpp"
#include "tracking.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace host_cuda {

namespace detail {

launch_state* active = nullptr;

namespace {

// Fibers of earlier launches, by the thread's linear index. Never freed: a launch may be the
// process's last act.
std::vector<std::unique_ptr<thread>>& pool() {
  static auto& threads = *new std::vector<std::unique_ptr<thread>>;
  return threads;
}

// What the kernel's fiber does; nothing is thrown out of it.
void call_kernel(thread& who, const invocation& kernel) {
  try {
    const bool returned = call_guarded(who, kernel);
    const quiet scope;
    who.gave_up = !returned;
    if (returned) {
      check_copies_awaited(who);
    }
  } catch (const giving_up&) {
    const quiet scope;
    who.gave_up = true;
  } catch (const std::exception& error) {
    const quiet scope;
    who.gave_up = true;
    active->failed = std::make_unique<failure>(
        failure{.text = std::string("an exception: ") + error.what(), .about = &who});
  }
}

void run_kernel(void* context) {
  thread& who = *static_cast<thread*>(context);
  begin_quiet();
  const invocation kernel = active->kernel;
  who.frames.clear();
  who.gave_up = false;
  who.removed_visits = 0;
  who.inside = true;
  end_quiet();
  call_kernel(who, kernel);
  const quiet scope;
  who.inside = false;
  if (!who.gave_up) {
    who.state = thread_state::finished;
    ++active->finished;
  }
}

thread* next_ready(launch_state& state) {
  auto& ready = state.ready;
  if (state.ready_begin == ready.size()) {
    ready.clear();
    state.ready_begin = 0;
    return nullptr;
  }
  if (state.how.seed) {
    const std::size_t left = ready.size() - state.ready_begin;
    std::swap(ready[state.ready_begin], ready[state.ready_begin + state.random() % left]);
  }
  return ready[state.ready_begin++];
}

void resume(launch_state& state, thread& who) {
  state.current = &who;
  threadIdx = who.index;
  who.context.resume();
  state.current = nullptr;
}

std::string check_configuration(dim3 grid, dim3 block, std::size_t dynamic, const options& how) {
  const auto text = [](dim3 d) { return format("(%u, %u, %u)", d.x, d.y, d.z); };
  if (!block.x || !block.y || !block.z || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      static_cast<std::uint64_t>(block.x) * block.y * block.z > 1024) {
    return "a block of " + text(block) +
           " threads: 1 to 1024 are possible, at most 1024 x 1024 x 64";
  }
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) {
    return "a grid of " + text(grid) +
           " blocks: at least 1, at most 2147483647 x 65535 x 65535 are possible";
  }
  if (dynamic > how.shared_limit) {
    return format("%zu bytes of dynamic shared memory: at most %zu are allowed", dynamic,
                  how.shared_limit);
  }
  return {};
}

void prepare_threads(launch_state& state, dim3 block) {
  const int count = static_cast<int>(block.x * block.y * block.z);
  auto& threads = pool();
  while (static_cast<int>(threads.size()) < count) {
    threads.push_back(std::make_unique<thread>(static_cast<int>(threads.size())));
  }
  for (int i = 0; i < count; ++i) {
    const auto n = static_cast<unsigned>(i);
    threads[i]->index = {n % block.x, n / block.x % block.y, n / block.x / block.y};
    state.threads.push_back(threads[i].get());
  }
}

// Makes every thread that a failed launch left inside the kernel leave it.
void unwind_threads(launch_state& state) {
  for (thread* who : state.threads) {
    if (who->inside) {
      who->wanted = wish::give_up;
      resume(state, *who);
      who->wanted = wish::go_on;
    }
    who->state = thread_state::finished;
    who->open.clear();
    who->groups.clear();
  }
}

void run_block(launch_state& state) {
  static char start_and_end; // where the block's threads and the launch meet
  fill_static_shared();
  fill_nan(state.dynamic, state.dynamic_bytes);
  state.finished = state.at_barrier = 0;
  state.meetings = 0;
  for (auto& warp : state.warp_groups) {
    warp.clear();
  }
  for (thread* who : state.threads) {
    who->state = thread_state::waiting;
    make_ready(*who);
  }
  order(state.threads, true, &start_and_end);
  while (thread* who = next_ready(state)) {
    resume(state, *who);
    if (state.failed) {
      break;
    }
  }
  order(state.threads, true, &start_and_end);
  if (state.failed) {
    return;
  }
  if (state.finished != static_cast<int>(state.threads.size())) {
    state.failed = std::make_unique<failure>(
        failure{.text = "deadlock: nobody can go on", .whole_block = true});
  }
}

void run_grid(launch_state& state, dim3 grid) {
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = state.block_index = {x, y, z};
        run_block(state);
        if (!state.failed) {
          check_dynamic_shared(state);
        }
        if (state.failed) {
          state.report.error = describe(state, *state.failed);
          return;
        }
        ++state.report.blocks;
      }
    }
  }
}

} // namespace

thread::thread(int linear)
    : context(run_kernel, this, ("CUDA thread " + std::to_string(linear)).c_str()), linear(linear),
      warp(linear / warp_size), lane(linear % warp_size) {}

thread& this_thread(const char* function) {
  if (!active || !active->current) {
    throw std::logic_error(std::string(function) + " outside of a kernel");
  }
  return *active->current;
}

void make_ready(thread& who) {
  who.state = thread_state::ready;
  active->ready.push_back(&who);
}

void sleep(thread& who) {
  who.context.suspend();
  while (who.wanted != wish::go_on) {
    if (who.wanted == wish::give_up) {
      throw giving_up();
    }
    capture_stack(who);
    who.wanted = wish::go_on;
    who.context.suspend();
  }
}

void fail(failure why) {
  capture_stack(*active->current);
  active->failed = std::make_unique<failure>(std::move(why));
  throw giving_up();
}

void fail(thread& about, std::string text) {
  fail(failure{.text = std::move(text), .about = &about});
}

void resume_to_capture(launch_state& state, thread& who) {
  who.wanted = wish::backtrace;
  resume(state, who);
}

void order(const std::vector<thread*>& threads, bool with_outside, void* sync) {
#ifdef HOST_CUDA_TSAN
  std::vector<void*> fibers;
  for (const thread* who : threads) {
    fibers.push_back(who->context.sanitizer_fiber());
  }
  if (with_outside) {
    fibers.push_back(nullptr);
  }
  join(fibers.data(), fibers.size(), sync);
#endif
}

void fill_nan(void* memory, std::size_t bytes) {
  std::array<std::uint16_t, 2048> pattern;
  pattern.fill(nan_pattern);
  auto* to = static_cast<unsigned char*>(memory);
  for (std::size_t done = 0; done < bytes; done += sizeof pattern) {
    std::memcpy(to + done, pattern.data(), std::min(bytes - done, sizeof pattern));
  }
}

// Everything between the preparation of the buffers and their release.
void run_prepared(launch_state& state, dim3 grid, dim3 block, std::size_t dynamic_shared) {
  const quiet scope;
  set_outside();
  active = &state;
  blockDim = block;
  gridDim = grid;
  try {
    prepare_threads(state, block);
    make_dynamic_shared(state, dynamic_shared);
    const signal_guard guard;
    run_grid(state, grid);
    unwind_threads(state);
  } catch (const std::bad_alloc&) {
    state.report.error =
        format("not enough memory for the fibers of %zu threads and %zu bytes of "
               "shared memory",
               static_cast<std::size_t>(block.x) * block.y * block.z, dynamic_shared);
  }
  free_dynamic_shared(state);
  active = nullptr;
}

result run(const options& how, dim3 grid, dim3 block, std::size_t dynamic_shared,
           invocation kernel) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  launch_state state{.how = how, .kernel = kernel};
  state.random.seed(how.seed);
  state.report.error = check_configuration(grid, block, dynamic_shared, how);
  if (state.report.ok()) {
    state.report.error = track_buffers(state);
  }
  if (!state.report.ok()) {
    return std::move(state.report);
  }
  run_prepared(state, grid, block, dynamic_shared);
  untrack_buffers(state);
  if (state.report.ok() && !how.fault.removed.empty() && state.removed_site == SIZE_MAX) {
    state.report.error = "the fault to make at " + how.fault.removed + ": nobody came there";
  }
  return std::move(state.report);
}

} // namespace detail

unsigned char* dynamic_shared() {
  detail::this_thread("dynamic_shared()");
  return detail::active->dynamic;
}

} // namespace host_cuda

void __trap() {
  host_cuda::detail::thread& who = host_cuda::detail::this_thread("__trap()");
  const host_cuda::detail::quiet scope;
  host_cuda::detail::fail(who, "__trap()");
}
