// A bar on the terminal for work that takes over two seconds.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rnnc::tool {

/// While it lives, and once two seconds have passed, paints what is going on and for how long. How
/// far it is comes from the cost model's estimate, so it says "about".
class Progress {
public:
  Progress(std::string what, double estimatedSeconds);
  ~Progress();
  Progress(const Progress&) = delete;

private:
  void paintUntilDone();

  std::string what;
  double estimate;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread painter;
};

} // namespace rnnc::tool
