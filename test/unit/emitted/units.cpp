#include "call.hpp"

std::vector<emitted_test::Unit>& emitted_test::units() {
  static std::vector<Unit> all;
  return all;
}
