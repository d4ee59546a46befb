//===- GatherDelayed.cpp - the gradient of an input that later steps read ---------------------===//
//
// The derivative by x[t] is what step t owes to it as x[t], and what step t+n owes to it as x[t-n].
// An adjoint computes each part at the step that owes it; here they meet.
//
//===----------------------------------------------------------------------------------------------===//

#include "Analysis/Adjoint.h"
#include "Transforms/ArrayExpr.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"

namespace rnnc {
#define GEN_PASS_DEF_GATHERDELAYED
#include "Transforms/Passes.h.inc"
} // namespace rnnc

using namespace mlir;
using namespace rnnc;
using namespace rnnc::rnn;

namespace {
/// What steps owe to the input of so many steps ago.
struct Part {
  int64_t back;
  OutputOp output;
};
} // namespace

/// The output becomes an array of the name `d.x.backN`.
static HoistedOp hide(CellOp cell, Part part, StringRef gradient) {
  std::string name = (gradient + ".back" + Twine(part.back)).str();
  auto type = cast<ArrayType>(part.output.getType());
  cell.walk([&](SetOutputOp set) {
    if (set.getName() == part.output.getSymName())
      set.setName(name);
  });
  OpBuilder b(part.output);
  auto array = HoistedOp::create(b, part.output.getLoc(), Phase::After, name, type, name);
  part.output.erase();
  return array;
}

static void gather(CellOp cell, StringAttr input, MutableArrayRef<Part> parts) {
  llvm::sort(parts, [](const Part& a, const Part& b) { return a.back < b.back; });
  MLIRContext* context = cell.getContext();
  Location loc = cell.getLoc();
  std::string gradient = ("d." + input.getValue()).str();
  auto type = cast<ArrayType>(parts.front().output.getType());
  OpBuilder decls(cell.getStep());
  OpBuilder end = OpBuilder::atBlockEnd(&cell.getBody().front());
  auto stage = StageOp::create(end, loc, Phase::After);
  OpBuilder b = OpBuilder::atBlockEnd(&stage.getBody().emplaceBlock());
  ArrayExpr sum{&b, loc, Value()};
  for (const Part& part : parts) {
    HoistedOp array = hide(cell, part, gradient);
    ArrayExpr read =
        sum.with(InputAtOp::create(b, loc, type, array.getSymName(), uint64_t(part.back)));
    sum = sum.value ? sum + read : read;
  }
  auto output = OutputOp::create(decls, loc, gradient, type);
  output->setAttr(kOfAttr, OfAttr::get(context, Relation::Gradient, input, 0));
  SetOutputOp::create(b, loc, gradient, sum.value);
}

namespace {
struct GatherDelayed : rnnc::impl::GatherDelayedBase<GatherDelayed> {
  void runOnOperation() override {
    for (CellOp cell : getOperation().getOps<CellOp>()) {
      llvm::MapVector<StringAttr, SmallVector<Part>> byInput;
      for (auto output : cell.decls<OutputOp>())
        if (auto of = output->getAttrOfType<OfAttr>(kOfAttr);
            of && of.getRelation() == Relation::Gradient)
          byInput[of.getName()].push_back({of.getBack(), output});
      for (auto& [input, parts] : byInput)
        if (parts.size() > 1 || parts.front().back > 0)
          gather(cell, input, parts);
    }
  }
};
} // namespace
