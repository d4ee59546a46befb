//===- Functions.h - the elementary functions as they should be ------------------------------===//
#pragma once

#include <mpfr.h>
#include <span>
#include <string_view>

namespace elementary {

struct Function {
  const char* name;
  bool binary;                             // else b is unused
  double (*reference)(double a, double b); // good enough to judge f32
  void (*exact)(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr b);
  enum Symmetry { kNone, kOdd, kEven } symmetry = kNone;
};

std::span<const Function> functions();
/// Aborts the test where there is none of that name.
const Function& function(std::string_view name);

/// A value that must be exact in both precisions.
struct Limit {
  const char* function;
  double a, b, want;
};
std::span<const Limit> limits();

} // namespace elementary
