//===- rows.h - what every built-in function is, at points ------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace rnnc::test {

/// A call at a point. `partials` are those by each argument; of a reduction the arguments are the
/// elements along its axis, and the value of softmax is its first element.
struct Row {
  const char* function;
  std::vector<double> at;
  double value;
  std::vector<double> partials; // empty: not looked at
};

/// Ordinary points: the value.
const std::vector<Row>& valueRows();
/// Ordinary points: the derivatives, by formulas other than the compiler's.
const std::vector<Row>& derivativeRows();
/// 0, the infinities, NaN and the kinks.
const std::vector<Row>& limitRows();

/// How the call is written with the arguments a, b, c; "name(a, b)" where it is nothing special.
/// The complex number of "re", "exp z" and the like is a + ib, and what is looked at a part of
/// theirs.
std::string callText(const std::string& function, size_t arguments);
/// Whether the arguments are vectors; those of the rows have one element.
bool takesVectors(const std::string& function);
/// Whether a row's arguments are the elements along one axis. min and max are both: their rows as
/// reductions are called "min of" and "max of".
bool isReduction(const std::string& function);

} // namespace rnnc::test
