// What modules and plans share: the thread arenas, and what runs on CUDA devices.
#pragma once

#include "rnn/rnn.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rnnc::runtime {

namespace cpu {
struct Arena;
}
namespace cuda {
class Programs;
}

class Context {
public:
  Context();
  ~Context();

  /// The arena of `threads` threads (0: one for each core this process may use), made when first
  /// asked for. Plans keep it alive.
  std::shared_ptr<cpu::Arena> arena(int threads);

  /// Made when first asked for. Plans keep the context, and so this, alive.
  cuda::Programs& programs();
  /// Of what was made so far, told once; else empty.
  std::string takeWarning();

private:
  std::mutex mutex_;
  std::unique_ptr<cuda::Programs> programs_;
  std::map<int, std::shared_ptr<cpu::Arena>> arenas_;
};

} // namespace rnnc::runtime

struct rnn_context {
  std::shared_ptr<rnnc::runtime::Context> state;
};
