// What modules and plans share: the thread arenas.
#pragma once

#include "rnn/rnn.h"

#include <map>
#include <memory>
#include <mutex>
#include <oneapi/tbb/task_arena.h>

namespace rnnc::runtime {

class Context {
public:
  /// The arena of `threads` threads (0: one for each core this process may use), made when first
  /// asked for. Plans keep it alive.
  std::shared_ptr<tbb::task_arena> arena(int threads);

private:
  std::mutex mutex_;
  std::map<int, std::shared_ptr<tbb::task_arena>> arenas_;
};

} // namespace rnnc::runtime

struct rnn_context {
  std::shared_ptr<rnnc::runtime::Context> state;
};
