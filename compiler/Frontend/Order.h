//===- Order.h - which equation needs which ---------------------------------------------------===//
#pragma once

#include "Frontend/Ast.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>

namespace rnnc {

/// The equations of a cell by the names that they define, for what is to be said of a value that is
/// used before its equation: that the line is in the wrong place, or that the step is implicit.
class EquationOrder {
public:
  explicit EquationOrder(const ast::Cell& cell);

  /// The first equation of a name.
  std::optional<size_t> equationOf(llvm::StringRef name) const;
  /// Whether `from` needs the value of this step that `to` defines, itself or through others.
  bool needs(size_t from, size_t to) const;
  /// The same, where no state's new value stands between the two.
  bool needsWithoutStates(size_t from, size_t to) const;
  const ast::Equation& operator[](size_t i) const { return cell.equations[i]; }

private:
  bool reaches(size_t from, size_t to, bool throughStates) const;

  const ast::Cell& cell;
  llvm::StringMap<size_t> byName;
  llvm::StringSet<> states;
};

} // namespace rnnc
