//===- random.h - numbers that a seed alone decides -------------------------------------------===//
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace rnnc::generated {

/// SplitMix64: the same numbers on every machine and with every library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 0 to count - 1.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(next() % static_cast<uint64_t>(count));
  }
  int64_t between(int64_t least, int64_t most) { return least + below(most - least + 1); }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }

  template <typename T>
  const T& pick(const std::vector<T>& choices) {
    return choices[below(static_cast<int64_t>(choices.size()))];
  }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<int64_t>(choices.size()))];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[below(static_cast<int64_t>(i))]);
  }
  /// An index, in proportion to the weights.
  size_t weighted(const std::vector<double>& weights) {
    double total = 0;
    for (double weight : weights)
      total += weight;
    double at = uniform(0, total);
    for (size_t i = 0; i + 1 < weights.size(); ++i)
      if ((at -= weights[i]) < 0)
        return i;
    return weights.size() - 1;
  }

private:
  uint64_t state;
};

} // namespace rnnc::generated
