//===- PrintCell.h - a prepared system as a struct of CUDA C++ -------------------------------===//
#pragma once

#include "Target/Cuda/LineWriter.h"
#include "Target/Cuda/Prepare.h"

namespace rnnc::cuda {

/// Writes the struct: its sizes, its patterns, step and step_jacobian. Cannot fail.
void printCell(PreparedSystem& system, LineWriter& out);

} // namespace rnnc::cuda
