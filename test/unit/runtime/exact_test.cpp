// At tolerance 0 every schedule gives the bits of the plain loop.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define RNN_SLOW_BUILD 1
#endif
#endif
#ifdef RNN_SLOW_BUILD
constexpr bool slowBuild = true;
#else
constexpr bool slowBuild = false;
#endif

template <class F>
void prepare(Problem<F>& problem, const CellInfo& cell, int64_t lanes) {
  const std::string name = cell.name;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    if (name == "logistic") {
      problem.setParam(0, lane, 3.6 + .004 * double(lane));
      problem.setInitial(0, 0, lane, .1 + .008 * double(lane));
    } else if (name == "ema") {
      problem.setParam(0, lane, .99);
    } else if (name == "ladder") {
      problem.setParam(0, lane, .2 + .001 * double(lane));
    }
  }
  if (name == "ladder") {
    problem.setParam(1, 0, 1.5);
  }
  problem.reference();
}

struct MatrixCase {
  const char* cell;
  bool isDouble;
};

class Matrix : public testing::TestWithParam<MatrixCase> {};

template <class F>
void runMatrix(const CellInfo& cell) {
  const std::vector<int64_t> times = slowBuild
                                         ? std::vector<int64_t>{0, 1, 16, 257, 1025}
                                         : std::vector<int64_t>{0, 1, 2, 15, 16, 17, 257, 4097};
  const std::vector<int64_t> widths =
      slowBuild ? std::vector<int64_t>{1, 33} : std::vector<int64_t>{1, 3, 16, 33, 100};
  typename Problem<F>::Options options;
  options.width = widths.back();
  options.time = times.back();
  options.table.blockState = cell.states > 2;
  options.table.hideFirst = cell.states == 2;
  Problem<F> problem(cell, options);
  prepare(problem, cell, options.width);
  for (int64_t time : times) {
    for (int64_t width : widths) {
      rnn_plan_options o = planOptions();
      o.schedule = RNN_SCHEDULE_SEQUENTIAL;
      Outcome sequential = problem.run(o, time, width);
      ASSERT_EQ(sequential.status, RNN_OK) << sequential.error;
      ASSERT_EQ(sequential.difference, "") << cell.name << " T " << time << " lanes " << width;
      for (int64_t chunk : {int64_t(1), int64_t(3), int64_t(16), int64_t(64), int64_t(256), time}) {
        for (rnn_vector vector : {RNN_VECTOR_LANES, RNN_VECTOR_CHUNKS}) {
          for (rnn_tiles tiles : {RNN_TILES_SEQUENCE, RNN_TILES_PARALLEL}) {
            if ((width > 33 && (vector == RNN_VECTOR_CHUNKS || time > 300)) ||
                (width > 3 && time > 300 && chunk < 64)) {
              continue; // little that others do not show, for much of the time
            }
            o.schedule = RNN_SCHEDULE_PARALLEL;
            o.vector = vector;
            o.tiles = tiles;
            o.chunk = chunk;
            Outcome parallel = problem.run(o, time, width);
            ASSERT_EQ(parallel.status, RNN_OK) << parallel.error;
            ASSERT_EQ(parallel.difference, "")
                << cell.name << " T " << time << " lanes " << width << " C " << chunk << " W "
                << parallel.info.chunks << (vector == RNN_VECTOR_LANES ? " lanes" : " chunks")
                << (tiles == RNN_TILES_PARALLEL ? " tiles parallel" : "");
            ASSERT_EQ(parallel.report.first_nonfinite, sequential.report.first_nonfinite);
            ASSERT_EQ(parallel.report.mismatch_max, 0);
          }
        }
      }
    }
  }
}

TEST_P(Matrix, EveryScheduleIsBitwiseTheLoop) {
  const CellInfo& cell = cellNamed(GetParam().cell);
  GetParam().isDouble ? runMatrix<double>(cell) : runMatrix<float>(cell);
}

std::vector<MatrixCase> matrixCases() {
  std::vector<MatrixCase> cases;
  for (const CellInfo& cell : allCells()) {
    cases.push_back({cell.name, false});
    cases.push_back({cell.name, true});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cells, Matrix, testing::ValuesIn(matrixCases()), [](const auto& info) {
  return std::string(info.param.cell) + (info.param.isDouble ? "_f64" : "_f32");
});

} // namespace
} // namespace rnnc::test
