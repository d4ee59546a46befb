//===- Trig.cpp - sin, cos and tan -----------------------------------------------------------===//

#include "Target/Cpu/VectorMath/QuarterTurns.h"

#include <limits>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::vecmath;
using llvm::ArrayRef;

namespace {

struct SineCosine {
  Expr sine, cosine;
};

} // namespace

/// Of an angle within an eighth of a turn and a little more.
static SineCosine ofSmall(Expr r) {
  Formula& f = r.in();
  Expr square = r * r;
  Expr p = polynomial(square, f.terms<sine_tail_f32, sine_tail_f64>());
  Expr q = polynomial(square, f.terms<cosine_tail_f32, cosine_tail_f64>());
  return {fma(square * r, p, r), fma(square * square, q, fma(square, -0.5, r.like(1.0)))};
}

static Expr isOdd(Expr quarters) { return (quarters & 1) != 0; }

/// The sign bit where the number of quarter turns is 2 or 3 modulo 4.
static Expr turnedSign(Expr quarters) { return (quarters & 2) << quarters.in().pick(30, 62); }

static Expr sine(Expr x) {
  QuarterTurns turns = reduceAngle(x);
  SineCosine of = ofSmall(turns.r);
  Expr y = flipSign(select(isOdd(turns.count), of.cosine, of.sine), turnedSign(turns.count));
  return select(x == 0.0, x, y); // the sum r + r^3 p loses the sign of a zero
}

static Expr cosine(Expr x) {
  QuarterTurns turns = reduceAngle(x);
  SineCosine of = ofSmall(turns.r);
  return flipSign(select(isOdd(turns.count), of.sine, of.cosine), turnedSign(turns.count + 1));
}

static Expr tangent(Expr x) {
  QuarterTurns turns = reduceAngle(x);
  SineCosine of = ofSmall(turns.r);
  Expr odd = isOdd(turns.count);
  Expr y = select(odd, of.cosine, of.sine) / select(odd, of.sine, of.cosine);
  return select(x == 0.0, x, flipSign(y, turns.count << x.in().pick(31, 63)));
}

Value rnnc::emitSin(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, sine);
}

Value rnnc::emitCos(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, cosine);
}

Value rnnc::emitTan(OpBuilder& b, Location loc, Value x, VectorMathOptions options) {
  return build(b, loc, x, options, tangent);
}
