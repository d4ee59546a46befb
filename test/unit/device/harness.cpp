#include "harness.hpp"

#include <sstream>

namespace device_test {

std::string describe(const setting& s) {
  std::ostringstream text;
  text << "batch " << s.batch << ", time " << s.time << ", lanes";
  for (long long n : s.lanes) {
    text << " " << n;
  }
  text << ", layout " << static_cast<int>(s.how) << ", tolerance " << s.tolerance << ", blocks "
       << s.blocks << ", order " << s.order << (s.strange ? ", strange numbers" : "");
  return text.str();
}

} // namespace device_test
