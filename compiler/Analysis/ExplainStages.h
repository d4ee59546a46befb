//===- ExplainStages.h - what was moved out of the recurrence, as text -----------------------===//
#pragma once

#include "Newton/Newton.h"

#include <string>
#include <vector>

namespace rnnc {

/// One stage: what it sets, as equations, and what a step of one batch element costs (a call, in
/// phase `call`), in multiply-adds and in numbers that are read and written. Functions and sums of
/// maps are not counted. Negative where a size is not known.
struct StageText {
  newton::Phase phase;
  bool isProduct = false;
  std::vector<std::string> equations;
  double multiplyAdds = 0, numbers = 0;
};

/// `sizeOf` gives the size of a free dim by its name, or -1.
std::vector<StageText> stageTexts(newton::CellOp cell,
                                  llvm::function_ref<int64_t(llvm::StringRef)> sizeOf);

/// The same as lines for a reader; empty where nothing was moved.
std::string explainStages(newton::CellOp cell, llvm::function_ref<int64_t(llvm::StringRef)> sizeOf);

} // namespace rnnc
