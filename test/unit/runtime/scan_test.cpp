// The scan over the defects, number by number.
#include "cpu/scan.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace rnnc::runtime::cpu {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Places = std::vector<rnn_carry_place>;
const Places dense2 = {{0, 0, 0, 1}, {0, 1, 1, 1}, {1, 0, 2, 1}, {1, 1, 3, 1}};
const Places scalar = {{0, 0, 0, 1}};

CarryPattern patternOf(uint32_t states, uint32_t carry, const Places& places) {
  rnn_system_desc desc{};
  desc.states = states;
  desc.carry = carry;
  desc.carry_places = static_cast<uint32_t>(places.size());
  desc.carry_place = places.data();
  return CarryPattern(desc);
}

/// One lane with `width` 1: starts, ends and carries chunk by chunk.
struct Lane {
  uint32_t states;
  std::vector<double> start, end, carry;
  std::vector<double> defect = std::vector<double>(8, 0.), product = std::vector<double>(8, 0.);
  std::vector<uint64_t> frozen = {0};
  std::vector<uint8_t> dirty = std::vector<uint8_t>(8, 7);

  Changes correct(const CarryPattern& pattern) {
    const auto count = static_cast<int64_t>(start.size() / states);
    return cpu::correct<double>(pattern, {count, 1, start.data(), end.data(), carry.data()}, 0,
                                frozen.data(), defect.data(), product.data(), dirty.data());
  }
};

TEST(Scan, SameIsBitwiseButForNan) {
  EXPECT_TRUE(same(1.5, 1.5));
  EXPECT_FALSE(same(0., -0.));
  EXPECT_TRUE(same(inf, inf));
  EXPECT_FALSE(same(inf, -inf));
  EXPECT_TRUE(same(nan, -nan));
  EXPECT_FALSE(same(nan, 1.));
}

TEST(Scan, Mismatch) {
  EXPECT_EQ(mismatch(3., 1.), 1.);
  EXPECT_EQ(mismatch(-3., 1.), 2.);
  EXPECT_EQ(mismatch(5., 5.), 0.);
  EXPECT_GT(mismatch(0., -0.), 0.);
  EXPECT_GT(mismatch(4e-324, 0.), 0.);
  EXPECT_GT(mismatch(4e-324, 1e300), 0.);
  EXPECT_EQ(mismatch(inf, inf), 0.);
  EXPECT_EQ(mismatch(inf, 1.), inf);
  EXPECT_EQ(mismatch(1., inf), inf);
  EXPECT_EQ(mismatch(nan, nan), 0.);
  EXPECT_EQ(mismatch(nan, 1.), inf);
  EXPECT_EQ(mismatch(1., nan), inf);
  EXPECT_EQ(mismatch(1e308, -1e308), inf);
}

// d_2 = e_1 - u_2, u'_3 = e_2 + A_2 d_2, d_3 = (e_2 - u_3) + A_2 d_2, u'_4 = e_3 + A_3 d_3.
TEST(Scan, NewtonsStep) {
  Lane lane{1, {1, 2, 3, 4}, {2.5, 3.25, 4, 9}, {100, .5, 2, 100}};
  const Changes changes = lane.correct(patternOf(1, 1, scalar));
  const double d2 = 2.5 - 2, d3 = (3.25 - 3) + .5 * d2;
  EXPECT_EQ(lane.start, (std::vector<double>{1, 2.5, 3.25 + .5 * d2, 4 + 2 * d3}));
  EXPECT_EQ(changes.count, 3);
  EXPECT_EQ(changes.first, 1);
  EXPECT_EQ(lane.dirty, (std::vector<uint8_t>{7, 1, 1, 1, 7, 7, 7, 7}));
}

TEST(Scan, BlocksAreNotTransposed) {
  Lane lane{2, {0, 0, 0, 0, 0, 0}, {1, 10, 0, 0, 0, 0}, {9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9}};
  lane.correct(patternOf(2, 4, dense2));
  EXPECT_EQ(lane.start, (std::vector<double>{0, 0, 1, 10, 1 * 1 + 2 * 10, 3 * 1 + 4 * 10}));
}

TEST(Scan, FirstDefectOfAWarmStart) {
  Lane lane{1, {1, 2, 3}, {2, 3, 4}, {.5, .25, 0}};
  lane.defect[0] = 4; // chunk 1 now starts 4 further
  const Changes changes = lane.correct(patternOf(1, 1, scalar));
  EXPECT_EQ(lane.start, (std::vector<double>{1, 4, 3.5}));
  EXPECT_EQ(changes.count, 2);
}

// Where d is exactly 0 the product is dropped, though A is infinite; the other column counts.
TEST(Scan, GuardZeroDefect) {
  Lane lane{2, {0, 0, 5, 0, 0, 0}, {5, 1, 7, 8, 0, 0}, {0, 0, 0, 0, inf, 2, nan, 3, 0, 0, 0, 0}};
  lane.correct(patternOf(2, 4, dense2));
  EXPECT_EQ(lane.start, (std::vector<double>{0, 0, 5, 1, 7 + 2 * 1, 8 + 3 * 1}));
}

// Where A d is not finite it is dropped, row by row.
TEST(Scan, GuardProductThatIsNotFinite) {
  for (double a : {inf, -inf, nan, 1e308}) {
    Lane lane{2, {0, 0, 0, 0, 0, 0}, {1e10, 1, 7, 8, 0, 0}, {0, 0, 0, 0, a, 2, 0, 3, 0, 0, 0, 0}};
    lane.correct(patternOf(2, 4, dense2));
    EXPECT_EQ(lane.start, (std::vector<double>{0, 0, 1e10, 1, 7, 8 + 3 * 1}));
  }
}

// The terms of (A2 A1) for a dense block of two.
const std::vector<CarryTerm> products2 = {{0, 0, 0, 1}, {0, 1, 2, 1}, {1, 0, 1, 1}, {1, 1, 3, 1},
                                          {2, 2, 0, 1}, {2, 3, 2, 1}, {3, 2, 1, 1}, {3, 3, 3, 1}};

TEST(Scan, CompositionIsTheLaterTimesTheEarlier) {
  const std::vector<double> later = {1, 2, 3, 4};
  std::vector<double> carry = {5, 6, 7, 8}, room(4);
  compose(products2, patternOf(2, 4, dense2), 1, later.data(), 1, carry.data(), room.data());
  EXPECT_EQ(carry, (std::vector<double>{19, 22, 43, 50}));
}

// Columns are their own: those of `left` lie `leftStride` apart, those of the carry next to each
// other.
TEST(Scan, CompositionOfSeveralColumns) {
  const std::vector<double> later = {1, 2, -1, 10, 20, -1}; // two columns, rows three apart
  std::vector<double> carry = {3, 4, 5, 6}, room(4);        // the pattern is diagonal
  const Places diagonal = {{0, 0, 0, 1}, {1, 1, 1, 1}};
  compose({{0, 0, 0, 1}, {1, 1, 1, 1}}, patternOf(2, 2, diagonal), 2, later.data(), 3, carry.data(),
          room.data());
  EXPECT_EQ(carry, (std::vector<double>{3, 8, 50, 120}));
}

// Nothing passes through a zero, on either side: infinity reaches the entries it belongs to alone.
TEST(Scan, GuardInsideAComposition) {
  for (double a : {inf, -inf, nan}) {
    const std::vector<double> half = {.5, 0, 0, .5};
    std::vector<double> carry = {a, 0, 0, .5}, room(4);
    compose(products2, patternOf(2, 4, dense2), 1, half.data(), 1, carry.data(), room.data());
    EXPECT_TRUE(same(carry[0], a));
    EXPECT_EQ(std::vector<double>(carry.begin() + 1, carry.end()),
              (std::vector<double>{0, 0, .25}));
    const std::vector<double> later = {a, 0, 0, .5};
    carry = half;
    compose(products2, patternOf(2, 4, dense2), 1, later.data(), 1, carry.data(), room.data());
    EXPECT_TRUE(same(carry[0], a));
    EXPECT_EQ(std::vector<double>(carry.begin() + 1, carry.end()),
              (std::vector<double>{0, 0, .25}));
  }
}

// A defect that is no number (infinite ends) goes no further.
TEST(Scan, GuardDefectThatIsNotFinite) {
  Lane lane{1, {0, 1, 2, 3}, {inf, 4, 5, 0}, {1, 1, 1, 1}};
  lane.correct(patternOf(1, 1, scalar));
  EXPECT_EQ(lane.start[1], inf);
  EXPECT_EQ(lane.start[2], 4);
  EXPECT_EQ(lane.start[3], 5 + (4 - 2));
}

// Boundaries at the same infinity have no defect and hide nothing behind them.
TEST(Scan, SameInfinityIsNoDefect) {
  Lane lane{2, {0, 0, inf, 1, 0, 0}, {inf, 2, inf, 5, 0, 0}, {0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0}};
  lane.correct(patternOf(2, 4, dense2));
  EXPECT_EQ(lane.start[4], inf);
  EXPECT_EQ(lane.start[5], 5 + 1);
}

// Without a correction the start is the end itself, sign of zero included.
TEST(Scan, SignOfZeroIsTaken) {
  Lane lane{1, {1, 0.}, {-0., 0}, {1, 1}};
  lane.correct(patternOf(1, 1, scalar));
  EXPECT_TRUE(std::signbit(lane.start[1]));
  EXPECT_EQ(lane.dirty[1], 1);
  // A product that underflows to +0 is no correction either.
  Lane tiny{1, {1, 5e-324, 1}, {0., -0., 0}, {1, 1e-10, 1}};
  tiny.correct(patternOf(1, 1, scalar));
  EXPECT_TRUE(std::signbit(tiny.start[2]));
}

TEST(Scan, FrozenLanesStay) {
  Lane lane{1, {1, 2, 3}, {5, 6, 7}, {1, 1, 1}};
  lane.frozen = {~uint64_t(0)};
  EXPECT_EQ(lane.correct(patternOf(1, 1, scalar)).count, 0);
  EXPECT_EQ(lane.start, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(lane.dirty[1], 0);
}

// Across the columns of vectors the scan is the same; 6 chunks in two vectors of 4 columns.
TEST(Scan, AcrossColumns) {
  const int chunks = 6, width = 4;
  std::vector<double> start(2 * 2 * width), end(start.size()), carry(2 * 4 * width);
  Lane lane{2, std::vector<double>(12), std::vector<double>(12), std::vector<double>(24)};
  for (int w = 0; w < 8; ++w) {
    const int from = std::min(w, chunks - 1);
    for (int i = 0; i < 2; ++i) {
      start[(w / width * 2 + i) * width + w % width] = .5 * from + i;
      end[(w / width * 2 + i) * width + w % width] = 1.25 * from - i * from;
      if (w < chunks) {
        lane.start[2 * w + i] = .5 * from + i;
        lane.end[2 * w + i] = 1.25 * from - i * from;
      }
    }
    for (int c = 0; c < 4; ++c) {
      carry[(w / width * 4 + c) * width + w % width] = .25 * c - .125 * from;
      if (w < chunks) {
        lane.carry[4 * w + c] = .25 * c - .125 * from;
      }
    }
  }
  const CarryPattern pattern = patternOf(2, 4, dense2);
  const ChunkVectors<double> vectors{2, width, start.data(), end.data(), carry.data()};
  double worst = 0;
  for (int w = 0; w + 1 < chunks; ++w) {
    for (int i = 0; i < 2; ++i) {
      worst = std::max(worst, mismatch(lane.end[2 * w + i], lane.start[2 * w + 2 + i]));
    }
  }
  EXPECT_EQ(worstMismatchAcross(pattern, vectors, chunks), worst);
  double defect[2] = {}, product[2];
  uint8_t dirty[2] = {};
  const Changes across = correctAcross(pattern, vectors, chunks, defect, product, dirty);
  const Changes along = lane.correct(pattern);
  EXPECT_EQ(across.count, along.count);
  EXPECT_EQ(across.first, along.first);
  for (int w = 0; w < 8; ++w) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(start[(w / width * 2 + i) * width + w % width],
                lane.start[2 * std::min(w, chunks - 1) + i])
          << w;
    }
  }
}

} // namespace
} // namespace rnnc::runtime::cpu
