#include "progress.h"

#include <fmt/format.h>

#include <chrono>
#include <unistd.h>

using namespace rnnc::tool;
using namespace std::chrono_literals;

Progress::Progress(std::string what, std::function<double()> fraction)
    : what(std::move(what)), fraction(std::move(fraction)) {
  if (isatty(STDERR_FILENO))
    painter = std::thread([this] { paintUntilDone(); });
}

Progress::~Progress() {
  if (!painter.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  changed.notify_all();
  painter.join();
}

static std::string bar(double fraction) {
  constexpr int kWidth = 30;
  int filled = static_cast<int>(fraction * kWidth);
  return "[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "]";
}

void Progress::paintUntilDone() {
  auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  if (changed.wait_for(lock, 2s, [this] { return done; }))
    return;
  do {
    std::string far;
    if (fraction) {
      double now = fraction();
      far = fmt::format(" {} {:.0f} %", bar(now), 100 * now);
    }
    double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print(stderr, "\r\033[K{}{} {:.1f} s", what, far, elapsed);
    std::fflush(stderr);
  } while (!changed.wait_for(lock, 100ms, [this] { return done; }));
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
}
