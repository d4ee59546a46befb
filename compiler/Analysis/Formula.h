//===- Formula.h - scalar IR as math in the user's names -------------------------------------===//
#pragma once

#include "Newton/Newton.h"

#include <string>

namespace rnnc {

/// The value as a formula. Values that the user named stand by their names, everything else is
/// written out, and with `expand` the value itself too; text beyond `limit` characters ends in
/// "...".
std::string formula(mlir::Value value, newton::SystemOp system, bool expand = false,
                    size_t limit = 400);

/// The definitions of the named values in a block, in order, as `z = sigmoid(a_z * h[t-1] +
/// x_z[t])`.
std::vector<std::string> definitions(mlir::Block& block, newton::SystemOp system);

/// A slot's scalar at a time, `[t]` or `[t-1]`: h[t-1], c[t][2].
std::string slotAtTime(newton::SlotAttr slot, llvm::StringRef time);

} // namespace rnnc
