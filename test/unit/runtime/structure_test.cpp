// Carries whose numbers stand in several places, and Jacobians that depend on no state or on
// nothing per step: the answer stays the loop's, and the work is what the structure says, counted.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

/// A rotation that shrinks, (a -b; b a). Its turn and decay come from the params, or, where
/// `Driven`, from an input too.
template <bool Driven>
struct Rotation {
  static constexpr int K = 2, I = 2, P = 3, O = 0; // all lanes share the last param
  static constexpr uint32_t pattern[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  template <bool J, class F>
  static void step(const F* s, const F* x, const F* p, F* next, F*, F* jac) {
    const F a = p[0] * (Driven ? F(.5) + F(.25) * x[1] : F(1)), b = p[1];
    next[0] = a * s[0] - b * s[1] + x[0];
    next[1] = b * s[0] + a * s[1];
    if constexpr (J) {
      jac[0] = jac[3] = a;
      jac[1] = -b;
      jac[2] = b;
    }
  }
};

/// The kernel of a whole block whose carry gives only the numbers at `firsts`.
template <class Cell, class F, int W, int... firsts>
void packed(const rnn_shoot_args* a) {
  F whole[std::size(Cell::pattern) * W];
  rnn_shoot_args args = *a;
  args.carry = whole;
  kernel<Cell, F, W, true>(&args);
  F* out = static_cast<F*>(a->carry);
  for (int from : {firsts...}) {
    out = std::copy_n(whole + from * W, W, out);
  }
}

template <bool Driven>
CellInfo rotation() {
  CellInfo cell = makeCell<Rotation<Driven>>("rotation");
  cell.carry = {{0, 0, 0, 1}, {0, 1, 1, 1}, {1, 0, 1, -1}, {1, 1, 0, 1}};
  cell.kernels = {{RNN_F32, 4, kernel<Rotation<Driven>, float, 4, false>,
                   packed<Rotation<Driven>, float, 4, 0, 1>},
                  {RNN_F32, 16, kernel<Rotation<Driven>, float, 16, false>,
                   packed<Rotation<Driven>, float, 16, 0, 1>}};
  return cell;
}

std::unique_ptr<Problem<float>> problemOf(const CellInfo& cell, int64_t width, int64_t time) {
  Problem<float>::Options o;
  o.width = width;
  o.time = time;
  auto problem = std::make_unique<Problem<float>>(cell, o);
  for (int64_t lane = 0; lane < width; ++lane) {
    const double angle = .1 + .05 * double(lane), decay = .97 - .01 * double(lane % 7);
    problem->setParam(0, lane, decay * std::cos(angle));
    problem->setParam(1, lane, decay * std::sin(angle));
  }
  problem->reference();
  return problem;
}

Outcome runAt(Problem<float>& problem, const Schedule& schedule, double tolerance,
              int64_t chunk = 64, int64_t chunks = 16) {
  rnn_plan_options o = optionsFor(schedule, chunk, chunks);
  o.tolerance = tolerance;
  return problem.run(o, -1, -1, tolerance == 0);
}

/// A lane of a linear cell that contracts takes two shoots. Tiles in parallel are shot twice from a
/// guess, and again as far as a better start is remembered.
void expectTwoShoots(const Schedule& schedule, const Outcome& out, int64_t vectorSteps) {
  if (schedule.tiles == RNN_TILES_PARALLEL) {
    EXPECT_LE(double(out.steps), 3.1 * double(vectorSteps));
  } else {
    EXPECT_LE(out.report.lane_sweeps_mean, 2.1);
    EXPECT_LE(double(out.steps), 2.1 * double(vectorSteps));
  }
}

int64_t widthFor(const Schedule& schedule) { return schedule.vector == RNN_VECTOR_CHUNKS ? 1 : 16; }

// Two numbers in four places, one with a minus: the same bits as the loop, in few sweeps. A wrong
// sign or place would take more.
TEST(Structure, SharedNumbersCorrectAsTheWholeBlockDoes) {
  for (const Schedule& schedule : schedules) {
    for (int64_t time : {1, 63, 64, 65, 1023, 3000}) {
      auto shared = problemOf(rotation<true>(), widthFor(schedule), time);
      const Outcome exact = runAt(*shared, schedule, 0);
      ASSERT_EQ(exact.difference, "") << exact.error;
      if (schedule.schedule == RNN_SCHEDULE_PARALLEL && time > 1000) {
        auto whole = problemOf(makeCell<Rotation<true>>("rotation"), widthFor(schedule), time);
        const Outcome block = runAt(*whole, schedule, 1e-6);
        const Outcome out = runAt(*shared, schedule, 1e-6);
        EXPECT_EQ(out.report.lane_sweeps_mean, block.report.lane_sweeps_mean);
        EXPECT_LE(out.report.lane_sweeps_mean, 3.1);
      }
    }
  }
}

TEST(Structure, WrongSignTakesMoreSweeps) {
  CellInfo cell = rotation<true>();
  const Schedule lanes = schedules[1];
  auto right = problemOf(cell, 16, 4096);
  cell.carry[2].sign = 1; // (a b; b a): closed as well, but not this Jacobian's form
  auto wrong = problemOf(cell, 16, 4096);
  const Outcome expected = runAt(*right, lanes, 1e-6, 16, 64),
                out = runAt(*wrong, lanes, 1e-6, 16, 64);
  EXPECT_LE(expected.report.lane_sweeps_mean, 2.1);
  EXPECT_GT(out.report.lane_sweeps_mean, 3);
}

// The first sweep's products stay right: nothing is multiplied after it, not even where sweeps go
// on to the last bit, and the answer is that of a system that multiplies in every sweep.
TEST(Structure, LinearMultipliesInTheFirstSweepAlone) {
  const int64_t time = 4096;
  for (const Schedule& schedule : schedules) {
    if (schedule.schedule == RNN_SCHEDULE_SEQUENTIAL) {
      continue;
    }
    for (double tolerance : {0., 1e-5}) {
      CellInfo cell = rotation<true>();
      auto plain = problemOf(cell, widthFor(schedule), time);
      const Outcome always = runAt(*plain, schedule, tolerance);
      cell.linear = true;
      auto problem = problemOf(cell, widthFor(schedule), time);
      const Outcome out = runAt(*problem, schedule, tolerance);
      ASSERT_EQ(out.difference, "");
      EXPECT_EQ(out.report.lane_sweeps_mean, always.report.lane_sweeps_mean);
      EXPECT_EQ(out.report.mismatch_max, always.report.mismatch_max);
      EXPECT_EQ(out.steps, always.steps);
      // Vectors of chunks: 16 chunks of a lane are a vector.
      const int64_t vectorSteps = schedule.vector == RNN_VECTOR_CHUNKS ? time / 16 : time;
      EXPECT_LE(out.jacobianSteps, vectorSteps);
      EXPECT_GE(out.jacobianSteps, vectorSteps / 2);
      EXPECT_LE(out.jacobianSteps, always.jacobianSteps);
      if (tolerance > 0) {
        expectTwoShoots(schedule, out, vectorSteps);
      }
    }
  }
}

// One step with the Jacobian for a vector of lanes; the rest is powers of it. Chunk lengths that
// are no powers of two, and a shorter chunk at the end.
TEST(Structure, ConstantIsAPowerOfOneJacobian) {
  for (const Schedule& schedule : schedules) {
    if (schedule.schedule == RNN_SCHEDULE_SEQUENTIAL) {
      continue;
    }
    for (int64_t chunk : {1, 2, 3, 7, 37, 64}) {
      for (int64_t time : {900, 1000, 2999}) {
        CellInfo cell = rotation<false>();
        cell.linear = cell.constant = true;
        auto problem = problemOf(cell, widthFor(schedule), time);
        ASSERT_EQ(runAt(*problem, schedule, 0, chunk).difference, "") << chunk << " " << time;
        const Outcome out = runAt(*problem, schedule, 1e-5, chunk);
        // A step for every tile at most where tiles are solved in parallel, else for every lane.
        const int64_t solves = schedule.tiles == RNN_TILES_PARALLEL
                                   ? out.report.tiles * (out.report.outer_sweeps + 1)
                                   : 1;
        EXPECT_LE(out.jacobianSteps, solves) << chunk << " " << time;
        EXPECT_GE(out.jacobianSteps, 1);
        if (schedule.tiles == RNN_TILES_SEQUENCE) {
          EXPECT_LE(out.report.lane_sweeps_mean, 2.1) << chunk << " " << time;
        }
      }
    }
  }
}

// Lanes have powers of their own, also in the vector behind.
TEST(Structure, PowersFollowTheLane) {
  CellInfo cell = rotation<false>();
  cell.linear = cell.constant = true;
  auto problem = problemOf(cell, 37, 2000);
  const Outcome out = runAt(*problem, schedules[1], 1e-5, 16, 16);
  EXPECT_LE(out.report.lane_sweeps_mean, 2.1);
  EXPECT_GE(out.info.groups, 3);
  EXPECT_EQ(out.jacobianSteps, out.info.groups);
}

} // namespace
} // namespace rnnc::test
