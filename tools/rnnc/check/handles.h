// What the runtime makes, released where it goes out of scope.
#pragma once

#include "rnn/rnn.h"

#include <memory>

namespace rnnc {

struct Release {
  void operator()(rnn_context* p) const { rnn_context_destroy(p); }
  void operator()(rnn_module* p) const { rnn_module_destroy(p); }
  void operator()(rnn_plan* p) const { rnn_plan_destroy(p); }
};
using ContextPtr = std::unique_ptr<rnn_context, Release>;
using ModulePtr = std::unique_ptr<rnn_module, Release>;
using PlanPtr = std::unique_ptr<rnn_plan, Release>;

/// Null where it failed; rnn_error_text says why.
inline ContextPtr makeContext() {
  rnn_context* context = nullptr;
  rnn_context_create(&context);
  return ContextPtr(context);
}

} // namespace rnnc
