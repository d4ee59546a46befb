// An example's arrays, drawn, laid out row-major, and solved by the float64 interpreter.
#pragma once

#include "call.hpp"

#include <memory>
#include <string>

namespace emitted_test {

class Oracle {
public:
  /// `file` holds the cell; slots are those of its system of that name.
  Oracle(const std::string& file, const std::string& system, bool isDouble);
  ~Oracle();

  /// Why it could not be made; empty where it could.
  const std::string& error() const;

  /// Draws inputs, params and initial states; results are NaN until a kernel writes them. Valid
  /// until the next draw.
  Call draw(long long batch, long long time, unsigned seed);

  /// The first result of the system in the last call that is further than `bound` * (1 + |b|) from
  /// the interpreter's b; empty where none is.
  std::string firstDifference(double bound) const;

private:
  struct State;
  std::unique_ptr<State> s;
};

} // namespace emitted_test
