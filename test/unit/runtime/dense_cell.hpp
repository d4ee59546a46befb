// A dense system written by hand: slots that stand for whole arrays, params that all lanes share, a
// step in loops, and in place of its Jacobian a diagonal.
#pragma once

#include "harness.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rnnc::test {

/// What stands for the diagonal of the Jacobian, half * W[i][i].
enum class Diagonal { None, Right, Zero, Shifted };

inline constexpr uint32_t denseWidth = 4;

// u'[i] = sum over j of W[i][j] u[j], + g[lane][i] x[i];  y = sum over i of u'[i]
template <class F, Diagonal diagonal = Diagonal::None>
void shootDense(const rnn_shoot_args* args) {
  const int64_t d = args->block_sizes[0];
  const F* w = static_cast<const F*>(args->shared[0]);
  const F half = *static_cast<const F*>(args->shared[1]);
  const F* g = static_cast<const F*>(args->params);
  F* u = static_cast<F*>(args->state);
  F* next = static_cast<F*>(args->scratch);
  F* products = next + d * denseWidth;
  std::fill_n(static_cast<F*>(args->finite), denseWidth, F(0));
  F* carry = static_cast<F*>(args->carry);
  for (int64_t i = 0; i < d && diagonal != Diagonal::None; ++i) {
    const int64_t at = diagonal == Diagonal::Shifted ? (i + 1) % d : i;
    const F entry = diagonal == Diagonal::Zero ? F(0) : half * w[at * d + at];
    std::fill_n(carry + i * denseWidth, denseWidth, F(std::pow(entry, args->steps)));
  }
  auto input = [&](int64_t i, int64_t t, uint32_t j) {
    return static_cast<const F*>(args->inputs[i])[t * args->input_strides[i] + j];
  };
  auto output = [&](int64_t i, int64_t t, uint32_t j) -> F& {
    return static_cast<F*>(args->outputs[i])[t * args->output_strides[i] + j];
  };
  for (int64_t t = 0; t < args->steps; ++t) {
    for (uint32_t lane = 0; lane < denseWidth; ++lane) {
      F sum = 0;
      for (int64_t i = 0; i < d; ++i) {
        F product = 0;
        for (int64_t j = 0; j < d; ++j) {
          product += w[i * d + j] * u[j * denseWidth + lane];
        }
        products[i * denseWidth + lane] = half * product;
        next[i * denseWidth + lane] =
            products[i * denseWidth + lane] + g[i * denseWidth + lane] * input(i, t, lane);
        sum += next[i * denseWidth + lane];
      }
      for (int64_t i = 0; i < d; ++i) {
        u[i * denseWidth + lane] = next[i * denseWidth + lane];
        output(i, t, lane) = next[i * denseWidth + lane];
      }
      output(d, t, lane) = sum;
    }
  }
}

// lanes [heads], block [d]: x, u : [heads, d], W : [d, d], g : [heads, d], half : [], y : [heads]
struct DenseTable {
  const char* headsAndD[2] = {"heads", "d"};
  const char* dTwice[2] = {"d", "d"};
  int64_t freeSizes[2] = {-1, -1};
  std::vector<rnn_tensor_desc> tensors{
      {"x", RNN_ROLE_INPUT, 2, headsAndD, freeSizes, 0, 0, 0, nullptr},
      {"W", RNN_ROLE_PARAM, 2, dTwice, freeSizes, 0, 0, 0, nullptr},
      {"g", RNN_ROLE_PARAM, 2, headsAndD, freeSizes, 0, 0, 0, nullptr},
      {"half", RNN_ROLE_PARAM, 0, nullptr, nullptr, 0, 0, 0, nullptr},
      {"u", RNN_ROLE_STATE, 2, headsAndD, freeSizes, .25, 0, 0, nullptr},
      {"y", RNN_ROLE_OUTPUT, 1, headsAndD, freeSizes, 0, 0, 0, nullptr},
  };
  rnn_slot x{0, 0, {0, -1}, {0, RNN_EVERY}};
  std::vector<rnn_slot> params{
      {1, 0, {-1, -1}, {RNN_EVERY, RNN_EVERY}}, {2, 0, {0, -1}, {0, RNN_EVERY}}, {3, 0, {}, {}}};
  rnn_slot u{4, 0, {0, -1}, {0, RNN_EVERY}};
  rnn_slot y{5, 0, {0}, {0}};
  std::vector<rnn_temporary> temporaries{{1, {0}}};
  std::vector<rnn_cpu_kernel> kernels{{RNN_F32, denseWidth, shootDense<float>, nullptr},
                                      {RNN_F64, denseWidth, shootDense<double>, nullptr}};

  /// The parallel schedule becomes possible.
  template <Diagonal diagonal>
  void correctWith() {
    kernels[0].shoot_jacobian = shootDense<float, diagonal>;
    kernels[1].shoot_jacobian = shootDense<double, diagonal>;
    system.diagonal = 1;
  }
  rnn_system_desc system{};
  rnn_module_table table{};

  const rnn_module_table* get() {
    system.name = "dense";
    system.lane_rank = 1;
    system.lane_axes = headsAndD;
    system.lane_sizes = freeSizes;
    system.states = system.inputs = system.outputs = 1;
    system.params = static_cast<uint32_t>(params.size());
    system.state_slots = &u;
    system.input_slots = &x;
    system.param_slots = params.data();
    system.output_slots = &y;
    system.kernels = static_cast<uint32_t>(kernels.size());
    system.kernel = kernels.data();
    if (!system.block_rank) {
      system.block_rank = 1;
      system.block_dims = dTwice;
      system.block_sizes = freeSizes;
      system.temporaries = static_cast<uint32_t>(temporaries.size());
      system.temporary = temporaries.data();
    }
    table.abi_version = RNN_ABI_VERSION;
    table.size = sizeof(rnn_module_table);
    table.cell = "Dense";
    table.tensors = static_cast<uint32_t>(tensors.size());
    table.tensor = tensors.data();
    table.systems = 1;
    table.system = &system;
    return &table;
  }
};

inline double drawn(int64_t seed) { return std::sin(1.7 * double(seed) + .3) / 2; }

// Every argument in a layout of its own: W transposed, g with a gap, the rest contiguous.
template <class F>
struct DenseCall {
  int64_t batch, heads, d, time;
  rnn_dtype dtype = sizeof(F) == 4 ? RNN_F32 : RNN_F64;
  std::vector<F> x, w, g, half, u, y, initial, final;
  std::vector<rnn_tensor> args;

  DenseCall(int64_t batch, int64_t heads, int64_t d, int64_t time)
      : batch(batch), heads(heads), d(d), time(time), x(batch * time * heads * d), w(d * d),
        g(heads * d * 2), half{F(.5)}, u(x.size()), y(batch * time * heads),
        initial(batch * heads * d), final(initial.size()) {
    int64_t seed = 0;
    for (std::vector<F>* array : {&x, &w, &g, &initial}) {
      for (F& value : *array) {
        value = F(drawn(++seed));
      }
    }
    add(x, {batch, time, heads, d});
    add(w, {d, d});
    std::swap(args.back().strides[0], args.back().strides[1]);
    add(g, {heads, d});
    args.back().strides[0] = 2 * d;
    args.back().strides[1] = 2;
    add(half, {});
    add(u, {batch, time, heads, d});
    add(y, {batch, time, heads});
    add(initial, {batch, heads, d});
    add(final, {batch, heads, d});
  }

  void add(std::vector<F>& data, std::vector<int64_t> shape) {
    rnn_tensor tensor{};
    tensor.data = data.data();
    tensor.dtype = dtype;
    tensor.rank = static_cast<uint32_t>(shape.size());
    int64_t stride = 1;
    for (size_t a = shape.size(); a-- > 0;) {
      tensor.shape[a] = shape[a];
      tensor.strides[a] = stride;
      stride *= shape[a];
    }
    args.push_back(tensor);
  }

  std::string run(DenseTable& table, int threads) {
    rnn_plan_options options = planOptions();
    options.threads = threads;
    return solve(table, options);
  }

  std::string solve(DenseTable& table, rnn_plan_options options, rnn_report* report = nullptr) {
    ModuleHandle module(table.get());
    const rnn_dim_value dims[] = {{"heads", heads}, {"d", d}};
    options.dims = 2;
    options.dim = dims;
    options.batch = batch;
    options.time = time;
    options.compute = dtype;
    rnn_plan* plan = nullptr;
    size_t bytes = 0;
    rnn_status status = rnn_plan_create(module.module, &options, &plan);
    if (status == RNN_OK) {
      status = rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
      Workspace workspace(bytes);
      status = rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr);
      if (report) {
        report->size = sizeof *report;
        rnn_report_read(plan, workspace.data, report);
      }
    }
    rnn_plan_destroy(plan);
    return status == RNN_OK ? "" : rnn_error_text(module.context);
  }

  // The plain loop, in the order of the kernel.
  void expect() const {
    std::vector<F> now(d), next(d);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        std::copy_n(initial.begin() + (b * heads + h) * d, d, now.begin());
        for (int64_t t = 0; t < time; ++t) {
          F sum = 0;
          for (int64_t i = 0; i < d; ++i) {
            F product = 0;
            for (int64_t j = 0; j < d; ++j) {
              product += w[j * d + i] * now[j];
            }
            next[i] =
                F(.5) * product + g[h * 2 * d + 2 * i] * x[((b * time + t) * heads + h) * d + i];
            sum += next[i];
          }
          now = next;
          for (int64_t i = 0; i < d; ++i) {
            ASSERT_EQ(u[((b * time + t) * heads + h) * d + i], now[i]) << b << t << h << i;
          }
          ASSERT_EQ(y[(b * time + t) * heads + h], sum);
        }
        for (int64_t i = 0; i < d; ++i) {
          ASSERT_EQ(final[(b * heads + h) * d + i], now[i]);
        }
      }
    }
  }
};

} // namespace rnnc::test
