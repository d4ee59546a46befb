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

// Windows with a halo inside a chunk, across chunks and tiles, and of their own.
TEST(Echo, Exact) {
  check_exact<with<cells::echo, float>, policy<64, 1, 8>>();
  check_exact<with<cells::echo, float>, policy<32, 1, 3>>();
  check_exact<with<cells::echo, float>, policy<32, 1, 1>>();
  check_exact<with<cells::echo, float>, policy<32, 4, 2>>();
  check_exact<with<cells::echo, float>, policy<32, 3, 16>>();
  check_exact<with<cells::echo, float>, policy<32, 8, 16, staging::shared>>();
  check_exact<with<cells::echo, double>, policy<32, 7, 5, staging::shared_single>>();
}
TEST(Echo, WindowsSayWhatIsKept) {
  using reads = cells::echo<float, rnn::polynomial<float>>::reads;
  // x[t-4 .. t+C-1], x[t-300 ..], u[t-5 .. t+C-4].
  using far = reads::windows<8>;
  EXPECT_EQ(int(far::rows), (4 + 8) + (2 + 8) + 8);
  EXPECT_EQ(far::row(0), 4);
  EXPECT_EQ(far::row(2), 0);
  EXPECT_EQ(far::row(3), 3);
  EXPECT_EQ(far::row(4) - far::row(1), 2);
  EXPECT_TRUE(far::is_head(0) && far::is_head(4) && far::is_head(5));
  EXPECT_FALSE(far::is_head(1) || far::is_head(2) || far::is_head(3));
  // Three steps between x[t-1] and x[t-4] are more than the two of a chunk.
  EXPECT_EQ(int(reads::windows<2>::rows), (1 + 2) + 2 + 2 + 2 + 2);
  EXPECT_EQ(int(reads::windows<1>::rows), 6);
  EXPECT_EQ(int(reads::windows<301>::rows), (300 + 301) + (2 + 301));
}

TEST(Cascade, Exact) {
  check_exact<with<cells::cascade, float>, policy<32, 1, 4>>();
  check_exact<with<cells::cascade, float>, policy<32, 4, 5>>();
  check_exact<with<cells::cascade, double>, policy<32, 6, 8, staging::shared_single>>();
}

// The first step without a solution is told, and its lane.
TEST(Root, Exact) {
  check_exact<with<cells::root, float>, policy<64, 1, 8>>();
  check_exact<with<cells::root, float>, policy<32, 4, 5>>();
  check_exact<with<cells::root, float>, policy<32, 8, 16, staging::shared>>();
  check_exact<with<cells::root, double>, policy<32, 7, 5, staging::shared_single>>();
}
TEST(Root, UnsolvedStepIsTold) {
  setting s;
  s.time = 300;
  s.lanes = {35};
  using cell = with<cells::root, float>;
  EXPECT_NE((problem<cell, 1>(s).check<policy<32, 4, 5>>().report.unsolved), 0u);
  s.time = 0;
  EXPECT_EQ((problem<cell, 1>(s).check<policy<32, 4, 5>>().report.unsolved), 0u);
}

} // namespace
