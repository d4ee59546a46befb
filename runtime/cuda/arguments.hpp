// A kernel's argument: the struct of device/args.cuh, or of device/dense.cuh, for sizes that are
// known when a plan is made. Every field of both has 8 bytes, so they are lists of words.
#pragma once

#include "core/plan.hpp"
#include "cuda/driver_symbols.hpp"

namespace rnnc::runtime::cuda {

/// What a kernel's parameters may take since CUDA 12.1.
inline constexpr int64_t mostArgumentBytes = 32764;

/// Bytes of the argument of a system's kernel, as the struct's declaration lays it out.
int64_t argumentBytes(const Plan& plan, uint32_t system);

/// Numbers of scratch that a thread of a dense system's kernel needs; 0 for any other system.
int64_t scratchNumbers(const Plan& plan, uint32_t system);

struct ArgumentPlaces {
  Address report = 0, scratch = 0;
};

/// Writes it to `to`, argumentBytes() of them. `args` fit the plan (checkArgs). Allocates nothing.
void packArguments(const Plan& plan, uint32_t system, const rnn_tensor* args,
                   const ArgumentPlaces& places, void* to);

} // namespace rnnc::runtime::cuda
