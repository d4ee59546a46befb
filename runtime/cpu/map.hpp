// A stage that is a map: a system without states, whose steps do not depend on each other.
#pragma once

#include "cpu/columns.hpp"

namespace rnnc::runtime::cpu {

template <class F>
class Map {
public:
  /// Measures or carves what one thread needs.
  static int64_t sliceBytes(const StagePlan& stage);

  /// Runs it over all of the stage's steps on all threads; `slices` has that room for each. Packs
  /// shared params itself unless `packed` holds them.
  static void run(const Call& call, const StagePlan& stage, F* packed, bool isPacked, char* slices,
                  int64_t bytesEach);
};

} // namespace rnnc::runtime::cpu
