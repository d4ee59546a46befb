// What a file of generated units is compiled with: kernels register themselves.
#pragma once

#include "cuda_library.h"
#include "launch_call.hpp"

#include "rnn/forward.cuh"
#include "rnn/math.cuh"

/// Of the loaded library. A function's own, so that it is there for whoever registers first.
extern "C" std::vector<rnnc::generated::CudaKernel>* generated_kernels();

namespace generated_units {

/// One chunk a tile: the loop over time that every policy has to agree with.
template <class Policy>
struct plain_policy {
  static constexpr int lanes = Policy::lanes, chunks = 1, steps = Policy::steps;
  static constexpr rnn::staging stage = rnn::staging::registers;
};

template <class Cell, class Policy, class Args>
void plain(Args args) {
  rnn::forward<Cell, plain_policy<Policy>>(args);
}

struct Registered {
  explicit Registered(rnnc::generated::CudaKernel kernel) {
    generated_kernels()->push_back(std::move(kernel));
  }
};

} // namespace generated_units

#define GENERATED_UNIT(unit, system)                                                               \
  static const generated_units::Registered unit##_##system(                                        \
      {#unit "." #system,                                                                          \
       emitted_test::run<unit::system##_cell, unit::system##_policy, unit::system##_args,          \
                         unit::unit##_##system##_forward>,                                         \
       emitted_test::run<unit::system##_cell,                                                      \
                         generated_units::plain_policy<unit::system##_policy>,                     \
                         unit::system##_args,                                                      \
                         generated_units::plain<unit::system##_cell, unit::system##_policy,        \
                                                unit::system##_args>>});
