#include "core/context.hpp"

#include "core/status.hpp"
#include "cpu/arena.hpp"
#include "cuda/programs.hpp"

namespace rnnc::runtime {
namespace {

// One text a thread, whatever the context: a failed rnn_context_create has no context to keep it
// in.
thread_local std::string lastError;
thread_local std::string lastWarning;

} // namespace

void setErrorText(const char* text) noexcept {
  try {
    lastError = text;
  } catch (...) {
    lastError.clear();
  }
}

const char* errorText() noexcept { return lastError.c_str(); }

Context::Context() = default;
Context::~Context() = default;

cuda::Programs& Context::programs() {
  std::lock_guard lock(mutex_);
  if (!programs_) {
    programs_ = std::make_unique<cuda::Programs>();
  }
  return *programs_;
}

std::string Context::takeWarning() {
  std::lock_guard lock(mutex_);
  return programs_ ? programs_->takeWarning() : std::string();
}

std::shared_ptr<cpu::Arena> Context::arena(int threads) {
  if (threads == 0) {
    threads = cpu::usualThreads();
  }
  std::lock_guard lock(mutex_);
  std::shared_ptr<cpu::Arena>& arena = arenas_[threads];
  if (!arena) {
    arena = cpu::makeArena(threads);
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

const char* rnn_warning_text(rnn_context* context) {
  const rnn_status status = guarded([&] {
    lastWarning = context ? context->state->takeWarning() : std::string();
    return RNN_OK;
  });
  return status == RNN_OK ? lastWarning.c_str() : "";
}
