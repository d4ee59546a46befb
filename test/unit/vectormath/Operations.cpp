//===- Operations.cpp - the operations tested, and to which bound ----------------------------===//

#include "Operations.h"

#include "Newton/Newton.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/ErrorHandling.h"

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

std::span<const vectormath::Operation> vectormath::operations() {
  static const vectormath::Operation table[] = {
      {elementary::function("exp"), one<math::ExpOp>, {1.4, 1.4, 1.4, 1.4}},
      {elementary::function("expm1"), one<math::ExpM1Op>, {1.8, 1.8, 2.2, 2.2}},
      {elementary::function("log"), one<math::LogOp>, {1, 1, 1, 1}},
      {elementary::function("log1p"), one<math::Log1pOp>, {1.5, 1.5, 1.6, 1.6}},
      {elementary::function("tanh"), one<math::TanhOp>, {2, 2, 2.3, 2.3}},
      {elementary::function("sigmoid"), typed<rnnc::newton::SigmoidOp>, {2, 2, 2.1, 2.1}},
      {elementary::function("softplus"), typed<rnnc::newton::SoftplusOp>, {1.8, 1.8, 2, 2}},
      {elementary::function("sin"), one<math::SinOp>, {1.6, 1.6, 1.8, 1.8}},
      {elementary::function("cos"), one<math::CosOp>, {1.6, 1.6, 1.8, 1.8}},
      {elementary::function("tan"), one<math::TanOp>, {3.8, 3.8, 4, 4}},
      {elementary::function("asin"), one<math::AsinOp>, {2.4, 2.4, 2.5, 2.5}},
      {elementary::function("acos"), one<math::AcosOp>, {1.2, 1.2, 1.3, 1.3}},
      {elementary::function("atan"), one<math::AtanOp>, {1.9, 1.9, 2, 2}},
      {elementary::function("sinh"), one<math::SinhOp>, {2, 2.1, 2.5, 2.5}},
      {elementary::function("cosh"), one<math::CoshOp>, {1.9, 1.9, 2, 2}},
      {elementary::function("erf"), one<math::ErfOp>, {1, 1.3, 3.5, 3.5}},
      {elementary::function("rsqrt"), one<math::RsqrtOp>, {1.5, 1.5, 1.5, 1.5}},
      {elementary::function("sign"), typed<rnnc::newton::SignOp>, {0, 0, 0, 0}},
      {elementary::function("atan2"), two<math::Atan2Op>, {2.5, 2.5, 2.5, 2.5}},
      {elementary::function("pow"), two<math::PowFOp>, {0.51, 0.51, 2, 2}},
  };
  return table;
}

const vectormath::Operation& vectormath::operation(llvm::StringRef name) {
  for (const vectormath::Operation& op : operations())
    if (name == op.function.name)
      return op;
  llvm::report_fatal_error("no function of that name is tested");
}
