// Emitted units of dense cells (test/Execution/Inputs/dense.rnn), run on the host, against plain
// loops in double. Their arithmetic is the printer's: f64 agrees to rounding, f32 to its own.
#include "rnn/dense.cuh"
#include "rnn/math.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gru_f32 {
#define Gru_h_forward gru_f32_forward
#include "dense_gru_f32.cu"
#undef Gru_h_forward
} // namespace gru_f32
namespace gru_f64 {
#define Gru_h_forward gru_f64_forward
#include "dense_gru_f64.cu"
#undef Gru_h_forward
} // namespace gru_f64
namespace heads_f64 {
#define Heads_c_forward heads_f64_forward
#include "dense_heads_f64.cu"
#undef Heads_c_forward
} // namespace heads_f64
namespace delay_f64 {
#define Dense_h_forward delay_f64_forward
#include "dense_delay_f64.cu"
#undef Dense_h_forward
} // namespace delay_f64
namespace order_f64 {
#define FarDense_h_forward order_f64_forward
#include "dense_order_f64.cu"
#undef FarDense_h_forward
} // namespace order_f64

namespace {

template <class real>
class Array {
public:
  Array(std::string name, std::vector<long long> shape, double scale)
      : name(std::move(name)), shape(std::move(shape)) {
    long long count = 1;
    for (long long size : this->shape)
      count *= size;
    data.resize(count);
    for (long long n = 0; n < count; ++n)
      data[n] = real(scale * std::sin(1.3 * double(n) + double(this->name[0])));
  }

  template <class... Index>
  real operator()(Index... index) const {
    const long long at[] = {index..., 0};
    long long place = 0;
    for (size_t a = 0; a < shape.size(); ++a)
      place = place * shape[a] + at[a];
    return data[place];
  }
  long long stride(size_t axis) const {
    long long product = 1;
    for (size_t a = axis + 1; a < shape.size(); ++a)
      product *= shape[a];
    return product;
  }
  /// Strides of the first axes belong to the lane, of the others to the block.
  template <class Slot>
  void place(Slot& slot, size_t laneAxes) {
    slot.lane.data = data.data();
    for (size_t a = 0; a < shape.size(); ++a)
      (a < laneAxes ? slot.lane.stride[a] : slot.element[a - laneAxes]) = stride(a);
  }

  std::string name;
  std::vector<long long> shape;
  std::vector<real> data;
};

/// A launch with few threads, so that each has several lanes; every access is checked.
template <class Args, class real, class Entry>
void launch(Entry* entry, Args& args, long long numbers, std::vector<Array<real>*> inputs,
            std::vector<Array<real>*> outputs) {
  constexpr int threads = 8;
  std::vector<real> scratch(numbers * threads);
  args.scratch = scratch.data();
  host_cuda::options how;
  for (Array<real>* array : inputs)
    how.buffers.push_back(host_cuda::input(array->name, array->data));
  for (Array<real>* array : outputs)
    how.buffers.push_back(host_cuda::output(array->name, array->data));
  rnn::forward_report report{};
  args.report = &report;
  how.buffers.push_back(host_cuda::output("scratch", scratch));
  how.buffers.push_back(host_cuda::inout("report", std::span(&report, 1)));
  how.guard = true;
  host_cuda::result ran = host_cuda::launch(how, dim3(2), dim3(threads / 2), 0, entry, args);
  ASSERT_EQ(ran.error, "");
  for (Array<real>* array : outputs)
    EXPECT_TRUE(ran[array->name].each_written(1)) << array->name;
  EXPECT_EQ(report.nonfinite, 0u);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <class real, class Args, class Entry>
void checkGru(Entry* entry, double tolerance) {
  for (long long d : {1, 8, 13}) {
    constexpr long long batch = 11, time = 9;
    // What the unit reads of the inputs are the products W @ x[t], and exp(-scale) once.
    Array<real> x_z("xz", {batch, time, d}, .5), x_r("wr", {batch, time, d}, .4),
        x_n("vn", {batch, time, d}, .6), U_z("Tz", {d, d}, .3), U_r("Sr", {d, d}, .3),
        U_n("Rn", {d, d}, .3), b("b", {d}, .2), g("s", {}, .9), h0("h0", {batch, d}, .7),
        h("h", {batch, time, d}, 0), y("y", {batch, time}, 0), last("last", {batch, d}, 0);
    Args args{};
    args.batch = batch;
    args.time = time;
    args.size[0] = d;
    Array<real>* inputs[] = {&x_z, &x_r, &x_n};
    for (int i = 0; i < 3; ++i)
      inputs[i]->place(args.input[i], 2);
    Array<real>* params[] = {&g, &U_z, &b, &U_r, &U_n};
    for (int p = 0; p < 5; ++p)
      params[p]->place(args.param[p], 0);
    h0.place(args.state[0].initial, 1);
    h.place(args.state[0].sequence, 2);
    last.place(args.state[0].final, 1);
    y.place(args.output[0], 2);
    launch<Args, real>(entry, args, 2 * d + 8 * d + 2,
                       {&x_z, &x_r, &x_n, &U_z, &U_r, &U_n, &b, &g, &h0}, {&h, &y, &last});
    for (long long n = 0; n < batch; ++n) {
      std::vector<double> now(d), z(d), r(d), next(d);
      for (long long i = 0; i < d; ++i)
        now[i] = h0(n, i);
      for (long long t = 0; t < time; ++t) {
        double square = 0;
        for (long long i = 0; i < d; ++i) {
          double az = b(i) + x_z(n, t, i), ar = x_r(n, t, i);
          for (long long j = 0; j < d; ++j)
            az += U_z(i, j) * now[j], ar += U_r(i, j) * now[j];
          z[i] = sigmoid(az), r[i] = sigmoid(ar);
        }
        for (long long i = 0; i < d; ++i) {
          double an = x_n(n, t, i);
          for (long long j = 0; j < d; ++j)
            an += U_n(i, j) * (r[j] * now[j]);
          next[i] = (1 - z[i]) * now[i] + z[i] * std::tanh(an) * g();
          square += next[i] * next[i];
        }
        now = next;
        for (long long i = 0; i < d; ++i)
          ASSERT_NEAR(h(n, t, i), now[i], tolerance);
        ASSERT_NEAR(y(n, t), square, 4 * tolerance);
      }
      for (long long i = 0; i < d; ++i)
        ASSERT_EQ(last(n, i), h(n, time - 1, i));
    }
  }
}

TEST(Dense, GruF32) { checkGru<float, gru_f32::Gru_h_args>(gru_f32::gru_f32_forward, 2e-6); }
TEST(Dense, GruF64) { checkGru<double, gru_f64::Gru_h_args>(gru_f64::gru_f64_forward, 1e-13); }

// Heads are lanes with weights of their own; c is hidden, and nobody gives its start.
TEST(Dense, Heads) {
  constexpr long long batch = 2, heads = 5, k = 24, time = 6;
  using Args = heads_f64::Heads_c_args;
  Array<double> x("x", {batch, time, heads, k}, .5), R("R", {heads, k, k}, .3), gain("g", {k}, .9),
      h("h", {batch, time, heads, k}, 0), y("y", {batch, time, heads}, 0),
      lastC("last", {batch, heads, k}, 0);
  Args args{};
  args.batch = batch;
  args.time = time;
  args.lanes[0] = heads;
  args.size[0] = k;
  x.place(args.input[0], 3);
  R.place(args.param[0], 1);
  gain.place(args.param[1], 0);
  h.place(args.state[1].sequence, 3);
  lastC.place(args.state[0].final, 2);
  y.place(args.output[0], 3);
  launch<Args, double>(heads_f64::heads_f64_forward, args, 4 * k + 8 * k, {&x, &R, &gain},
                       {&h, &y, &lastC});
  for (long long n = 0; n < batch; ++n)
    for (long long head = 0; head < heads; ++head) {
      std::vector<double> c(k, 0), now(k, 0);
      for (long long t = 0; t < time; ++t) {
        std::vector<double> next(k);
        double sum = 0;
        for (long long i = 0; i < k; ++i) {
          double product = 0;
          for (long long j = 0; j < k; ++j)
            product += R(head, i, j) * now[j];
          c[i] = .5 * c[i] + .1 * product + x(n, t, head, i);
          next[i] = c[i] > 0 ? std::tanh(gain(i) * c[i]) : .25 * c[i];
          sum += c[i] - next[i];
        }
        now = next;
        for (long long i = 0; i < k; ++i)
          ASSERT_NEAR(h(n, t, head, i), now[i], 1e-13);
        ASSERT_NEAR(y(n, t, head), sum, 1e-12);
      }
      for (long long i = 0; i < k; ++i)
        ASSERT_NEAR(lastC(n, head, i), c[i], 1e-13);
    }
}

/// h[t] = tanh(.2 W h[t-order] + sum of scale * x[t-back]), x before the start is `before`.
struct Delayed {
  int order;
  std::vector<std::pair<int, double>> reads; ///< back, scale
  double before, fill;
};

void checkDelayed(const Delayed& cell, const Array<double>& W, const Array<double>& x,
                  const Array<double>& h) {
  const long long batch = x.shape[0], time = x.shape[1], d = x.shape[2];
  for (long long n = 0; n < batch; ++n)
    for (long long t = 0; t < time; ++t)
      for (long long i = 0; i < d; ++i) {
        double sum = 0;
        for (long long j = 0; j < d; ++j)
          sum += .2 * W(i, j) * (t < cell.order ? cell.fill : h(n, t - cell.order, j));
        for (auto [back, scale] : cell.reads)
          sum += scale * (t < back ? cell.before : x(n, t - back, i));
        ASSERT_NEAR(h(n, t, i), std::tanh(sum), 1e-14) << "step " << t;
      }
}

// Nobody gives the states before the first step: they have the cell's own values.
TEST(Dense, EarlierInputs) {
  for (long long time : {1, 2, 5, 6, 23}) {
    constexpr long long batch = 9, d = 13;
    Array<double> x("x", {batch, time, d}, .5), W("W", {d, d}, .4), h("h", {batch, time, d}, 0);
    delay_f64::Dense_h_args args{};
    args.batch = batch;
    args.time = time;
    args.size[0] = d;
    for (auto& input : args.input)
      x.place(input, 2);
    W.place(args.param[0], 0);
    h.place(args.state[0].sequence, 2);
    args.state[0].fill = 0;
    launch<decltype(args), double>(delay_f64::delay_f64_forward, args, 2 * d + d, {&x, &W}, {&h});
    checkDelayed({1, {{0, -.5}, {1, 1}, {5, .25}}, .125, 0}, W, x, h);
  }
}

TEST(Dense, StatesOfOrderTwo) {
  for (long long time : {1, 2, 3, 11}) {
    constexpr long long batch = 9, d = 13;
    Array<double> x("x", {batch, time, d}, .5), W("W", {d, d}, .4), h("h", {batch, time, d}, 0);
    order_f64::FarDense_h_args args{};
    args.batch = batch;
    args.time = time;
    args.size[0] = d;
    x.place(args.input[0], 2);
    W.place(args.param[0], 0);
    h.place(args.state[0].sequence, 2);
    args.state[0].fill = args.state[1].fill = .5;
    launch<decltype(args), double>(order_f64::order_f64_forward, args, 4 * d + d, {&x, &W}, {&h});
    checkDelayed({2, {{1, 1}}, 0, .5}, W, x, h);
  }
}

} // namespace
