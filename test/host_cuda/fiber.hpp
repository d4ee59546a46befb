// A stack of its own, switched to and from without a system call, and known to the sanitizers.
#pragma once

#include <cstddef>

namespace host_cuda::detail {

class fiber {
public:
  // Runs body(context) each time it is started. Stack pages are used as they are touched; below
  // them lies a page that no access survives. ThreadSanitizer calls it `name`.
  fiber(void (*body)(void*), void* context, const char* name);
  ~fiber();
  fiber(const fiber&) = delete;

  // From outside: goes on with the fiber until it suspends or its body returns. A fiber whose body
  // returned starts it again.
  void resume();
  // From inside: back to the resume().
  void suspend();
  // In the page that no access survives.
  bool is_stack_end(const void* address) const { return address >= mapping_ && address < stack_; }
  // ThreadSanitizer's name for the fiber; null without it.
  void* sanitizer_fiber() const { return sanitizer_; }

private:
  [[noreturn]] static void entry(fiber* self);
  void arrive();

  void (*body_)(void*);
  void* context_;
  unsigned char* mapping_;
  unsigned char* stack_; // lowest usable byte
  void* top_ = nullptr;  // where the stack pointer stands while suspended
  void* sanitizer_ = nullptr;
  [[maybe_unused]] void* fake_stack_ = nullptr;
};

// Says that the calling OS thread is the one that resumes fibers from here on.
void set_outside();

// Orders everything that any of `fibers` did before this point before everything that any of them
// does after it, for ThreadSanitizer. Null stands for the OS thread that runs the fibers. `sync` is
// an address that stands for the meeting; sets of fibers that share it have one fiber in common.
void join(void* const* fibers, std::size_t count, void* sync);

} // namespace host_cuda::detail
