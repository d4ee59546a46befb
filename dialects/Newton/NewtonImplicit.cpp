//===- NewtonImplicit.cpp - what makes an implicit equation well-formed ----------------------===//

#include "Newton/Newton.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace rnnc::newton;

LogicalResult ImplicitOp::verify() {
  size_t m = getUnknowns().size();
  if (m == 0)
    return emitOpError("solves for one state at least");
  if (getStarts().size() != m || getSolutions().size() != m)
    return emitOpError("has a start and a solution for each unknown");
  for (Type type : llvm::concat<const Type>(SmallVector<Type>(getStarts().getTypes()),
                                            SmallVector<Type>(getSolutions().getTypes())))
    if (type != getStarts().front().getType())
      return emitOpError("computes in one type");
  return success();
}

LogicalResult ImplicitOp::verifyRegions() {
  Type compute = getStarts().front().getType();
  auto check = [&](Region& region, int64_t numbers, int64_t results,
                   StringRef what) -> LogicalResult {
    if (!region.hasOneBlock())
      return emitOpError() << what << " is one block";
    SmallVector<Type> expected(numbers, compute);
    llvm::append_range(expected, getCaptures().getTypes());
    if (!llvm::equal(region.getArgumentTypes(), expected))
      return emitOpError() << what << " takes " << numbers << " numbers, then what is given";
    auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
    if (!yield || static_cast<int64_t>(yield.getNumOperands()) != results ||
        llvm::any_of(yield.getOperandTypes(), [&](Type type) { return type != compute; }))
      return emitOpError() << what << " yields " << results << " numbers";
    return success();
  };
  if (failed(check(getResidual(), numUnknowns(), numUnknowns(), "residual")))
    return failure();
  return hasTrial() ? check(getTrial(), numCarried(), numCarried() + 1, "trial") : success();
}

SmallVector<double> ImplicitOp::searchStart() {
  SmallVector<double> numbers(numUnknowns(), 0);
  numbers.append({INFINITY, -1});
  numbers.append(numCarried() - 2 * numUnknowns() - 2, NAN);
  return numbers;
}

bool SystemOp::hasImplicit() {
  auto implicit = stepBlock().getOps<ImplicitOp>();
  return implicit.begin() != implicit.end();
}
