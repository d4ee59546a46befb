#include "suite.hpp"

using namespace device_test;
using rnn::staging;

namespace {

template <class real>
using gru = cells::gru<real, rnn::polynomial<real>>;

TEST(Gru, Sequential) {
  check_exact<gru<float>, policy<64, 1, 4>>();
  check_exact<gru<double>, policy<32, 1, 3>>();
}
TEST(Gru, Registers) {
  check_exact<gru<float>, policy<32, 4, 4>>();
  check_exact<gru<double>, policy<32, 3, 5>>();
}
TEST(Gru, Shared) {
  check_exact<gru<float>, policy<32, 8, 16, staging::shared>>();
  check_exact<gru<double>, policy<32, 5, 7, staging::shared>>();
}
TEST(Gru, SharedSingle) {
  check_exact<gru<float>, policy<32, 2, 9, staging::shared_single>>();
  check_exact<gru<double>, policy<32, 16, 2, staging::shared_single>>();
}
TEST(Gru, Tolerance) {
  check_tolerance<gru<float>, policy<32, 4, 4>>(4);
  check_tolerance<gru<double>, policy<32, 5, 7, staging::shared>>(4);
}
TEST(Gru, Long) {
  setting s;
  s.time = 4097;
  s.lanes = {33};
  s.batch = 1;
  problem<gru<float>, 1>(s).check<policy<32, 8, 16, staging::shared>>();
}

} // namespace
