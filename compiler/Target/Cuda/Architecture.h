//===- Architecture.h - the limits of CUDA's architectures -----------------------------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace rnnc::cuda {

/// What one multiprocessor has, from the tables of the CUDA C++ programming guide ("technical
/// specifications per compute capability").
struct Architecture {
  const char* name;       ///< "sm_90"
  int number;             ///< 90
  int64_t sharedPerSm;    ///< bytes of shared memory of a multiprocessor
  int64_t sharedPerBlock; ///< bytes that one block may have, with the opt-in of the launch
  int warps;              ///< resident warps of a multiprocessor
  int blocks;             ///< resident blocks
  static constexpr int64_t kRegisters = 65536;       ///< of a multiprocessor, everywhere
  static constexpr int64_t kReservedPerBlock = 1024; ///< shared memory that CUDA keeps of a block
  static constexpr int kSchedulers = 4;              ///< each issues one warp's instruction a cycle

  bool hasAsyncCopies() const { return number >= 80; }
};

/// The architecture of that name; an error that lists the names for any other.
llvm::Expected<Architecture> findArchitecture(llvm::StringRef name);

/// All names, oldest first, separated by commas.
std::string architectureNames();

} // namespace rnnc::cuda
