//===- ExpParts.h - the exponential taken apart ===//
//
// exp(x) = 2^n exp(r) exp(-rest), n = round(x / ln 2), |r| <= ln(2) / 2.
//
// n is read off the low bits of `shifted` = n + a large number, so the scale 2^n comes from integer
// operations beside the polynomial and never waits in its way. Likewise `rest`, the part of n ln 2
// that a product with the rounded ln 2 leaves out, at most 3e-7 in f32 and 3e-14 in f64: so small
// that exp(-rest) is 1 - rest. Without fused operations r takes all of ln 2 in, and rest is 0.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Target/Cpu/VectorMath/Expr.h"

namespace rnnc::vecmath {

struct ExpParts {
  Expr shifted; // n + bias + 1.5 * 2^(mantissa bits)
  Expr n;
  Expr r;
};

/// For |x| up to a few times the range of the exponential; other arguments give some number, or
/// NaN. `bias` is added to the n in `shifted`.
ExpParts splitExp(Expr x, int bias);

/// 2^(n + bias - the format's bias), for normal results.
Expr normalScale(Expr shifted);

/// 2^n = first * second, both normal, where `shifted` was made with halvesBias().
struct Halves {
  Expr first, second;
};
int halvesBias(Formula& formula);
Halves halfScales(Expr shifted);

/// exp(r) exp(-rest) = centre + factor * q.
struct CentredExp {
  Expr q, factor;
  double centre;
};
/// `addPower` = p adds 2^p to the result where the shifted n was p: see sigmoid.
CentredExp centredExp(const ExpParts& parts, std::optional<int> addPower = std::nullopt);

/// exp(r) - 1, relatively accurate in itself.
Expr expm1Reduced(Expr r);

} // namespace rnnc::vecmath
