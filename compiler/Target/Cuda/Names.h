//===- Names.h - CUDA's names for the user's names -------------------------------------------===//
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>

namespace rnnc::cuda {

/// A user's name as an identifier of CUDA C++: Greek letters are spelled out, `z[2, 0]` becomes
/// `z_2_0`, names that C++ keeps for itself lose what makes them so. May still be a reserved word.
std::string spell(llvm::StringRef name);

/// The names of one scope of a printed unit. None is a word of C++, of CUDA or of the unit's own
/// text, and none is given twice.
class NameScope {
public:
  /// `wanted` as it is spelled, or with `_2`, `_3`, ... after it.
  std::string unique(llvm::StringRef wanted);
  /// Takes a name out of the scope.
  void reserve(llvm::StringRef name) { taken.insert(name); }

private:
  llvm::StringSet<> taken;
  llvm::StringMap<int> lastSuffix; // so that many names alike stay linear
};

} // namespace rnnc::cuda
