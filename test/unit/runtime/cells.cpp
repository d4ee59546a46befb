#include "cells.hpp"

#include <stdexcept>

namespace rnnc::test {

const std::vector<CellInfo>& allCells() {
  static const std::vector<CellInfo> cells = {
      makeCell<ParaGru>("paragru"),
      makeCell<ParaLstm>("paralstm"),
      makeCell<Ladder>("ladder"),
      makeCell<Triangular>("triangular"),
      makeCell<Uncoupled>("uncoupled"),
      makeCell<Logistic>("logistic"),
      makeCell<Ema>("ema"),
      makeCell<CumulativeSum>("cumulative_sum"),
      makeCell<Explosive>("explosive"),
  };
  return cells;
}

const CellInfo& cellNamed(const char* name) {
  for (const CellInfo& cell : allCells()) {
    if (std::strcmp(cell.name, name) == 0) {
      return cell;
    }
  }
  throw std::runtime_error(name);
}

} // namespace rnnc::test
