//===- trial.h - everything that one program is put through -----------------------------------===//
#pragma once

#include "program.h"

#include <optional>

namespace rnnc::generated {

struct Failure {
  std::string check; // which of the checks
  std::string text;
};

/// Compiles a program in this process and compares: derivative rules, Jacobians and carries with
/// differences and whole matrices, the structure with a probe, the sequential run with the
/// interpreter, every schedule of its setting with the sequential run, and the same cell in other
/// words. Nothing where all agree.
std::optional<Failure> tryProgram(const Program& program);

/// What the trials of this process compared so far, for the test's report.
struct Tally {
  int64_t programs = 0, dense = 0, solves = 0, kernels = 0;
};
Tally& tally();

} // namespace rnnc::generated
