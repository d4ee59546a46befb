//===- Ulp.cpp - errors in units of the last place -------------------------------------------===//

#include "Ulp.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace elementary;

static constexpr double kWrong = std::numeric_limits<double>::infinity();

void elementary::ulpErrors(const float* got, const double* want, double* errors, int64_t n) {
  constexpr uint64_t kSign = uint64_t(1) << 63, kExponent = uint64_t(0x7ff) << 52;
  constexpr uint64_t kLeast = uint64_t(1023 - 126) << 52, kMost = uint64_t(1023 + 127) << 52;
  for (int64_t i = 0; i < n; ++i) { // no branches: the compiler makes vectors of it
    double result = got[i], exact = want[i];
    uint64_t resultBits = std::bit_cast<uint64_t>(result),
             exactBits = std::bit_cast<uint64_t>(exact);
    double size = std::min(std::bit_cast<double>(resultBits & ~kSign), 0x1p128);
    double exactSize = std::min(std::bit_cast<double>(exactBits & ~kSign), 0x1p128);
    uint64_t exponent = std::clamp(exactBits & kExponent, kLeast, kMost);
    // 2^-(exponent - 23)
    double perUlp = std::bit_cast<double>((uint64_t(2 * 1023 + 23) << 52) - exponent);
    double error = std::fabs(size - exactSize) * perUlp;
    bool resultNan = result != result, exactNan = exact != exact;
    bool bad = (resultNan != exactNan) || (!exactNan && ((resultBits ^ exactBits) & kSign)) ||
               (exact == 0 && result != 0);
    errors[i] = bad ? kWrong : exactNan ? 0 : error;
  }
}

double elementary::ulpError(float got, double want) {
  double error;
  ulpErrors(&got, &want, &error, 1);
  return error;
}

// Enough for results next to 1, whose difference from it is what counts.
static constexpr mpfr_prec_t kPrecision = 160;

Judge::Judge() { mpfr_inits2(kPrecision, a, b, exact, bounded, difference, mpfr_ptr(nullptr)); }
Judge::~Judge() {
  mpfr_clears(a, b, exact, bounded, difference, mpfr_ptr(nullptr));
  mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); // MPFR's own of this thread, which may end now
}

void Judge::set(const Function& function, double x, double y) {
  mpfr_set_d(a, x, MPFR_RNDN);
  mpfr_set_d(b, y, MPFR_RNDN);
  function.exact(exact, a, b);
}

template <typename T>
double Judge::ulpError(T got) {
  using Limits = std::numeric_limits<T>;
  if (mpfr_nan_p(exact) || std::isnan(got))
    return mpfr_nan_p(exact) && std::isnan(got) ? 0 : kWrong;
  bool negative = std::signbit(got);
  if ((mpfr_signbit(exact) != 0) != negative)
    return kWrong;
  if (mpfr_zero_p(exact))
    return got == 0 ? 0 : kWrong;
  if (mpfr_inf_p(exact) || mpfr_get_exp(exact) > Limits::max_exponent)
    mpfr_set_si_2exp(bounded, negative ? -1 : 1, Limits::max_exponent, MPFR_RNDN);
  else
    mpfr_set(bounded, exact, MPFR_RNDN);
  if (std::isinf(got))
    mpfr_set_si_2exp(difference, negative ? -1 : 1, Limits::max_exponent, MPFR_RNDN);
  else
    mpfr_set_d(difference, got, MPFR_RNDN);
  long exponent =
      std::clamp<long>(mpfr_get_exp(bounded), Limits::min_exponent, Limits::max_exponent);
  mpfr_sub(difference, difference, bounded, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, Limits::digits - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference, MPFR_RNDN));
}

template double Judge::ulpError(float);
template double Judge::ulpError(double);
