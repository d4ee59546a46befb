//===- Sweep.h - implementations of a function tried on very many arguments ------------------===//
//
// RNN_SOAK in the environment takes all bit patterns of f32 instead of one out of every `usually`,
// a power of two, and two hundred times as many samples.
//
//===-----------------------------------------------------------------------------------------===//
#pragma once

#include "Functions.h"
#include "Samples.h"

#include <functional>
#include <vector>

namespace elementary {

/// out[i] = f(a[i], b[i]) for n elements, n a multiple of 64; b is unused for one argument.
template <typename T>
using Map = void (*)(const T* a, const T* b, T* out, int64_t n);

/// The largest error seen, in units of the last place, and where.
struct Tally {
  double worst = -1;
  double a = 0, b = 0, got = 0;
  const char* region = "";
  int64_t count = 0, misrounded = 0; // misrounded: not the nearest number

  void merge(const Tally& other);
};

/// A function of one argument on f32's bit patterns, one tally an implementation. The reference is
/// the C library in double precision; MPFR decides where that could be mistaken, and every worst
/// case.
std::vector<Tally> sweepPatterns(const Function& f, const std::vector<Map<float>>& maps,
                                 int64_t usually);

/// On arguments of one kind, all judged by MPFR. Region::kCount: the special values and, for two
/// arguments, all pairs of them.
template <typename T>
std::vector<Tally> sweepRegion(const Function& f, Region region, const std::vector<Map<T>>& maps);

/// On every kind.
template <typename T>
std::vector<Tally> sweepSamples(const Function& f, const std::vector<Map<T>>& maps);

/// Calls `block(arguments, n)` for f32's bit patterns, 4096 at a time, on two threads.
void forPatterns(int64_t usually, const std::function<void(const float* x, int64_t n)>& block);

bool soak();

} // namespace elementary
