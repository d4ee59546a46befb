// Dense systems: slots that stand for whole arrays, params that all lanes share, a step in loops.
#include "harness.hpp"

#include <gtest/gtest.h>

namespace rnnc::test {
namespace {

constexpr uint32_t width = 4;

// u'[i] = sum over j of W[i][j] u[j], + g[lane][i] x[i];  y = sum over i of u'[i]
template <class F>
void shootDense(const rnn_shoot_args* args) {
  const int64_t d = args->block_sizes[0];
  const F* w = static_cast<const F*>(args->shared[0]);
  const F half = *static_cast<const F*>(args->shared[1]);
  const F* g = static_cast<const F*>(args->params);
  F* u = static_cast<F*>(args->state);
  F* next = static_cast<F*>(args->scratch);
  F* products = next + d * width;
  std::fill_n(static_cast<F*>(args->finite), width, F(0));
  auto input = [&](int64_t i, int64_t t, uint32_t j) {
    return static_cast<const F*>(args->inputs[i])[t * args->input_strides[i] + j];
  };
  auto output = [&](int64_t i, int64_t t, uint32_t j) -> F& {
    return static_cast<F*>(args->outputs[i])[t * args->output_strides[i] + j];
  };
  for (int64_t t = 0; t < args->steps; ++t) {
    for (uint32_t lane = 0; lane < width; ++lane) {
      F sum = 0;
      for (int64_t i = 0; i < d; ++i) {
        F product = 0;
        for (int64_t j = 0; j < d; ++j) {
          product += w[i * d + j] * u[j * width + lane];
        }
        products[i * width + lane] = half * product;
        next[i * width + lane] =
            products[i * width + lane] + g[i * width + lane] * input(i, t, lane);
        sum += next[i * width + lane];
      }
      for (int64_t i = 0; i < d; ++i) {
        u[i * width + lane] = next[i * width + lane];
        output(i, t, lane) = next[i * width + lane];
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
      {"x", RNN_ROLE_INPUT, 2, headsAndD, freeSizes, 0, 0},
      {"W", RNN_ROLE_PARAM, 2, dTwice, freeSizes, 0, 0},
      {"g", RNN_ROLE_PARAM, 2, headsAndD, freeSizes, 0, 0},
      {"half", RNN_ROLE_PARAM, 0, nullptr, nullptr, 0, 0},
      {"u", RNN_ROLE_STATE, 2, headsAndD, freeSizes, .25, 0},
      {"y", RNN_ROLE_OUTPUT, 1, headsAndD, freeSizes, 0, 0},
  };
  rnn_slot x{0, 0, {0, -1}, {0, RNN_EVERY}};
  std::vector<rnn_slot> params{
      {1, 0, {-1, -1}, {RNN_EVERY, RNN_EVERY}}, {2, 0, {0, -1}, {0, RNN_EVERY}}, {3, 0, {}, {}}};
  rnn_slot u{4, 0, {0, -1}, {0, RNN_EVERY}};
  rnn_slot y{5, 0, {0}, {0}};
  std::vector<rnn_temporary> temporaries{{1, {0}}};
  std::vector<rnn_cpu_kernel> kernels{{RNN_F32, width, shootDense<float>, nullptr},
                                      {RNN_F64, width, shootDense<double>, nullptr}};
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

double drawn(int64_t seed) { return std::sin(1.7 * double(seed) + .3) / 2; }

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
    ModuleHandle module(table.get());
    const rnn_dim_value dims[] = {{"heads", heads}, {"d", d}};
    rnn_plan_options options = planOptions();
    options.dims = 2;
    options.dim = dims;
    options.batch = batch;
    options.time = time;
    options.compute = dtype;
    options.threads = threads;
    rnn_plan* plan = nullptr;
    size_t bytes = 0;
    rnn_status status = rnn_plan_create(module.module, &options, &plan);
    if (status == RNN_OK) {
      status = rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
      Workspace workspace(bytes);
      status = rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr);
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

TEST(Dense, IsThePlainLoop) {
  DenseTable table;
  for (int64_t batch : {1, 2}) {
    for (int64_t heads : {1, 3, 9}) {
      for (int64_t d : {1, 2, 7}) {
        for (int64_t time : {0, 1, 37}) {
          DenseCall<float> single(batch, heads, d, time);
          EXPECT_EQ(single.run(table, 2), "");
          single.expect();
          DenseCall<double> both(batch, heads, d, time);
          EXPECT_EQ(both.run(table, 1), "");
          both.expect();
        }
      }
    }
  }
}

// A block, or a batch, with nothing in it.
TEST(Dense, Empty) {
  DenseTable table;
  DenseCall<float> noBlock(2, 3, 0, 5);
  EXPECT_EQ(noBlock.run(table, 1), "");
  for (float sum : noBlock.y) {
    EXPECT_EQ(sum, 0);
  }
  DenseCall<float> noLanes(0, 3, 4, 5);
  EXPECT_EQ(noLanes.run(table, 1), "");
}

std::string denseError(const std::function<void(DenseTable&)>& change) {
  DenseTable table;
  table.get();
  change(table);
  ModuleHandle module(&table.table);
  return rnn_error_text(module.context);
}

TEST(Dense, TableErrors) {
  const std::string where = "module Dense, system dense: ";
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.carry = 1; }),
            where + "a dense system has no carry, this one has 1 numbers");
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.block_sizes = nullptr; }),
            where + "`block_dims`, `block_sizes` or `temporary` is null");
  EXPECT_EQ(denseError([](DenseTable& t) { t.temporaries[0].dim[0] = 1; }),
            where + "temporary 0: block dim 1 of 1");
  EXPECT_EQ(denseError([](DenseTable& t) { t.temporaries[0].rank = 7; }),
            where + "temporary 0: rank 7 is above 6");
  EXPECT_EQ(denseError([](DenseTable& t) { t.system.block_rank = 0; }),
            where + "state slot 0: index -1 along axis 1 of u is out of range");
  EXPECT_EQ(denseError([](DenseTable& t) {
              static const char* other[] = {"e"};
              t.system.block_dims = other;
            }),
            where + "state slot 0: index -1 along axis 1 of u is out of range");
}

// More scalars than anybody means: a message, before memory for them is taken.
TEST(Dense, TooLarge) {
  DenseTable table;
  ModuleHandle module(table.get());
  const rnn_dim_value dims[] = {{"heads", 1}, {"d", 5000000}};
  rnn_plan_options options = planOptions();
  options.dims = 2;
  options.dim = dims;
  options.batch = options.time = 1;
  rnn_plan* plan = nullptr;
  EXPECT_EQ(rnn_plan_create(module.module, &options, &plan), RNN_INVALID_ARGUMENT);
  EXPECT_STREQ(rnn_error_text(module.context),
               "system dense: a lane has more than 4194304 scalars; smaller dims are needed");
}

} // namespace
} // namespace rnnc::test
