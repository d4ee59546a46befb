// Accesses that the processor refuses, as errors of a launch.
#include "signals.hpp"

#include "sanitizers.hpp"

#if defined(HOST_CUDA_ASAN) || defined(HOST_CUDA_TSAN)

namespace host_cuda::detail {

signal_guard::signal_guard() {}
signal_guard::~signal_guard() {}

bool call_guarded(thread& who, const invocation& kernel) {
  kernel.call(kernel.arguments);
  return true;
}

} // namespace host_cuda::detail

#else

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <iterator>

namespace host_cuda::detail {

namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE};
struct sigaction before[std::size(signals)];
stack_t stack_before;
// A fiber whose stack is full cannot run a handler on it.
unsigned char handler_stack[1 << 16];
pthread_t launching;

const char* what(int number, const siginfo_t& info, const thread& who) {
  if (number == SIGFPE) {
    return "a division by zero";
  }
  if (number == SIGBUS) {
    return "an access to memory that is not there";
  }
  // The kernel gives no address for one that is not canonical.
  if (info.si_code == SI_KERNEL) {
    return "an access to memory that is not there, at no address at all";
  }
  return who.context.is_stack_end(info.si_addr) ? "the stack is full: too large arrays or recursion"
                                                : nullptr;
}

void pass_on(int number) {
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    if (signals[i] == number) {
      sigaction(number, &before[i], nullptr);
    }
  }
  // The instruction runs again, and so does the signal, with the action of before.
}

// Runs on the alternate stack. Not everything here is safe in a handler in general; it is for a
// signal raised by the kernel's own instruction, which holds none of the library's locks.
void handle(int number, siginfo_t* info, void*) {
  if (!active || !active->current || !active->current->inside ||
      !pthread_equal(pthread_self(), launching)) {
    pass_on(number);
    return;
  }
  thread& who = *active->current;
  const char* text = what(number, *info, who);
  capture_stack(who);
  active->failed = std::make_unique<failure>(
      failure{.text = text ? text : format("an access to %p, where no memory is", info->si_addr),
              .about = &who});
  siglongjmp(who.recovery, 1);
}

} // namespace

signal_guard::signal_guard() {
  launching = pthread_self();
  const stack_t stack{.ss_sp = handler_stack, .ss_flags = 0, .ss_size = sizeof handler_stack};
  sigaltstack(&stack, &stack_before);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; // the handler does not return
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    sigaction(signals[i], &action, &before[i]);
  }
}

signal_guard::~signal_guard() {
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    sigaction(signals[i], &before[i], nullptr);
  }
  sigaltstack(&stack_before, nullptr);
}

bool call_guarded(thread& who, const invocation& kernel) {
  if (sigsetjmp(who.recovery, 0)) {
    return false;
  }
  kernel.call(kernel.arguments);
  return true;
}

} // namespace host_cuda::detail

#endif
