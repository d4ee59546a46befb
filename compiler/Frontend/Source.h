//===- Source.h - reading no more of a file than is allowed -----------------------------------===//
#pragma once

#include "rnnc/Frontend.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <string>

namespace rnnc {

/// Bytes that texts may have altogether: offsets have 32 bits.
int64_t sourceLimit(const Limits& limits);

/// Everything of an open file or pipe, or one byte past the limit.
llvm::Expected<std::string> readText(llvm::sys::fs::file_t file, int64_t limit);

} // namespace rnnc
