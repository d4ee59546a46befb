// A call as the interpreter takes it.
#pragma once

#include "probe.h"

#include "rnnc/Interpreter.h"

namespace rnnc::check {

/// The arguments of a call, each moved by up to `relative` of itself.
struct InterpreterCall {
  Arrays inputs, params, initial;

  InterpreterCall(const CallBuffers& call, const rnn_module_table& table, double relative,
                  uint64_t seed);
};

} // namespace rnnc::check
