// The arguments of rnn_forward, checked against the plan.
#pragma once

#include "core/plan.hpp"

#include <initializer_list>

namespace rnnc::runtime {

/// Memory of the caller's that a call uses beside the arguments.
struct Memory {
  const void* data;
  size_t bytes;
};

/// Which arguments a call looks at.
enum class ArgUse {
  Whole, ///< all: a whole sequence
  Begin, ///< params and initial states: where a stream begins
  GoOn,  ///< all but initial states, which must be absent: a part of a stream
};

/// Throws where an argument does not fit the plan, or a result overlaps anything else. Afterwards a
/// tensor that the call looks at is absent (null, or without elements) or exactly what the plan
/// says.
void checkArgs(const Plan& plan, const rnn_tensor* args, std::initializer_list<Memory> own,
               ArgUse use, const char* function);

/// The same of the gradients of `args`, which are checked.
void checkGrads(const Plan& plan, const rnn_tensor* args, const rnn_tensor* grads,
                std::initializer_list<Memory> own, const char* function);

/// A param's strides along the axes of a state that begins as it: 0 along those that the param
/// lacks or has once, for its axes stand last and are broadcast.
void startStrides(const Plan& plan, uint32_t state, const rnn_tensor& param, int64_t* strides);

void checkAlignment(const void* memory, const char* name, const char* function);
void checkWorkspace(const Plan& plan, const void* workspace, const char* function);
void checkReserve(const Plan& plan, const void* reserve, const char* function);
void checkStream(const void* stream, const char* function);

} // namespace rnnc::runtime
