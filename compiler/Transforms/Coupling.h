//===- Coupling.h - the term that makes a block large ----------------------------------------===//
#pragma once

#include "mlir/IR/Location.h"

#include <optional>
#include <string>

namespace rnnc {

/// Which term couples the states of a block that is too large for a full Jacobian, and what would
/// help. Whether that is worth a warning is known once the Jacobian is derived; until then the
/// system carries it.
struct Coupling {
  mlir::Location at;
  std::string text, note;

  void warn() const;
  void attachTo(mlir::Operation* system) const;
  /// What a system carries, taken off it.
  static std::optional<Coupling> takeFrom(mlir::Operation* system);
};

} // namespace rnnc
