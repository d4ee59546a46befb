// Blocks, hidden states, outputs, patterns, no inputs or parameters, in both number types.
#include "suite.hpp"

using namespace device_test;
using rnn::staging;

namespace {

template <template <class, class> class Cell, class real>
using with = Cell<real, rnn::polynomial<real>>;

TEST(Lstm, Exact) {
  check_exact<with<cells::lstm, float>, policy<96, 1, 2>>();
  check_exact<with<cells::lstm, float>, policy<32, 4, 3>>();
  check_exact<with<cells::lstm, float>, policy<32, 8, 8, staging::shared>>();
  check_exact<with<cells::lstm, double>, policy<32, 1, 1>>();
  check_exact<with<cells::lstm, double>, policy<32, 7, 5, staging::shared_single>>();
}
TEST(Lstm, Tolerance) {
  check_tolerance<with<cells::lstm, float>, policy<32, 8, 8, staging::shared>>(8);
}

TEST(Block, Exact) {
  check_exact<with<cells::block, float>, policy<32, 1, 1>>();
  check_exact<with<cells::block, float>, policy<32, 4, 2>>();
  check_exact<with<cells::block, float>, policy<32, 4, 16, staging::shared>>();
  check_exact<with<cells::block, double>, policy<32, 3, 6, staging::shared>>();
}
TEST(Block, Tolerance) {
  check_tolerance<with<cells::block, float>, policy<32, 4, 16, staging::shared>>(16);
}

TEST(Average, Exact) {
  check_exact<with<cells::average, float>, policy<128, 1, 8>>();
  check_exact<with<cells::average, float>, policy<32, 8, 16>>();
  check_exact<with<cells::average, double>, policy<32, 12, 4, staging::shared>>();
}

TEST(Logistic, Exact) {
  check_exact<with<cells::logistic, float>, policy<32, 1, 5>>();
  check_exact<with<cells::logistic, float>, policy<32, 8, 6>>();
  check_exact<with<cells::logistic, double>, policy<32, 16, 4, staging::shared>>();
}

TEST(Cascade, Exact) {
  check_exact<with<cells::cascade, float>, policy<32, 1, 4>>();
  check_exact<with<cells::cascade, float>, policy<32, 4, 5>>();
  check_exact<with<cells::cascade, double>, policy<32, 6, 8, staging::shared_single>>();
}

} // namespace
