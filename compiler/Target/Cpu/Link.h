//===- Link.h - objects into one file --------------------------------------------------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace rnnc {

enum class LinkKind {
  Relocatable, ///< one object of many
  Shared,      ///< a library without a library behind it
};

/// The bytes of the linked file. Links with lld in this process: no linker is looked for.
llvm::Expected<std::string> link(llvm::ArrayRef<std::string> objects, LinkKind kind);

} // namespace rnnc
