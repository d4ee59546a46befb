// A stage that is a matrix product over all steps.
#pragma once

#include "cpu/columns.hpp"

namespace rnnc::runtime::cpu {

/// Every element is a chain of multiply-adds in the order of the contracted axis: the same bits for
/// every number of steps and threads, and in every layout.
template <class F>
class Product {
public:
  /// Of all weights together, in the kernel's layout.
  static int64_t packedBytes(const ProductPlan& product);
  /// What one thread needs.
  static int64_t sliceBytes(const ProductPlan& product);

  /// Brings the weights into that layout.
  static void pack(const Call& call, const StagePlan& stage, char* packed);

  /// `packed` and `slices` have that room, `slices` for each thread. Packs the weights itself
  /// unless `packed` holds them.
  static void run(const Call& call, const StagePlan& stage, char* packed, bool isPacked,
                  char* slices, int64_t bytesEach);
};

} // namespace rnnc::runtime::cpu
