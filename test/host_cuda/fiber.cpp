// The switch, for x86-64's System V convention, and the sanitizers' annotations around it.
#include "fiber.hpp"

#include "sanitizers.hpp"

#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#ifndef __x86_64__
#error "host_cuda switches fibers on x86-64 only; write host_cuda_switch for this processor"
#endif

// void host_cuda_switch(void** from, void* to): saves the registers that a call must preserve, puts
// the stack pointer into *from and goes on at `to`. The floating-point control words stay as they
// are: what the launching thread set, such as flushing to zero, holds in all fibers.
asm(R"(
.text
.type host_cuda_switch, @function
host_cuda_switch:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  pushq %rbx
  .cfi_adjust_cfa_offset 8
  pushq %r12
  .cfi_adjust_cfa_offset 8
  pushq %r13
  .cfi_adjust_cfa_offset 8
  pushq %r14
  .cfi_adjust_cfa_offset 8
  pushq %r15
  .cfi_adjust_cfa_offset 8
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size host_cuda_switch, .-host_cuda_switch

# A new fiber returns to here: rbx is entry's argument, rbp entry. Unwinding ends here.
.type host_cuda_first, @function
host_cuda_first:
  .cfi_startproc
  .cfi_undefined rip
  movq %rbx, %rdi
  movq %rbp, %rax
  xorl %ebp, %ebp
  callq *%rax
  ud2
  .cfi_endproc
.size host_cuda_first, .-host_cuda_first
)");

extern "C" void host_cuda_switch(void** from, void* to);
extern "C" void host_cuda_first();

namespace host_cuda::detail {

namespace {

// The sanitizers' frames are several times as large.
#if defined(HOST_CUDA_ASAN) || defined(HOST_CUDA_TSAN)
constexpr std::size_t stack_bytes = 1 << 20;
#else
constexpr std::size_t stack_bytes = 1 << 18;
#endif

// The OS thread that resumes fibers. One launch at a time, so one of it.
struct {
  void* top = nullptr;
  void* sanitizer = nullptr;
  void* fake_stack = nullptr;
  const void* stack = nullptr;
  std::size_t bytes = 0;
} outside;

void tell_tsan_switch(void* to) {
#ifdef HOST_CUDA_TSAN
  __tsan_switch_to_fiber(to, __tsan_switch_to_fiber_no_sync);
#endif
}

} // namespace

fiber::fiber(void (*body)(void*), void* context, [[maybe_unused]] const char* name)
    : body_(body), context_(context) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
    throw std::bad_alloc();
  }
  mapping_ = static_cast<unsigned char*>(memory);
  stack_ = mapping_ + page;

  // What host_cuda_switch pops: r15 to r12, rbx, rbp, the address to return to. Two words more, so
  // that the stack is aligned where host_cuda_first calls.
  auto* words = reinterpret_cast<std::uintptr_t*>(stack_ + stack_bytes) - 9;
  words[4] = reinterpret_cast<std::uintptr_t>(this);
  words[5] = reinterpret_cast<std::uintptr_t>(&entry);
  words[6] = reinterpret_cast<std::uintptr_t>(&host_cuda_first);
  top_ = words;
#ifdef HOST_CUDA_TSAN
  sanitizer_ = __tsan_create_fiber(0);
  __tsan_set_fiber_name(sanitizer_, name);
#endif
}

fiber::~fiber() {
#ifdef HOST_CUDA_TSAN
  __tsan_destroy_fiber(sanitizer_);
#endif
  unpoison(stack_, stack_bytes);
  munmap(mapping_, static_cast<std::size_t>(stack_ - mapping_) + stack_bytes);
}

void fiber::resume() {
#ifdef HOST_CUDA_ASAN
  __sanitizer_start_switch_fiber(&outside.fake_stack, stack_, stack_bytes);
#endif
  tell_tsan_switch(sanitizer_);
  host_cuda_switch(&outside.top, top_);
#ifdef HOST_CUDA_ASAN
  __sanitizer_finish_switch_fiber(outside.fake_stack, nullptr, nullptr);
#endif
}

void fiber::arrive() {
#ifdef HOST_CUDA_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &outside.stack, &outside.bytes);
#endif
}

void fiber::suspend() {
#ifdef HOST_CUDA_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, outside.stack, outside.bytes);
#endif
  tell_tsan_switch(outside.sanitizer);
  host_cuda_switch(&top_, outside.top);
  arrive();
}

void fiber::entry(fiber* self) {
  self->arrive();
  for (;;) {
    self->body_(self->context_);
    self->suspend();
  }
}

void set_outside() {
#ifdef HOST_CUDA_TSAN
  outside.sanitizer = __tsan_get_current_fiber();
#endif
}

void join(void* const* fibers, std::size_t count, void* sync) {
#ifdef HOST_CUDA_TSAN
  // A switch moves ThreadSanitizer's idea of who runs, and nothing else. The accesses here are thus
  // taken for those of each fiber in turn; what they read was written unseen, inside of quiet.
  void* const here = __tsan_get_current_fiber();
  const auto each = [&](void (*act)(void*)) {
    for (std::size_t i = 0; i < count; ++i) {
      tell_tsan_switch(fibers[i] ? fibers[i] : outside.sanitizer);
      act(sync);
    }
  };
  each(__tsan_release);
  each(__tsan_acquire);
  tell_tsan_switch(here);
#endif
}

} // namespace host_cuda::detail
