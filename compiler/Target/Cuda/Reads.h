//===- Reads.h - which arrays the inputs of a system read, and how many steps ago ------------===//
#pragma once

#include "Newton/Newton.h"
#include "Target/Cuda/LineWriter.h"

#include <string>
#include <vector>

namespace rnnc::cuda {

/// Of each input of a system, in order; all empty where no input is of an earlier step.
struct InputReads {
  std::vector<int> source;  ///< the first input that reads the same array
  std::vector<int> back;    ///< how many steps ago
  std::vector<double> fill; ///< what the array is before step 0
};

InputReads readsOf(newton::CellOp cell, mlir::ArrayAttr inputs);

/// Writes what a cell of runtime/device/forward.cuh or dense.cuh says of its reads: nothing where
/// no input is of an earlier step.
void printReads(const InputReads& reads, LineWriter& out);

/// The name of a slot read `back` steps after it was written: `h` one step back is h_prev, two
/// steps back h_prev2.
std::string slotName(newton::SlotAttr slot, int64_t back);

} // namespace rnnc::cuda
