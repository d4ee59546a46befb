// Runs a cell's kernel on the host and compares everything it wrote with a plain loop.
#pragma once

#include "cells.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace device_test {

template <int lanes_, int chunks_, int steps_, rnn::staging stage_ = rnn::staging::registers>
struct policy {
  static constexpr int lanes = lanes_, chunks = chunks_, steps = steps_;
  static constexpr rnn::staging stage = stage_;
};

template <class Cell, class Policy, int rank>
__global__ void kernel(const __grid_constant__ rnn::forward_args<Cell::states, Cell::inputs,
                                                                 Cell::params, Cell::outputs, rank>
                           args) {
  rnn::forward<Cell, Policy>(args);
}

enum class layout {
  plain,      ///< row-major
  time_first, ///< time outermost, gaps between lanes
  backward,   ///< row-major, every axis runs towards lower addresses
};

/// An array of any rank in some layout. Axes: batch, time (if it has one), lane axes.
template <class real>
struct array {
  std::string name;
  std::vector<long long> sizes, strides;
  long long base = 0; ///< of the element with all indices 0
  std::vector<real> data;
  int time_axis = -1;

  array(std::string n, std::vector<long long> extent, int time, layout how);

  long long elements() const;
  /// Of element number n, counted row-major.
  long long place(long long n) const;
  real* begin() { return data.data() + base; }
};

/// What is solved, and how.
struct setting {
  long long batch = 2, time = 100;
  std::vector<long long> lanes = {5};
  layout how = layout::plain;
  double tolerance = 0;
  long long max_sweeps = 0;
  bool initial = true, final = true, sequences = true;
  int blocks = 1;
  unsigned order = 0;   ///< in which threads run; 0: as numbered
  double weights = 0.3; ///< standard deviation of parameters
  double bias = 0;      ///< added to the last parameter
  double allowed = 0;   ///< difference from the plain loop; 0: none, bit for bit
  bool strange = false; ///< a few inputs and initial states are NaN, infinite, huge or tiny
  bool report = true;
  double seventh = 0; ///< added to the last parameter of every seventh lane
};

std::string describe(const setting& s);

struct outcome {
  host_cuda::result run;
  rnn::forward_report report{};
};

template <class Cell, int rank>
class problem {
public:
  using real = typename rnn::number_of<Cell>::type;
  using args_type =
      rnn::forward_args<Cell::states, Cell::inputs, Cell::params, Cell::outputs, rank>;
  using reads = rnn::reads_of_cell<Cell>;
  static constexpr int k = Cell::states, results = rnn::results_of<Cell>::size;

  explicit problem(const setting& s);

  /// Runs the kernel and checks: no error, every result as the plain loop's, every number of global
  /// memory read or written exactly as often as the method says.
  template <class Policy>
  outcome check() {
    return check<Policy>(kernel<Cell, Policy, rank>);
  }
  /// The same with a kernel made elsewhere.
  template <class Policy>
  outcome check(void (*kernel)(args_type));

  /// Does nobody notice that the kernel runs with this fault? Threads run in the order of a seed.
  template <class Policy>
  bool is_right(const host_cuda::faults& fault, unsigned order = 0);

  /// What the last run wrote of a lane of the first batch element.
  std::vector<real> results_of_lane(long long lane) const;

private:
  args_type args();
  host_cuda::options options();
  template <class Policy>
  host_cuda::result run(void (*kernel)(args_type), const host_cuda::options& how);
  void run_plain_loop();
  void compare(const array<real>& got, const std::vector<real>& wanted) const;
  void check_traffic(const host_cuda::result& run, int chunks, int steps) const;
  void check_counts(const array<real>& a, const std::vector<std::uint16_t>& counts,
                    const std::vector<int>& each_step) const;
  std::vector<int> reads_of_step(int input, int chunks, int steps) const;
  std::vector<long long> extent(bool batch, bool time) const;

  setting s_;
  long long lanes_; ///< all of them, batch included
  std::vector<array<real>> input_, param_, initial_, final_, result_;
  std::vector<std::vector<real>> wanted_final_, wanted_; ///< row-major
  rnn::forward_report report_{};
  long long first_nonfinite_ = -1;
  unsigned long long unsolved_ = 0; ///< as the report has it
};

template <class real>
bool equal(real a, real b, double allowed) {
  return allowed == 0 ? std::memcmp(&a, &b, sizeof(real)) == 0 || (a != a && b != b)
                      : std::fabs(a - b) <= allowed * (1 + std::fabs(b)) || rnn::same(a, b);
}

} // namespace device_test

#include "harness_impl.hpp"
