//===- Policy.h - how a system is laid on a multiprocessor -----------------------------------===//
#pragma once

#include "Target/Cuda/Architecture.h"

#include <string>
#include <vector>

namespace rnnc::cuda {

/// What the choice depends on: the numbers of scalars a lane, and the bytes of one.
struct SystemShape {
  int64_t states, inputs, params, outputs;
  int64_t stored; ///< states that a caller may want as a sequence
  int64_t carry;  ///< numbers of a product of Jacobians; 0 where there is none
  int64_t bytes;  ///< 4 or 8
  /// Of each input: the first input that reads the same array, and how many steps ago. Empty: none
  /// is of an earlier step.
  std::vector<int> source = {}, back = {};

  /// What a chunk of so many steps keeps of the inputs (runtime/device/windows.cuh).
  int64_t inputRows(int64_t steps) const;
};

/// Where a tile's inputs and results are while its sweeps go on; as rnn::staging.
enum class Staging { Registers, Shared, SharedSingle };

/// What the user asks for; what is not there is left to the rule.
struct PolicyRequest {
  int64_t chunk = 0, chunks = 0;
  bool sequential = false, parallel = false;
  bool registers = false; ///< stage in registers, with the chunk loop unrolled
};

/// A block is `lanes` threads by `chunks` warps; a tile is `chunks` times `steps` of time.
struct Policy {
  int64_t lanes = 32;
  int64_t chunks = 1; ///< W; 1 is the sequential kernel
  int64_t steps = 1;  ///< C; of the sequential kernel the steps whose inputs are read ahead
  Staging stage = Staging::Registers;
  int64_t blocks = 1;      ///< that the launch bounds keep resident on a multiprocessor
  int64_t sharedBytes = 0; ///< dynamic shared memory of a block

  int64_t threads() const { return lanes * chunks; }
  /// The most registers that the launch bounds leave a thread.
  int64_t registers() const;
};

/// The policy for a system on an architecture; an error where the request cannot be met.
llvm::Expected<Policy> choosePolicy(const Architecture& arch, const SystemShape& shape,
                                    const PolicyRequest& request);

} // namespace rnnc::cuda
