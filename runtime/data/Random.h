// Random arrays that are the same on every machine, with every compiler and any number of threads.
#pragma once

#include "data/Array.h"

#include <string_view>

namespace rnnc::data {

enum class Distribution { Normal, Uniform, Constant };

struct RandomSpec {
  std::string name; ///< of the array
  Distribution distribution = Distribution::Normal;
  /// Normal: mean and standard deviation. Uniform: lower and upper end. Constant: the value.
  double first = 0, second = 0;
  /// Normal: values further from the mean than this are set to that distance; inf: none are.
  double cut = 0;
};

/// "name:normal(0,0.3)", "name:normal(0,0.3,0.9)" (cut at 0.9), "name:uniform(-1,1)",
/// "name:constant(0.5)". Blanks are allowed around names and numbers.
Result<RandomSpec> parseRandom(std::string_view text);

/// Element i depends on the seed, the name, the distribution and i alone. f32 values are the f64
/// ones, rounded.
Result<HostArray> randomArray(const RandomSpec& spec, uint64_t seed, DType dtype,
                              std::vector<int64_t> shape);

/// The normal distribution's value at which the distribution function is u, 0 < u < 1; relative
/// error below 1e-15. Built from +, -, *, / and sqrt alone, which IEEE 754 fixes to the bit.
double normalQuantile(double u);

} // namespace rnnc::data
