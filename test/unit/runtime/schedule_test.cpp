// The cost model: what it chooses for which shape.
#include "core/schedule.hpp"
#include "core/status.hpp"

#include <gtest/gtest.h>

namespace rnnc::runtime {
namespace {

ScheduleRequest gru(int64_t lanes, int64_t time, int cores) {
  ScheduleRequest r;
  r.system = "gru";
  r.lanes = lanes;
  r.time = time;
  r.carry = 1;
  r.sequences = 4;
  r.widths = {16, 64};
  r.cost = {50, 25, 12};
  r.cores = cores;
  return r;
}

TEST(Schedule, LanesThatFillTheMachineRunSequentially) {
  for (int cores : {1, 2, 16}) {
    const Schedules s = chooseSchedule(gru(8192, 4096, cores));
    EXPECT_FALSE(s.chosen.parallel);
    EXPECT_EQ(s.chosen.lanes.size(), 1u);
    EXPECT_EQ(s.chosen.lanes[0].width, 64u);
    EXPECT_EQ(s.chosen.lanes[0].groups, 128);
    EXPECT_EQ(s.chosen.chunk, 4096);
    EXPECT_GT(s.secondsParallel, s.secondsSequential);
  }
}

TEST(Schedule, OneLongLaneRunsInChunks) {
  for (int cores : {1, 2, 16, 64}) {
    const Schedules s = chooseSchedule(gru(1, 1000000, cores));
    EXPECT_TRUE(s.chosen.parallel);
    EXPECT_EQ(s.chosen.vector, RNN_VECTOR_CHUNKS);
    EXPECT_EQ(s.chosen.width, 64u);
    EXPECT_EQ(s.chosen.tiles, cores > 2 ? RNN_TILES_PARALLEL : s.chosen.tiles);
    EXPECT_EQ(s.chosen.chunks % 64, 0);
    EXPECT_GE(s.chosen.chunk, 32);
    EXPECT_LE(s.chosen.chunk * s.chosen.chunks * 4 * 4, 512 * 1024);
    // On two cores tiles in parallel would cost three times the work: one core does the lane.
    EXPECT_LT(s.secondsParallel * (cores <= 2 ? 5 : 8), s.secondsSequential);
    if (s.chosen.tiles == RNN_TILES_PARALLEL) {
      EXPECT_GE(1000000 / (s.chosen.chunk * s.chosen.chunks), 2 * cores);
    }
  }
}

TEST(Schedule, ShortTimeIsNotCut) {
  EXPECT_FALSE(chooseSchedule(gru(1, 8, 4)).chosen.parallel);
  EXPECT_FALSE(chooseSchedule(gru(1, 0, 4)).chosen.parallel);
  EXPECT_FALSE(chooseSchedule(gru(0, 1000, 4)).chosen.parallel);
}

TEST(Schedule, TailsTakeTheNarrowVector) {
  ScheduleRequest r = gru(64 + 20, 100, 1);
  const std::vector<LaneRun> lanes = chooseSchedule(r).chosen.lanes;
  ASSERT_EQ(lanes.size(), 3u);
  EXPECT_EQ(lanes[0].width, 64u);
  EXPECT_EQ(lanes[1].width, 16u);
  EXPECT_EQ(lanes[1].firstLane, 64);
  EXPECT_EQ(lanes[2].firstLane, 80);
  // Many cores: narrow vectors finish sooner than one wide one.
  r = gru(64, 100, 16);
  EXPECT_EQ(chooseSchedule(r).chosen.lanes[0].width, 16u);
  EXPECT_EQ(chooseSchedule(r).chosen.lanes[0].groups, 4);
}

TEST(Schedule, EveryLaneIsInOneVector) {
  for (int64_t lanes = 0; lanes < 300; ++lanes) {
    for (std::vector<uint32_t> widths : {std::vector<uint32_t>{1, 16, 64}, std::vector<uint32_t>{4},
                                         std::vector<uint32_t>{3, 5}}) {
      ScheduleRequest r = gru(lanes, 100, 3);
      r.widths = widths;
      int64_t next = 0;
      for (const LaneRun& run : chooseSchedule(r).chosen.lanes) {
        EXPECT_EQ(run.firstLane, next);
        EXPECT_GT(run.groups, 0);
        next += run.groups * run.width;
      }
      EXPECT_GE(next, lanes);
      EXPECT_LT(next, lanes + 64);
    }
  }
}

TEST(Schedule, FixedDetailsAreKept) {
  ScheduleRequest r = gru(300, 5000, 2);
  r.chunk = 48;
  r.chunks = 32;
  Schedules s = chooseSchedule(r);
  EXPECT_TRUE(s.chosen.parallel) << "fixing a chunk asks for the parallel schedule";
  EXPECT_EQ(s.chosen.chunk, 48);
  EXPECT_EQ(s.chosen.chunks, 32);
  r.vector = RNN_VECTOR_CHUNKS;
  s = chooseSchedule(r);
  EXPECT_EQ(s.chosen.vector, RNN_VECTOR_CHUNKS);
  EXPECT_EQ(s.chosen.width, 16u);
  r.chunks = 8;
  EXPECT_EQ(chooseSchedule(r).chosen.width, 16u);
  r.chunks = 17; // no multiple of 16, but it fits in 64
  EXPECT_EQ(chooseSchedule(r).chosen.width, 64u);
  r.chunks = 65;
  EXPECT_THROW(chooseSchedule(r), Error);
  r.vector = RNN_VECTOR_AUTO;
  EXPECT_EQ(chooseSchedule(r).chosen.vector, RNN_VECTOR_LANES);
  r.carry = 0;
  EXPECT_FALSE(chooseSchedule(r).chosen.parallel);
}

TEST(Schedule, UnknownCostIsSaidSo) {
  ScheduleRequest r = gru(1, 100000, 1);
  r.cost = {};
  const Schedules s = chooseSchedule(r);
  EXPECT_EQ(s.secondsSequential, 0);
  EXPECT_EQ(s.secondsParallel, 0);
  EXPECT_TRUE(s.chosen.parallel);
}

} // namespace
} // namespace rnnc::runtime
