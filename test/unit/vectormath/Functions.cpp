//===- Functions.cpp - what is tested, against what, to which bound --------------------------===//

#include "Functions.h"

#include "Newton/Newton.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace vectormath;

template <typename OpT>
static Value one(OpBuilder& b, Location loc, Value a, Value) {
  return OpT::create(b, loc, a);
}
template <typename OpT>
static Value two(OpBuilder& b, Location loc, Value x, Value y) {
  return OpT::create(b, loc, x, y);
}
/// The newton operations do not infer their result's type.
template <typename OpT>
static Value typed(OpBuilder& b, Location loc, Value a, Value) {
  return OpT::create(b, loc, a.getType(), a);
}

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
    {"exp",
     one<math::ExpOp>,
     false,
     libm<std::exp>,
     mpfr<mpfr_exp>,
     F::kNone,
     {1.3, 1.3, 1.3, 1.3}},
    {"expm1",
     one<math::ExpM1Op>,
     false,
     libm<std::expm1>,
     mpfr<mpfr_expm1>,
     F::kNone,
     {4, 4, 4, 4}},
    {"log", one<math::LogOp>, false, libm<std::log>, mpfr<mpfr_log>, F::kNone, {1, 1, 1, 1}},
    {"log1p",
     one<math::Log1pOp>,
     false,
     libm<std::log1p>,
     mpfr<mpfr_log1p>,
     F::kNone,
     {2, 2, 2, 2}},
    {"tanh", one<math::TanhOp>, false, libm<std::tanh>, mpfr<mpfr_tanh>, F::kOdd, {2, 2, 2.2, 2.2}},
    {"sigmoid",
     typed<rnnc::newton::SigmoidOp>,
     false,
     sigmoid,
     exactSigmoid,
     F::kNone,
     {2, 2, 2, 2}},
    {"softplus",
     typed<rnnc::newton::SoftplusOp>,
     false,
     softplus,
     exactSoftplus,
     F::kNone,
     {4, 4, 4, 4}},
    {"sin", one<math::SinOp>, false, libm<std::sin>, mpfr<mpfr_sin>, F::kOdd, {2, 2, 2, 2}},
    {"cos", one<math::CosOp>, false, libm<std::cos>, mpfr<mpfr_cos>, F::kEven, {2, 2, 2, 2}},
    {"tan", one<math::TanOp>, false, libm<std::tan>, mpfr<mpfr_tan>, F::kOdd, {4, 4, 4, 4}},
    {"asin", one<math::AsinOp>, false, libm<std::asin>, mpfr<mpfr_asin>, F::kOdd, {4, 4, 4, 4}},
    {"acos", one<math::AcosOp>, false, libm<std::acos>, mpfr<mpfr_acos>, F::kNone, {4, 4, 4, 4}},
    {"atan", one<math::AtanOp>, false, libm<std::atan>, mpfr<mpfr_atan>, F::kOdd, {4, 4, 4, 4}},
    {"sinh", one<math::SinhOp>, false, libm<std::sinh>, mpfr<mpfr_sinh>, F::kOdd, {4, 4, 4, 4}},
    {"cosh", one<math::CoshOp>, false, libm<std::cosh>, mpfr<mpfr_cosh>, F::kEven, {4, 4, 4, 4}},
    {"erf", one<math::ErfOp>, false, libm<std::erf>, mpfr<mpfr_erf>, F::kOdd, {4, 4, 4, 4}},
    {"rsqrt",
     one<math::RsqrtOp>,
     false,
     reciprocalRoot,
     exactReciprocalRoot,
     F::kNone,
     {2, 2, 2, 2}},
    {"sign", typed<rnnc::newton::SignOp>, false, sign, exactSign, F::kOdd, {0, 0, 0, 0}},
    {"atan2", two<math::Atan2Op>, true, libm<std::atan2>, mpfr<mpfr_atan2>, F::kNone, {4, 4, 4, 4}},
    {"pow", two<math::PowFOp>, true, libm<std::pow>, mpfr<mpfr_pow>, F::kNone, {4, 4, 4, 4}},
};

std::span<const Function> vectormath::functions() { return table; }

const Function& vectormath::function(llvm::StringRef name) {
  for (const Function& f : table)
    if (name == f.name)
      return f;
  llvm::report_fatal_error("no function of that name is tested");
}
