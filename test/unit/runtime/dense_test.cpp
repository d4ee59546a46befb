// Dense systems: slots that stand for whole arrays, params that all lanes share, a step in loops.
#include "dense_cell.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

TEST(Dense, IsThePlainLoop) {
  DenseTable table;
  for (int64_t batch : {1, 2}) {
    for (int64_t heads : {1, 3, 9}) {
      for (int64_t d : {1, 2, 7}) {
        for (int64_t time : {0, 1, 37}) {
          DenseCall<float> single(batch, heads, d, time);
          EXPECT_EQ(single.run(table, 2), "");
          single.expect();
          DenseCall<double> both(batch, heads, d, time);
          EXPECT_EQ(both.run(table, 1), "");
          both.expect();
        }
      }
    }
  }
}

// A block, or a batch, with nothing in it.
TEST(Dense, Empty) {
  DenseTable table;
  DenseCall<float> noBlock(2, 3, 0, 5);
  EXPECT_EQ(noBlock.run(table, 1), "");
  for (float sum : noBlock.y) {
    EXPECT_EQ(sum, 0);
  }
  DenseCall<float> noLanes(0, 3, 4, 5);
  EXPECT_EQ(noLanes.run(table, 1), "");
}

std::string denseError(const std::function<void(DenseTable&)>& change) {
  DenseTable table;
  table.get();
  change(table);
  ModuleHandle module(&table.table);
  return rnn_error_text(module.context);
}

TEST(Dense, TableErrors) {
  const std::string where = "module Dense, system dense: ";
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.carry = 1; }),
            where + "a dense system has no carry, this one has 1 numbers");
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.sums = 1; }),
            where + "a dense system has no sums, this one has 1");
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.block_sizes = nullptr; }),
            where + "`block_dims`, `block_sizes` or `temporary` is null");
  EXPECT_EQ(denseError([](DenseTable& t) { t.temporaries[0].dim[0] = 1; }),
            where + "temporary 0: block dim 1 of 1");
  EXPECT_EQ(denseError([](DenseTable& t) { t.temporaries[0].rank = 7; }),
            where + "temporary 0: rank 7 is above 6");
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.block_rank = 0; }),
            where + "state slot 0: index -1 along axis 1 of u is out of range");
  EXPECT_EQ(denseError([](DenseTable& t) {
              static const char* other[] = {"e"};
              t.system.block_dims = other;
            }),
            where + "state slot 0: index -1 along axis 1 of u is out of range");
}

// More scalars than anybody means: a message, before memory for them is taken.
TEST(Dense, TooLarge) {
  DenseTable table;
  ModuleHandle module(table.get());
  const rnn_dim_value dims[] = {{"heads", 1}, {"d", 5000000}};
  rnn_plan_options options = planOptions();
  options.dims = 2;
  options.dim = dims;
  options.batch = options.time = 1;
  rnn_plan* plan = nullptr;
  EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(module.context),
               "system dense: a lane has more than 4194304 scalars; smaller dims are needed");
}

} // namespace
} // namespace rnnc::test
