//===- Build.h - from a cell to a program ----------------------------------------------------===//
#pragma once

#include "Program.h"

#include "llvm/ADT/Twine.h"

namespace rnnc {

/// Fills `program` for the cell with its free dims bound.
llvm::Error buildProgram(rnn::CellOp cell, const std::map<std::string, int64_t>& dims,
                         Interpreter::Program& program);

/// Elements of an array.
size_t countOf(const std::vector<int64_t>& shape);

llvm::Error interpreterError(const llvm::Twine& text);

} // namespace rnnc
