#include "core/context.hpp"

#include "core/status.hpp"

#include <oneapi/tbb/info.h>

namespace rnnc::runtime {
namespace {

// One text a thread, whatever the context: a failed rnn_context_create has no context to keep it
// in.
thread_local std::string lastError;

} // namespace

void setErrorText(const char* text) noexcept {
  try {
    lastError = text;
  } catch (...) {
    lastError.clear();
  }
}

const char* errorText() noexcept { return lastError.c_str(); }

std::shared_ptr<tbb::task_arena> Context::arena(int threads) {
  if (threads == 0) {
    threads = tbb::info::default_concurrency();
  }
  std::lock_guard lock(mutex_);
  std::shared_ptr<tbb::task_arena>& arena = arenas_[threads];
  if (!arena) {
    arena = std::make_shared<tbb::task_arena>(threads);
    arena->initialize();
  }
  return arena;
}

} // namespace rnnc::runtime

using namespace rnnc::runtime;

rnn_status rnn_context_create(rnn_context** out) {
  return guarded([&] {
    if (!out) {
      invalid("rnn_context_create: argument `out` is null");
    }
    *out = nullptr;
    *out = new rnn_context{std::make_shared<Context>()};
    return RNN_OK;
  });
}

void rnn_context_destroy(rnn_context* context) { delete context; }

const char* rnn_error_text(const rnn_context*) { return errorText(); }
