// The harness's templates.
#pragma once

#include "harness.hpp"

#include <algorithm>
#include <numeric>

namespace device_test {

template <class real>
array<real>::array(std::string n, std::vector<long long> extent, int time, layout how)
    : name(std::move(n)), sizes(std::move(extent)), strides(sizes.size()), time_axis(time) {
  std::vector<int> order(sizes.size()); // slowest first
  std::iota(order.begin(), order.end(), 0);
  if (how == layout::time_first && time > 0) {
    std::rotate(order.begin(), order.begin() + time, order.begin() + time + 1);
  }
  long long stride = how == layout::time_first ? 3 : 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = stride;
    stride *= sizes[*axis];
  }
  data.resize(std::max<long long>(stride, 1));
  if (how == layout::backward) {
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      base += strides[axis] * std::max<long long>(sizes[axis] - 1, 0);
      strides[axis] = -strides[axis];
    }
  }
}

template <class real>
long long array<real>::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), 1LL, std::multiplies<>());
}

template <class real>
long long array<real>::place(long long n) const {
  long long at = base;
  for (size_t axis = sizes.size(); axis-- > 0;) {
    at += n % sizes[axis] * strides[axis];
    n /= sizes[axis];
  }
  return at;
}

template <class Cell, int rank>
std::vector<long long> problem<Cell, rank>::extent(bool batch, bool time) const {
  std::vector<long long> sizes;
  if (batch) {
    sizes.push_back(s_.batch);
  }
  if (time) {
    sizes.push_back(s_.time);
  }
  sizes.insert(sizes.end(), s_.lanes.begin(), s_.lanes.end());
  return sizes;
}

template <class Cell, int rank>
problem<Cell, rank>::problem(const setting& s)
    : s_(s), lanes_(std::accumulate(s.lanes.begin(), s.lanes.end(), s.batch, std::multiplies<>())) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  const real strange[] = {
      std::numeric_limits<real>::quiet_NaN(),  std::numeric_limits<real>::infinity(),
      -std::numeric_limits<real>::infinity(),  std::numeric_limits<real>::max(),
      std::numeric_limits<real>::denorm_min(), real(-0.0)};
  const auto fill = [&](array<real>& a, double scale, double mean, bool odd) {
    for (real& x : a.data) {
      x = static_cast<real>(mean + scale * normal(random));
      x = odd && s_.strange && random() % 61 == 0 ? strange[random() % 6] : x;
    }
  };
  for (int i = 0; i < Cell::inputs; ++i) {
    fill(input_.emplace_back("input" + std::to_string(i), extent(true, true), 1, s_.how), 1, 0,
         true);
  }
  for (int i = 0; i < Cell::params; ++i) {
    fill(param_.emplace_back("param" + std::to_string(i), extent(false, false), -1, s_.how),
         s_.weights, i + 1 == Cell::params ? s_.bias : 0, false);
  }
  for (long long lane = 6; s_.seventh != 0 && lane < s_.lanes.back(); lane += 7) {
    param_.back().data[param_.back().place(lane)] += real(s_.seventh);
  }
  for (int i = 0; i < k; ++i) {
    fill(initial_.emplace_back("initial" + std::to_string(i), extent(true, false), -1, s_.how), 0.1,
         0.4, true);
    final_.emplace_back("final" + std::to_string(i), extent(true, false), -1, s_.how);
  }
  for (int i = 0; i < results; ++i) {
    result_.emplace_back("result" + std::to_string(i), extent(true, true), 1, s_.how);
  }
  run_plain_loop();
}

template <class Cell, int rank>
auto problem<Cell, rank>::args() -> args_type {
  args_type a{};
  const auto bind = [](auto& slot, array<real>& from) {
    slot.data = from.begin();
    std::copy(from.strides.begin(), from.strides.end(), slot.stride);
  };
  a.batch = s_.batch;
  a.time = s_.time;
  std::copy(s_.lanes.begin(), s_.lanes.end(), a.lanes);
  a.tolerance = s_.tolerance;
  a.max_sweeps = s_.max_sweeps;
  a.report = s_.report ? &report_ : nullptr;
  for (int i = 0; i < Cell::inputs; ++i) {
    bind(a.input[i], input_[reads::source(i)]);
  }
  for (int i = 0; i < Cell::params; ++i) {
    bind(a.param[i], param_[i]);
  }
  for (int i = 0; i < k; ++i) {
    a.state[i].fill = 0.25;
    if (s_.initial) {
      bind(a.state[i].initial, initial_[i]);
    }
    if (s_.final) {
      bind(a.state[i].final, final_[i]);
    }
    if (s_.sequences && Cell::stored::contains(i)) {
      bind(a.state[i].sequence, result_[Cell::stored::position(i)]);
    }
  }
  for (int i = 0; i < Cell::outputs; ++i) {
    bind(a.output[i], result_[Cell::stored::size + i]);
  }
  return a;
}

template <class Cell, int rank>
void problem<Cell, rank>::run_plain_loop() {
  wanted_.assign(results, std::vector<real>(lanes_ * s_.time));
  wanted_final_.assign(k, std::vector<real>(lanes_));
  const long long inner = s_.batch ? lanes_ / s_.batch : 0;
  for (long long lane = 0; lane < lanes_; ++lane) {
    const long long b = lane / inner, l = lane % inner;
    real state[k], param[rnn::at_least_one(Cell::params)], input[rnn::at_least_one(Cell::inputs)];
    real before[rnn::at_least_one(Cell::inputs)];
    if constexpr (reads::any_earlier) {
      Cell::before(before);
    }
    for (int i = 0; i < k; ++i) {
      state[i] = s_.initial ? initial_[i].data[initial_[i].place(lane)] : real(0.25);
    }
    for (int i = 0; i < Cell::params; ++i) {
      param[i] = param_[i].data[param_[i].place(l)];
    }
    for (long long t = 0; t < s_.time; ++t) {
      const long long at = (b * s_.time + t) * inner + l;
      for (int i = 0; i < Cell::inputs; ++i) {
        const array<real>& from = input_[reads::source(i)];
        input[i] =
            t < reads::back(i) ? before[i] : from.data[from.place(at - reads::back(i) * inner)];
      }
      real next[k], output[rnn::at_least_one(Cell::outputs)], result[rnn::at_least_one(results)];
      bool unsolved = false;
      if constexpr (rnn::is_implicit<Cell>::value) {
        Cell::step(state, input, param, next, output, &unsolved);
      } else {
        Cell::step(state, input, param, next, output);
      }
      if (unsolved) {
        unsolved_ = std::max(unsolved_, ~static_cast<unsigned long long>((t << 24) + lane));
      }
      rnn::results_of<Cell>::collect(next, output, result);
      for (int r = 0; r < results; ++r) {
        wanted_[r][at] = result[r];
      }
      for (int i = 0; i < k; ++i) {
        state[i] = next[i];
        if (!std::isfinite(state[i]) && (first_nonfinite_ < 0 || t < first_nonfinite_)) {
          first_nonfinite_ = t;
        }
      }
    }
    for (int i = 0; i < k; ++i) {
      wanted_final_[i][lane] = state[i];
    }
  }
}

template <class Cell, int rank>
auto problem<Cell, rank>::results_of_lane(long long lane) const -> std::vector<real> {
  std::vector<real> numbers;
  for (const array<real>& a : result_) {
    for (long long t = 0; t < s_.time; ++t) {
      numbers.push_back(a.data[a.place(t * s_.lanes.back() + lane)]);
    }
  }
  return numbers;
}

template <class Cell, int rank>
void problem<Cell, rank>::compare(const array<real>& got, const std::vector<real>& wanted) const {
  for (long long n = 0; n < got.elements(); ++n) {
    const real x = got.data[got.place(n)];
    ASSERT_TRUE(equal(x, wanted[n], s_.allowed))
        << got.name << "[" << n << "] is " << x << ", not " << wanted[n] << "; " << describe(s_);
  }
}

/// `each_step` times an element of that step, or once where it is empty; never between elements.
template <class Cell, int rank>
void problem<Cell, rank>::check_counts(const array<real>& a,
                                       const std::vector<std::uint16_t>& counts,
                                       const std::vector<int>& each_step) const {
  std::vector<std::uint16_t> wanted(counts.size());
  const long long inner = s_.batch ? lanes_ / s_.batch : 0;
  for (long long n = 0; n < a.elements(); ++n) {
    std::fill_n(wanted.begin() + a.place(n) * sizeof(real), sizeof(real),
                each_step.empty() ? 1 : each_step[n / inner % s_.time]);
  }
  EXPECT_TRUE(counts == wanted) << a.name << ": " << describe(s_);
}

/// How often each step of an input's array is read: by every chunk once for all inputs that read it
/// within the length of a chunk of one another, from the earliest read of its first step to the
/// latest of its last. Without chunks nothing is read again as time goes on.
template <class Cell, int rank>
std::vector<int> problem<Cell, rank>::reads_of_step(int input, int chunks, int steps) const {
  std::vector<long long> backs;
  for (int i = 0; i < Cell::inputs; ++i) {
    if (reads::source(i) == input) {
      backs.push_back(reads::back(i));
    }
  }
  std::sort(backs.begin(), backs.end());
  const long long length = chunks == 1 ? s_.time : steps;
  std::vector<int> count(s_.time, 0);
  for (size_t from = 0, to; from < backs.size(); from = to) {
    for (to = from + 1; to < backs.size() && backs[to] - backs[to - 1] < steps; ++to) {
    }
    for (long long chunk = 0; chunk < s_.time; chunk += length) {
      const long long end = std::min(chunk + length, s_.time) - backs[from];
      for (long long t = std::max(chunk - backs[to - 1], 0ll); t < end; ++t) {
        ++count[t];
      }
    }
  }
  return count;
}

template <class Cell, int rank>
void problem<Cell, rank>::check_traffic(const host_cuda::result& run, int chunks, int steps) const {
  const unsigned long long all_steps = lanes_ * s_.time, lanes = lanes_;
  unsigned long long loads = (Cell::params + (s_.initial ? k : 0)) * lanes * chunks;
  for (int i = 0; i < Cell::inputs; ++i) {
    if (reads::source(i) == i) {
      const std::vector<int> count = reads_of_step(i, chunks, steps);
      loads += lanes * std::accumulate(count.begin(), count.end(), 0ull);
      check_counts(input_[i], run[input_[i].name].reads, count);
    }
  }
  EXPECT_EQ(run.global.loads, loads) << describe(s_);
  const int stored = s_.sequences ? results : Cell::outputs;
  EXPECT_EQ(run.global.stores, stored * all_steps + (s_.final ? k * lanes : 0)) << describe(s_);
  for (int i = s_.sequences ? 0 : Cell::stored::size; i < results; ++i) {
    check_counts(result_[i], run[result_[i].name].writes, {});
  }
  for (int i = 0; i < k && s_.final; ++i) {
    check_counts(final_[i], run[final_[i].name].writes, {});
  }
}

template <class Cell, int rank>
host_cuda::options problem<Cell, rank>::options() {
  host_cuda::options how;
  how.seed = s_.order;
  how.guard = true;
  for (auto* group : {&input_, &param_, &initial_}) {
    for (array<real>& a : *group) {
      how.buffers.push_back(host_cuda::input(a.name, a.data));
    }
  }
  for (auto* group : {&final_, &result_}) {
    for (array<real>& a : *group) {
      how.buffers.push_back(host_cuda::output(a.name, a.data));
    }
  }
  how.buffers.push_back(host_cuda::inout("report", std::span(&report_, 1)));
  return how;
}

template <class Cell, int rank>
template <class Policy>
host_cuda::result problem<Cell, rank>::run(void (*kernel)(args_type),
                                           const host_cuda::options& how) {
  constexpr auto shape = rnn::forward_shape<Cell, Policy>();
  report_ = {};
  return host_cuda::launch(how, s_.blocks, dim3(Policy::lanes, Policy::chunks),
                           shape.bytes(sizeof(real)), kernel, args());
}

template <class Cell, int rank>
template <class Policy>
bool problem<Cell, rank>::is_right(const host_cuda::faults& fault, unsigned order) {
  host_cuda::options how = options();
  how.fault = fault;
  how.seed = order;
  if (!run<Policy>(kernel<Cell, Policy, rank>, how).ok()) {
    return false;
  }
  for (int r = 0; r < results; ++r) {
    for (long long n = 0; n < result_[r].elements(); ++n) {
      if (!equal(result_[r].data[result_[r].place(n)], wanted_[r][n], 0)) {
        return false;
      }
    }
  }
  return true;
}

template <class Cell, int rank>
template <class Policy>
outcome problem<Cell, rank>::check(void (*kernel)(args_type)) {
  outcome out;
  out.run = run<Policy>(kernel, options());
  out.report = report_;
  EXPECT_EQ(out.run.error, "") << describe(s_);
  if (!out.run.ok()) {
    return out;
  }
  for (int i = 0; i < results; ++i) {
    if (s_.sequences || i >= Cell::stored::size) {
      compare(result_[i], wanted_[i]);
    }
  }
  for (int i = 0; i < k && s_.final; ++i) {
    compare(final_[i], wanted_final_[i]);
  }
  check_traffic(out.run, Policy::chunks, Policy::steps);
  if (s_.report && s_.allowed == 0) {
    EXPECT_EQ(static_cast<long long>(report_.nonfinite ? ~report_.nonfinite : ~0ull),
              first_nonfinite_)
        << describe(s_);
    EXPECT_EQ(report_.unsolved, unsolved_) << describe(s_);
  }
  return out;
}

} // namespace device_test
