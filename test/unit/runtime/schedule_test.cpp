// The cost model: what it chooses for which shape.
#include "core/schedule.hpp"
#include "core/status.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace rnnc::runtime {
namespace {

ScheduleRequest gru(int64_t lanes, int64_t time, int cores) {
  ScheduleRequest r;
  r.system = "gru";
  r.lanes = lanes;
  r.time = time;
  r.carry = 1;
  r.sequences.assign(4, {double(lanes), 1});
  r.sideBySide = lanes;
  r.widths = {16, 64};
  r.cost = {28, 8.5, 2.3};
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
    EXPECT_EQ(s.chosen.tiles, cores > 1 ? RNN_TILES_PARALLEL : RNN_TILES_SEQUENCE);
    EXPECT_EQ(s.chosen.chunks % s.chosen.width, 0);
    EXPECT_GE(s.chosen.chunk, 32);
    EXPECT_LE(s.chosen.chunk * s.chosen.chunks * 4 * 4, 8 * 1024 * 1024);
    EXPECT_LT(s.secondsParallel * (cores == 1 ? 8 : 12), s.secondsSequential);
    if (s.chosen.tiles == RNN_TILES_PARALLEL) {
      EXPECT_GE(1000000 / (s.chosen.chunk * s.chosen.chunks), cores);
    }
  }
}

// Chunks as long as a page, where there is time enough.
TEST(Schedule, AChunkFillsAPage) {
  ScheduleRequest r = gru(1, 10000000, 1);
  EXPECT_EQ(chooseSchedule(r).chosen.chunk, 1024);
  r.elementSize = 8;
  EXPECT_EQ(chooseSchedule(r).chosen.chunk, 512);
  EXPECT_LE(chooseSchedule(gru(1, 5000, 1)).chosen.chunk, 5000 / 16);
}

ScheduleRequest ladder(int cores) {
  ScheduleRequest r = gru(1, 4800000, cores);
  r.states = 4;
  r.carry = 16;
  r.sequences.assign(2, {1, 1}); // three of the states are hidden
  r.cost = {57, 21, 16};
  return r;
}

// docs/solver.md, "The choice": what was measured, and how far an estimate may be off. The last
// sweep of a tile in sequence goes without the Jacobian; tiles in parallel are shot once more, with
// it, but only the first vector of four.
TEST(Schedule, EstimatesAreNearWhatWasMeasured) {
  struct Measured {
    ScheduleRequest request;
    rnn_schedule schedule;
    rnn_tiles tiles;
    int64_t chunk, chunks;
    double milliseconds;
  };
  const Measured list[] = {
      {gru(1, 1000000, 2), RNN_SCHEDULE_SEQUENTIAL, RNN_TILES_AUTO, 0, 0, 35.2},
      {gru(1, 1000000, 2), RNN_SCHEDULE_PARALLEL, RNN_TILES_SEQUENCE, 1024, 64, 2.48},
      {gru(1, 1000000, 2), RNN_SCHEDULE_PARALLEL, RNN_TILES_SEQUENCE, 256, 64, 4.06},
      {gru(1, 1000000, 2), RNN_SCHEDULE_PARALLEL, RNN_TILES_PARALLEL, 1024, 256, 1.96},
      {gru(1, 1000000, 2), RNN_SCHEDULE_PARALLEL, RNN_TILES_PARALLEL, 1024, 64, 2.39},
      {ladder(2), RNN_SCHEDULE_SEQUENTIAL, RNN_TILES_AUTO, 0, 0, 273},
      {ladder(2), RNN_SCHEDULE_PARALLEL, RNN_TILES_SEQUENCE, 1024, 64, 19.6},
      {ladder(2), RNN_SCHEDULE_PARALLEL, RNN_TILES_PARALLEL, 128, 64, 25.0},
      {ladder(2), RNN_SCHEDULE_PARALLEL, RNN_TILES_PARALLEL, 1024, 64, 18.8},
      {ladder(2), RNN_SCHEDULE_PARALLEL, RNN_TILES_PARALLEL, 1024, 256, 14.4},
  };
  for (const Measured& m : list) {
    ScheduleRequest r = m.request;
    r.schedule = m.schedule;
    r.tiles = m.tiles;
    r.chunk = m.chunk;
    r.chunks = m.chunks;
    r.vector = m.chunk ? RNN_VECTOR_CHUNKS : RNN_VECTOR_AUTO;
    const double estimate = 1e3 * chooseSchedule(r).chosen.seconds;
    EXPECT_GT(estimate, .75 * m.milliseconds) << m.chunk << " x " << m.chunks;
    EXPECT_LT(estimate, 1.35 * m.milliseconds) << m.chunk << " x " << m.chunks;
  }
}

TEST(Schedule, TilesInParallelWhereTheyPay) {
  EXPECT_EQ(chooseSchedule(ladder(1)).chosen.tiles, RNN_TILES_SEQUENCE);
  const ScheduleChoice choice = chooseSchedule(ladder(2)).chosen;
  EXPECT_EQ(choice.tiles, RNN_TILES_PARALLEL);
  EXPECT_EQ(choice.chunks, 256) << "of four vectors one is shot again, of one the whole";
  ScheduleRequest one = ladder(2);
  one.chunks = 64;
  EXPECT_EQ(chooseSchedule(one).chosen.tiles, RNN_TILES_SEQUENCE);
}

// Few lanes are cut as one is; sixteen that lie side by side fill a vector as they are. In between
// it depends on what lies between two steps of a lane.
TEST(Schedule, FewLanesAreCut) {
  ScheduleRequest apart = gru(4, 100000, 2);
  apart.sequences.assign(4, {1, 1}); // a lane each batch element
  apart.sideBySide = 1;
  EXPECT_EQ(chooseSchedule(apart).chosen.vector, RNN_VECTOR_CHUNKS);
  EXPECT_LT(5 * chooseSchedule(apart).secondsParallel, chooseSchedule(apart).secondsSequential);
  EXPECT_EQ(chooseSchedule(gru(4, 100000, 2)).chosen.vector, RNN_VECTOR_CHUNKS);
  EXPECT_FALSE(chooseSchedule(gru(16, 100000, 2)).chosen.parallel);
  apart.lanes = 16;
  EXPECT_EQ(chooseSchedule(apart).chosen.vector, RNN_VECTOR_CHUNKS);
}

TEST(Schedule, ShortTimeIsNotCut) {
  EXPECT_FALSE(chooseSchedule(gru(1, 8, 4)).chosen.parallel);
  EXPECT_FALSE(chooseSchedule(gru(1, 0, 4)).chosen.parallel);
  EXPECT_FALSE(chooseSchedule(gru(0, 1000, 4)).chosen.parallel);
}

TEST(Schedule, TailsTakeTheNarrowVector) {
  ScheduleRequest r = gru(64 + 20, 100, 1);
  r.cost = {50, 25, 12};
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
      r.vector = RNN_VECTOR_LANES;
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

// Estimates of what nobody can run are still estimates; the sanitizers watch.
TEST(Schedule, AbsurdSizes) {
  for (int64_t lanes : {int64_t(0), int64_t(1), int64_t(1) << 40}) {
    for (int64_t time : {int64_t(0), int64_t(1), int64_t(1) << 50}) {
      for (rnn_vector vector : {RNN_VECTOR_AUTO, RNN_VECTOR_CHUNKS, RNN_VECTOR_LANES}) {
        for (int64_t chunks : {int64_t(0), int64_t(16), int64_t(1) << 40}) {
          ScheduleRequest r = gru(lanes, time, 2);
          r.schedule = RNN_SCHEDULE_PARALLEL;
          r.vector = vector;
          r.chunks = chunks;
          const ScheduleChoice choice = chooseSchedule(r).chosen;
          EXPECT_TRUE(std::isfinite(choice.seconds) && choice.seconds >= 0);
          EXPECT_GT(choice.chunk, 0);
        }
      }
    }
  }
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
