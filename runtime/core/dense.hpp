// A dense system with its sizes known: what stood for arrays is a list of scalars.
#pragma once

#include "rnn/module.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace rnnc::runtime {

/// Scalars that a lane may have, all its slots together.
inline constexpr int64_t maxDenseScalars = int64_t(1) << 22;

struct DenseSystem {
  rnn_system_desc desc{}; ///< with the lists below; what nothing but the kernel needs is left out
  std::vector<rnn_slot> states, inputs, params, outputs;
  std::vector<rnn_slot> shared;       ///< params without a lane axis, as in the table
  std::vector<int64_t> sharedOffsets; ///< of each of them, and at the end their size, in numbers
  std::vector<int64_t> blockSizes;
  std::vector<rnn_carry_place> carry; ///< of a diagonal
  int64_t scratch = 0;                ///< numbers a column
};

/// `tensorSizes`: of every tensor of the table. Throws where there would be too many scalars.
std::shared_ptr<const DenseSystem> expandDense(const rnn_system_desc& system,
                                               const std::vector<std::vector<int64_t>>& tensorSizes,
                                               std::vector<int64_t> blockSizes);

} // namespace rnnc::runtime
