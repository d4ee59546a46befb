//===- Functions.cpp - the elementary functions as they should be ----------------------------===//

#include "Functions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace elementary;

template <double (*f)(double)>
static double libm(double a, double) {
  return f(a);
}
template <int (*f)(mpfr_t, mpfr_srcptr, mpfr_rnd_t)>
static void mpfr(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr) {
  f(out, a, MPFR_RNDN);
}

template <double (*f)(double, double)>
static double libm(double a, double b) {
  return f(a, b);
}
template <int (*f)(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t)>
static void mpfr(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr b) {
  f(out, a, b, MPFR_RNDN);
}

static double sigmoid(double a, double) {
  double e = std::exp(-std::fabs(a));
  return (a < 0 ? e : 1) / (1 + e);
}
static void exactSigmoid(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_neg(out, a, MPFR_RNDN);
  mpfr_exp(out, out, MPFR_RNDN);
  mpfr_add_ui(out, out, 1, MPFR_RNDN);
  mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static double softplus(double a, double) {
  return std::max(a, 0.0) + std::log1p(std::exp(-std::fabs(a)));
}
static void exactSoftplus(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_exp(out, a, MPFR_RNDN);
  if (mpfr_inf_p(out))
    mpfr_set(out, a, MPFR_RNDN);
  else
    mpfr_log1p(out, out, MPFR_RNDN);
}

static double reciprocalRoot(double a, double) { return 1 / std::sqrt(a); }
static void exactReciprocalRoot(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_sqrt(out, a, MPFR_RNDN); // mpfr_rec_sqrt gives +inf at -0
  mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static double sign(double a, double) { return a > 0 ? 1 : a < 0 ? -1 : a; }
static void exactSign(mpfr_ptr out, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_set(out, a, MPFR_RNDN);
  if (mpfr_regular_p(a) || mpfr_inf_p(a))
    mpfr_set_si(out, mpfr_sgn(a), MPFR_RNDN);
}

using F = Function;
static const Function table[] = {
    {"exp", false, libm<std::exp>, mpfr<mpfr_exp>, F::kNone},
    {"expm1", false, libm<std::expm1>, mpfr<mpfr_expm1>, F::kNone},
    {"log", false, libm<std::log>, mpfr<mpfr_log>, F::kNone},
    {"log1p", false, libm<std::log1p>, mpfr<mpfr_log1p>, F::kNone},
    {"tanh", false, libm<std::tanh>, mpfr<mpfr_tanh>, F::kOdd},
    {"sigmoid", false, sigmoid, exactSigmoid, F::kNone},
    {"softplus", false, softplus, exactSoftplus, F::kNone},
    {"sin", false, libm<std::sin>, mpfr<mpfr_sin>, F::kOdd},
    {"cos", false, libm<std::cos>, mpfr<mpfr_cos>, F::kEven},
    {"tan", false, libm<std::tan>, mpfr<mpfr_tan>, F::kOdd},
    {"asin", false, libm<std::asin>, mpfr<mpfr_asin>, F::kOdd},
    {"acos", false, libm<std::acos>, mpfr<mpfr_acos>, F::kNone},
    {"atan", false, libm<std::atan>, mpfr<mpfr_atan>, F::kOdd},
    {"sinh", false, libm<std::sinh>, mpfr<mpfr_sinh>, F::kOdd},
    {"cosh", false, libm<std::cosh>, mpfr<mpfr_cosh>, F::kEven},
    {"erf", false, libm<std::erf>, mpfr<mpfr_erf>, F::kOdd},
    {"sqrt", false, libm<std::sqrt>, mpfr<mpfr_sqrt>, F::kNone},
    {"rsqrt", false, reciprocalRoot, exactReciprocalRoot, F::kNone},
    {"sign", false, sign, exactSign, F::kOdd},
    {"atan2", true, libm<std::atan2>, mpfr<mpfr_atan2>, F::kNone},
    {"pow", true, libm<std::pow>, mpfr<mpfr_pow>, F::kNone},
};

std::span<const Function> elementary::functions() { return table; }

const Function& elementary::function(std::string_view name) {
  for (const Function& f : table)
    if (name == f.name)
      return f;
  std::fprintf(stderr, "no function %.*s is known\n", static_cast<int>(name.size()), name.data());
  std::abort();
}
