//===- Ulp.h - errors in units of the last place ---------------------------------------------===//
//
// The unit is the distance of neighbouring numbers around the exact result, at least the smallest
// denormal. Infinity counts as the power of two after the largest number. A NaN where none belongs,
// none where one belongs, or the wrong sign, a zero's included, is an infinite error.
//
//===-----------------------------------------------------------------------------------------===//
#pragma once

#include "Functions.h"

namespace elementary {

/// The errors of results of single precision against a reference in double precision.
void ulpErrors(const float* got, const double* want, double* errors, int64_t n);
double ulpError(float got, double want);

/// The exact judge: MPFR, for results of either precision. One a thread.
class Judge {
public:
  Judge();
  ~Judge();
  Judge(const Judge&) = delete;
  template <typename T>
  double ulpError(const Function& function, T a, T b, T got) {
    set(function, a, b);
    return ulpError(got);
  }
  /// The same in two steps, for several results.
  void set(const Function& function, double a, double b);
  template <typename T>
  double ulpError(T got);

private:
  mpfr_t a, b, exact, bounded, difference;
};

} // namespace elementary
