//===- CellHints.cpp - save, recompute and solve { } ------------------------------------------===//

#include "Frontend/CellBuilder.h"

#include <cmath>

using namespace mlir;
using namespace rnnc;
using namespace rnnc::ast;

/// A hint names something that an equation of the step defines, once.
bool CellBuilder::checkHint(const Hint& hint, llvm::StringMap<bool>& known) {
  std::string id = "'" + hint.name.str() + "'";
  auto [earlier, fresh] = known.try_emplace(hint.name, hint.save);
  if (!fresh) {
    error(hint.span, "RNN0132",
          earlier->second == hint.save ? id + " is named twice"
                                       : id + " cannot be both saved and recomputed");
    return false;
  }
  if (equations.isDefined(hint.name))
    return true;
  Declared* declared = scope.find(hint.name);
  if (scope.isLost(hint.name) || (declared && isWritten(*declared->decl)))
    return false; // reported already
  if (declared) {
    error(hint.span, "RNN0132", id + " is no value of the step: nothing computes it",
          "save and recompute name what an equation defines");
    return false;
  }
  std::vector<std::string> names;
  for (const Equation& eq : cell.equations)
    names.push_back(eq.name.str());
  llvm::sort(names);
  error(hint.span, "RNN0110", id + " is not defined", didYouMean(hint.name, names));
  return false;
}

void CellBuilder::takeHints(rnn::CellOp op) {
  llvm::StringMap<bool> known; // whether it is saved
  SmallVector<Attribute> saved, recomputed;
  for (const Hint& hint : cell.hints)
    if (checkHint(hint, known))
      (hint.save ? saved : recomputed).push_back(builder.getStringAttr(hint.name));
  if (!saved.empty())
    op.setSaveAttr(builder.getArrayAttr(saved));
  if (!recomputed.empty())
    op.setRecomputeAttr(builder.getArrayAttr(recomputed));
}

/// False after a message.
bool CellBuilder::takeSetting(const Setting& setting, rnn::CellOp op) {
  auto fail = [&](std::string text, std::string hint = "") {
    error(setting.span, "RNN0133", "'" + setting.name.str() + "' " + text, std::move(hint));
    return false;
  };
  bool isTolerance = setting.name == "tolerance", isSweeps = setting.name == "max_sweeps";
  if (!isTolerance && !isSweeps && setting.name != "chunk") {
    std::string hint = didYouMean(setting.name, {"chunk", "max_sweeps", "tolerance"});
    return fail("is no setting of the solve",
                hint.empty() ? "there are tolerance, max_sweeps and chunk" : hint);
  }
  if (isTolerance ? op.getToleranceAttr() != nullptr
                  : (isSweeps ? op.getMaxSweepsAttr() : op.getChunkAttr()) != nullptr)
    return fail("is set twice");
  std::optional<double> value = evaluateConstant(setting.value, scope, diagnostics);
  if (!value)
    return false;
  if (isTolerance) {
    if (!std::isfinite(*value) || *value < 0)
      return fail("is a finite number, 0 or more");
    op.setToleranceAttr(builder.getF64FloatAttr(*value));
    return true;
  }
  constexpr double kMost = 1e9;
  if (*value != std::floor(*value) || *value < 1 || *value > kMost)
    return fail("is a whole number from 1 to 1000000000");
  IntegerAttr number = builder.getI64IntegerAttr(static_cast<int64_t>(*value));
  isSweeps ? op.setMaxSweepsAttr(number) : op.setChunkAttr(number);
  return true;
}

void CellBuilder::takeSettings(rnn::CellOp op) {
  const Setting* sweeps = nullptr;
  for (const Setting& setting : cell.settings)
    if (takeSetting(setting, op) && setting.name == "max_sweeps")
      sweeps = &setting;
  if (sweeps && op.getTolerance() && op.getTolerance()->isZero())
    error(sweeps->span, "RNN0133", "'max_sweeps' needs a tolerance above 0",
          "at tolerance 0 the sweeps end when every bit agrees");
}
