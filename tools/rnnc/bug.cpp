#include "bug.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace rnnc::tool;

namespace {

/// Everything that a crash handler needs, made beforehand: in a signal handler nothing may be
/// allocated.
struct Reproducer {
  std::string head, module, detail;
  char path[256] = "";
};
Reproducer reproducer;

void write(int file, const char* text, size_t size) {
  while (size > 0) {
    ssize_t written = ::write(file, text, size);
    if (written <= 0)
      return;
    text += written;
    size -= written;
  }
}

void write(int file, const std::string& text) { write(file, text.data(), text.size()); }

/// False where the file could not be made. Calls nothing that a signal handler must not call.
bool writeReproducer(const char* what) {
  int file = open(reproducer.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0)
    return false;
  write(file, reproducer.head);
  write(file, "// ", 3);
  for (const char* c = what; *c; ++c) // a comment stays one line
    write(file, *c == '\n' ? " " : c, 1);
  write(file, "\n", 1);
  write(file, reproducer.module);
  return close(file) == 0;
}

void say(const char* text) { write(STDERR_FILENO, text, std::strlen(text)); }

[[noreturn]] void die(const char* what) {
  bool written = writeReproducer(what);
  say("rnnc: error: ");
  say(what);
  say("; this is a bug of rnnc\n");
  if (written) {
    say("  hint: please report it with the reproducer ");
    say(reproducer.path);
    say("\n");
  }
  _exit(kBug);
}

void onSignal(int signal) {
  die(signal == SIGSEGV   ? "the compiler crashed (invalid memory access or too deep a recursion)"
      : signal == SIGABRT ? "the compiler stopped itself (abort)"
      : signal == SIGFPE  ? "the compiler crashed (arithmetic exception)"
                          : "the compiler crashed (illegal instruction or bus error)");
}

void onFatalError(void*, const char* reason, bool) { die(reason); }

} // namespace

void rnnc::tool::watchForCrashes(const Options& options) {
  reproducer.head = fmt::format("// rnnc {}, LLVM {}\n// {}\n", RNNC_VERSION, LLVM_VERSION_STRING,
                                options.commandLine);
  const char* folder = std::getenv("TMPDIR");
  auto end =
      fmt::format_to_n(reproducer.path, sizeof(reproducer.path) - 1, "{}/rnnc-reproducer-{}.mlir",
                       folder && *folder ? folder : "/tmp", getpid());
  *end.out = '\0';
  llvm::install_fatal_error_handler(onFatalError);
  // A stack of its own: the usual crash of a compiler is a stack that ran out.
  static char stack[64 << 10];
  stack_t alternate{stack, 0, sizeof(stack)};
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT})
    sigaction(signal, &action, nullptr);
}

void rnnc::tool::rememberModule(std::string text) { reproducer.module = std::move(text); }

void rnnc::tool::rememberDetail(std::string text) { reproducer.detail = std::move(text); }

int rnnc::tool::reportBug(const Console& console, const std::string& what) {
  std::string text = reproducer.detail.empty() ? what : what + ": " + reproducer.detail;
  bool written = writeReproducer(text.c_str());
  return console.error(text + "; this is a bug of rnnc",
                       written
                           ? fmt::format("please report it with the reproducer {}", reproducer.path)
                           : fmt::format("{} cannot be written", reproducer.path),
                       kBug);
}
