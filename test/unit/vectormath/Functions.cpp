//===- Functions.cpp - what is tested, against what, to which bound ===//

#include "Functions.h"

#include "Newton/Newton.h"

#include "mlir/Dialect/Math/IR/Math.h"

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

using F = Function;
static const Function table[] = {
    {"exp",
     one<math::ExpOp>,
     false,
     libm<std::exp>,
     mpfr<mpfr_exp>,
     F::kNone,
     {1.3, 1.3, 1.3, 1.3}},
    {"tanh", one<math::TanhOp>, false, libm<std::tanh>, mpfr<mpfr_tanh>, F::kOdd, {2, 2, 2.2, 2.2}},
    {"sigmoid",
     typed<rnnc::newton::SigmoidOp>,
     false,
     sigmoid,
     exactSigmoid,
     F::kNone,
     {2, 2, 2, 2}},
    {"log", one<math::LogOp>, false, libm<std::log>, mpfr<mpfr_log>, F::kNone, {1, 1, 1, 1}},
    {"log1p", one<math::Log1pOp>, false, libm<std::log1p>, mpfr<mpfr_log1p>, F::kNone, {2, 2, 2, 2}},
    {"sin", one<math::SinOp>, false, libm<std::sin>, mpfr<mpfr_sin>, F::kOdd, {2, 2, 2, 2}},
    {"cos", one<math::CosOp>, false, libm<std::cos>, mpfr<mpfr_cos>, F::kEven, {2, 2, 2, 2}},
    {"tan", one<math::TanOp>, false, libm<std::tan>, mpfr<mpfr_tan>, F::kOdd, {4, 4, 4, 4}},
};

std::span<const Function> vectormath::functions() { return table; }

const Function& vectormath::function(llvm::StringRef name) {
  for (const Function& f : table)
    if (name == f.name)
      return f;
  llvm::report_fatal_error("no function of that name is tested");
}
