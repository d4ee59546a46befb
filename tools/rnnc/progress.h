// A bar on the terminal for work that takes over two seconds.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace rnnc::tool {

/// While it lives, and once two seconds have passed, paints what is going on, how far it is and for
/// how long it has been. Nothing where stderr is no terminal.
class Progress {
public:
  /// Nobody knows how far it is.
  explicit Progress(std::string what) : Progress(std::move(what), std::function<double()>()) {}
  /// `fraction` (0 to 1) is called from another thread.
  Progress(std::string what, std::function<double()> fraction);
  ~Progress();
  Progress(const Progress&) = delete;

private:
  void paintUntilDone();

  std::string what;
  std::function<double()> fraction;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread painter;
};

} // namespace rnnc::tool
