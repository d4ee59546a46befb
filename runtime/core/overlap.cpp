#include "core/overlap.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace rnnc::runtime {
namespace {

int64_t floorMod(int64_t a, int64_t period) {
  const int64_t rest = a % period;
  return rest < 0 ? rest + period : rest;
}

// Where the elements lie modulo `period`: from `first` on, over `length` bytes. False where that is
// not one interval shorter than the period.
bool windowModulo(const Footprint& f, int64_t period, int64_t& first, int64_t& length) {
  first = f.base;
  length = f.elementSize;
  for (uint32_t a = 0; a < f.rank; ++a) {
    if (f.stride[a] % period == 0) {
      continue;
    }
    const int64_t span = (f.size[a] - 1) * f.stride[a];
    first += std::min<int64_t>(span, 0);
    length += std::abs(span);
  }
  first = floorMod(first, period);
  return length <= period;
}

bool apartModulo(const Footprint& a, const Footprint& b, int64_t period) {
  int64_t firstA, lengthA, firstB, lengthB;
  if (!windowModulo(a, period, firstA, lengthA) || !windowModulo(b, period, firstB, lengthB)) {
    return false;
  }
  const int64_t gap = floorMod(firstB - firstA, period); // from A's start up to B's
  return gap >= lengthA && gap + lengthB <= period;
}

} // namespace

bool makeFootprint(const rnn_tensor& tensor, int64_t elementSize, Footprint& out) {
  out = Footprint{};
  out.elementSize = elementSize;
  out.base = reinterpret_cast<intptr_t>(tensor.data);
  int64_t low = 0, high = 0;
  bool empty = false;
  for (uint32_t a = 0; a < tensor.rank; ++a) {
    empty |= tensor.shape[a] == 0;
  }
  if (empty) {
    return true;
  }
  for (uint32_t a = 0; a < tensor.rank; ++a) {
    if (tensor.shape[a] == 1) {
      continue;
    }
    int64_t stride, span;
    if (__builtin_mul_overflow(tensor.strides[a], elementSize, &stride) ||
        __builtin_mul_overflow(stride, tensor.shape[a] - 1, &span) ||
        __builtin_add_overflow(span < 0 ? low : high, span, span < 0 ? &low : &high)) {
      return false;
    }
    out.size[out.rank] = tensor.shape[a];
    out.stride[out.rank] = stride;
    ++out.rank;
  }
  return !__builtin_add_overflow(out.base, low, &out.low) &&
         !__builtin_add_overflow(high, elementSize, &high) &&
         !__builtin_add_overflow(out.base, high, &out.high);
}

bool elementsAreApart(const Footprint& footprint) {
  if (footprint.empty()) {
    return true;
  }
  uint32_t order[RNN_MAX_RANK + 2];
  std::iota(order, order + footprint.rank, 0u);
  std::sort(order, order + footprint.rank, [&](uint32_t a, uint32_t b) {
    return std::abs(footprint.stride[a]) < std::abs(footprint.stride[b]);
  });
  int64_t span = footprint.elementSize;
  for (uint32_t i = 0; i < footprint.rank; ++i) {
    const int64_t stride = std::abs(footprint.stride[order[i]]);
    if (stride < span) {
      return false;
    }
    span += (footprint.size[order[i]] - 1) * stride;
  }
  return true;
}

bool areApart(const Footprint& a, const Footprint& b) {
  if (a.empty() || b.empty() || a.high <= b.low || b.high <= a.low) {
    return true;
  }
  for (const Footprint* f : {&a, &b}) {
    for (uint32_t i = 0; i < f->rank; ++i) {
      if (f->stride[i] != 0 && apartModulo(a, b, std::abs(f->stride[i]))) {
        return true;
      }
    }
  }
  return false;
}

} // namespace rnnc::runtime
