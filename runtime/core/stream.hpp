// What a streaming state keeps from one call to the next.
#pragma once

#include <cstdint>
#include <vector>

namespace rnnc::runtime {

struct Plan;

/// Where a stream's numbers lie, in numbers of the compute type. The same for every plan of a
/// module with the same dims and batch, and without padding, so that they can be stored.
struct StreamLayout {
  std::vector<int64_t> states;   ///< of each system: [states][lanes]
  std::vector<int64_t> steps;    ///< of each tensor: how many steps ago the cell reads it; 0: never
  std::vector<int64_t> elements; ///< ... and how many it has at one step of one batch element
  std::vector<int64_t> history;  ///< ... and where: [batch][steps][elements], step t at t mod steps
  std::vector<std::vector<int64_t>> strides; ///< ... and those of its dims there
  int64_t numbers = 0;                       ///< all of them
  uint64_t fingerprint = 0;                  ///< of everything that they depend on
};

StreamLayout layoutStream(const Plan& plan);

/// In front of a stream's numbers.
struct StreamHeader {
  static constexpr uint64_t magicValue = 0x524e4e5354415445u; // not the same the other way round
  uint64_t magic, fingerprint;
  int64_t time; ///< steps taken
};

} // namespace rnnc::runtime
