// Runs an emitted unit on the host: its own entry, its own policy, over the lengths that break
// things. The harness compares with the plain loop over the same step, bit for bit, and counts
// every access to global memory; so all units of an example agree with its sequential one.
#pragma once

#include "harness.hpp"
#include "launch_call.hpp"
#include "sanitized.hpp"

#include "rnn/math.cuh"

#include <set>

namespace emitted_test {

using namespace device_test;

/// The lengths of SOLVER.md's hard cases for a tile of W chunks of C steps.
inline std::set<long long> lengths(long long chunks, long long steps) {
  const long long tile = chunks * steps;
  if (sanitized)
    return {0, 1, steps + 1, tile + 1};
  std::set<long long> times{0, 1, 2, 15, 16, 17, 97, 257, 4097};
  for (long long around : {steps, tile, 2 * tile})
    times.insert({around - 1, around, around + 1});
  return times;
}

/// So many lanes over the axes that there are.
inline std::vector<long long> lane_sizes(int rank, long long lanes) {
  std::vector<long long> sizes(rank, 1);
  if (rank > 0)
    sizes.back() = lanes;
  return sizes;
}

template <class Cell, class Policy, int s, int i, int p, int o, int rank>
void check(void (*entry)(rnn::forward_args<s, i, p, o, rank>)) {
  constexpr int chunks = Policy::chunks, steps = Policy::steps;
  for (long long time : lengths(chunks, steps)) {
    setting how;
    how.lanes = lane_sizes(rank, 5);
    how.time = time;
    problem<Cell, rank>(how).template check<Policy>(entry);
  }
  for (long long lanes :
       sanitized ? std::vector<long long>{3} : std::vector<long long>{1, 3, 16, 33}) {
    setting how;
    how.lanes = lane_sizes(rank, lanes);
    how.time = chunks * steps + 1;
    problem<Cell, rank>(how).template check<Policy>(entry);
  }
  for (layout order : {layout::plain, layout::time_first, layout::backward}) {
    if (sanitized && order == layout::time_first)
      continue;
    setting how;
    how.how = order;
    how.strange = order != layout::plain;
    how.batch = 3;
    how.lanes = lane_sizes(rank, 13); // 39 lanes: more than a warp
    how.time = (sanitized ? 1 : 2) * chunks * steps + 3;
    how.blocks = 2;
    how.order = 3;
    problem<Cell, rank>(how).template check<Policy>(entry);
  }
  setting bare;
  bare.lanes = lane_sizes(rank, 5);
  bare.initial = bare.final = bare.sequences = bare.report = false;
  bare.time = chunks * steps;
  problem<Cell, rank>(bare).template check<Policy>(entry);
}

/// The printed Jacobian against central differences of the printed step, in double: a wrong one
/// would leave every result right and only take more sweeps. Beside it the step gives the same
/// bits.
template <class Cell>
void check_jacobian() {
  constexpr int k = Cell::states;
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0.2, 0.5);
  for (int point = 0; point < 20; ++point) {
    double state[k], input[rnn::at_least_one(Cell::inputs)], next[k], same[k];
    double param[rnn::at_least_one(Cell::params)];
    double output[rnn::at_least_one(Cell::outputs)], jacobian[Cell::entries::size];
    for (double& x : state)
      x = normal(random);
    for (double& x : input)
      x = normal(random);
    for (double& x : param)
      x = normal(random);
    Cell::step_jacobian(state, input, param, next, output, jacobian);
    Cell::step(state, input, param, same, output);
    EXPECT_EQ(std::memcmp(next, same, sizeof next), 0);
    for (int column = 0; column < k; ++column) {
      const double middle = state[column], width = 1e-6;
      double above[k], below[k];
      state[column] = middle + width;
      Cell::step(state, input, param, above, output);
      state[column] = middle - width;
      Cell::step(state, input, param, below, output);
      state[column] = middle;
      for (int row = 0; row < k; ++row) {
        const double stated =
            Cell::entries::contains(row, column)
                ? Cell::entries::sign(row, column) * jacobian[Cell::entries::position(row, column)]
                : 0;
        EXPECT_NEAR(stated, (above[row] - below[row]) / (2 * width), 1e-7 * (1 + std::fabs(stated)))
            << "entry " << row << ", " << column << " at point " << point;
      }
    }
  }
}

/// The same text in double, whatever the unit computes in.
template <template <class, class> class Cell, class real, class math>
void check_jacobian_of(Cell<real, math>*) {
  using twice = Cell<double, rnn::polynomial<double>>;
  if constexpr (requires { typename twice::entries; })
    check_jacobian<twice>();
}

struct Registered {
  explicit Registered(Unit unit) { units().push_back(std::move(unit)); }
};

} // namespace emitted_test

#define EMITTED_TEST(file, unit, system)                                                           \
  TEST(Emitted, unit) {                                                                            \
    emitted_test::check<unit::system##_cell, unit::system##_policy>(unit::unit##_forward);         \
    emitted_test::check_jacobian_of(static_cast<unit::system##_cell*>(nullptr));                   \
  }                                                                                                \
  const emitted_test::Registered unit##_registered(                                                \
      {#unit, file, #system, sizeof(unit::system##_cell::scalar) == 8,                             \
       emitted_test::run<unit::system##_cell, unit::system##_policy, unit::system##_args,          \
                         unit::unit##_forward>});
