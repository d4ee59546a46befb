// rnn_step allocates nothing, takes no lock and makes no system call: audio threads may call it.
// Every function that would is replaced in this program, and the kernel ends a process that makes a
// system call.
#include "stage_tables.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace {
thread_local long allocations = 0, locks = 0;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
} // namespace

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
void free(void* memory) {
  allocations += memory != nullptr;
  __libc_free(memory);
}

#define RNN_COUNTED_LOCK(name, type)                                                               \
  int name(type* lock) {                                                                           \
    static int (*const real)(type*) = next<int(type*)>(#name);                                     \
    ++locks;                                                                                       \
    return real(lock);                                                                             \
  }
RNN_COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
RNN_COUNTED_LOCK(pthread_mutex_trylock, pthread_mutex_t)
RNN_COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
RNN_COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
int pthread_spin_lock(pthread_spinlock_t* lock) {
  static auto* const real = next<int(pthread_spinlock_t*)>("pthread_spin_lock");
  ++locks;
  return real(lock);
}
} // extern "C"

namespace rnnc::test {
namespace {

/// From here on a system call ends this process, but for its orderly end. False where the machine
/// has no such filters.
bool forbidSystemCalls() {
  const sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)),
                           const_cast<sock_filter*>(rules)};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int kNoFilters = 77, kSignal = 1000;

/// The exit status of a process that may make no system call in `body`; kSignal and up: killed.
template <class Body>
int runWithoutSystemCalls(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (!forbidSystemCalls()) {
      _exit(kNoFilters);
    }
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignal + WTERMSIG(status);
}

/// A stream of the chain of stages: maps, products and a recurrence, with a state of another type
/// than it is computed in.
class Quiet : public testing::Test {
protected:
  static constexpr int64_t batch = 3, time = 8, m = 7, d = 5, n = 3;

  Quiet()
      : module(chain.get()), x({batch, 1, m}, RNN_F64, false, 1), p({}, RNN_F64, false, 50),
        w({d, m}, RNN_F64, false, 100), c({n, d}, RNN_F64, false, 200),
        h({batch, 1, d}, RNN_F32, true, 300), y({batch, 1, n}, RNN_F64, false, 400),
        last({batch, d}, RNN_F64, false, 500) {
    const rnn_dim_value dims[] = {{"m", m}, {"d", d}, {"n", n}};
    rnn_plan_options options = planOptions();
    options.dims = 3;
    options.dim = dims;
    options.batch = batch;
    options.time = time;
    options.compute = RNN_F64;
    options.streaming = 1;
    EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_OK)
        << rnn_error_text(module.context);
    size_t bytes = 0;
    rnn_plan_sizes(plan, nullptr, nullptr, &bytes);
    state = std::make_unique<Workspace>(bytes);
    args = {x.tensor(), p.tensor(), w.tensor(), c.tensor(),
            h.tensor(), y.tensor(), {},         last.tensor()};
    EXPECT_EQ(rnn_state_init(plan, state->data, args.data()), RNN_OK)
        << rnn_error_text(module.context);
  }
  ~Quiet() override { rnn_plan_destroy(plan); }

  int steps() {
    for (int i = 0; i < 100; ++i) {
      if (rnn_step(plan, state->data, args.data(), nullptr) != RNN_OK) {
        return 1;
      }
    }
    return 0;
  }

  ChainTable chain;
  ModuleHandle module;
  Strided x, p, w, c, h, y, last;
  rnn_plan* plan = nullptr;
  std::unique_ptr<Workspace> state;
  std::vector<rnn_tensor> args;
};

TEST_F(Quiet, StepAllocatesNothingAndTakesNoLock) {
  ASSERT_GT(allocations, 0); // the counters count
  ASSERT_GT(locks, 0);
  allocations = locks = 0;
  ASSERT_EQ(steps(), 0);
  EXPECT_EQ(allocations, 0);
  EXPECT_EQ(locks, 0);
}

TEST_F(Quiet, StepMakesNoSystemCall) {
  const int control = runWithoutSystemCalls([] { return static_cast<int>(syscall(SYS_getpid)); });
  if (control == kNoFilters) {
    GTEST_SKIP() << "this machine has no filters of system calls (seccomp)";
  }
  ASSERT_EQ(control, kSignal + SIGSYS);
  EXPECT_EQ(runWithoutSystemCalls([&] { return steps(); }), 0);
}

} // namespace
} // namespace rnnc::test
