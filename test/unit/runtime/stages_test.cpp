// Products and maps around the solve: every form and layout, bit for bit.
#include "stage_tables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace rnnc::test {
namespace {

template <class F>
F multiplyAdd(F a, F b, F c) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? std::fma(a, b, c)
                                                                         : a * b + c;
#else
  return a * b + c;
#endif
}

struct Sizes {
  int64_t batch, time, h, n, k, r;
};

std::string run(const rnn_module_table* table, const Sizes& s, rnn_dtype compute,
                std::vector<rnn_tensor> args, int threads) {
  ModuleHandle module(table);
  if (module.status != RNN_OK) {
    return rnn_error_text(module.context);
  }
  const rnn_dim_value all[] = {{"h", s.h}, {"n", s.n}, {"k", s.k}, {"r", s.r}, {"d", 1}};
  std::vector<rnn_dim_value> dims;
  for (const rnn_dim_value& dim : all) {
    for (uint32_t i = 0; i < table->tensors; ++i) {
      const rnn_tensor_desc& tensor = table->tensor[i];
      if (std::any_of(tensor.dims, tensor.dims + tensor.rank,
                      [&](const char* name) { return std::string(name) == dim.name; })) {
        dims.push_back(dim);
        break;
      }
    }
  }
  rnn_plan_options options = planOptions();
  options.dims = uint32_t(dims.size());
  options.dim = dims.data();
  options.batch = s.batch;
  options.time = s.time;
  options.compute = compute;
  options.threads = threads;
  rnn_plan* plan = nullptr;
  if (rnn_plan_create(module.module, &options, &plan) != RNN_OK) {
    return rnn_error_text(module.context);
  }
  size_t bytes = 0;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  Workspace workspace(bytes);
  const rnn_status status = rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr);
  std::string error = status == RNN_OK ? "" : rnn_error_text(module.context);
  rnn_plan_destroy(plan);
  return error;
}

std::vector<int64_t> shapeOf(const std::vector<const char*>& dims, const Sizes& s, bool sequence) {
  std::vector<int64_t> shape;
  if (sequence) {
    shape = {s.batch, s.time};
  }
  for (const char* dim : dims) {
    shape.push_back(*dim == 'h' ? s.h : *dim == 'n' ? s.n : *dim == 'k' ? s.k : s.r);
  }
  return shape;
}

// The element of the result, summed in the order of k.
template <class F>
F expected(const ProductTable& t, const Strided& x, const Strided& w, const Strided& bias,
           const std::vector<int64_t>& y, int64_t contracted) {
  const size_t head = t.form.heads ? 1 : 0;
  const std::vector<int64_t> own(y.begin() + 2, y.end());
  auto with = [&](std::vector<int64_t> list, std::initializer_list<int64_t> more) {
    list.insert(list.end(), more);
    return list;
  };
  const std::vector<int64_t> heads(own.begin(), own.begin() + long(head));
  const int64_t first = own[head], second = t.form.matrix ? own[head + 1] : 0;
  const int64_t time = y[1] - int64_t(t.back);
  F sum = 0;
  if (t.form.bias) {
    sum = F(bias.get(t.form.matrix   ? std::vector<int64_t>{second}
                     : t.form.narrow ? std::vector<int64_t>{first}
                                     : own));
  }
  for (int64_t k = 0; k < contracted; ++k) {
    std::vector<int64_t> atX{y[0], time}, atW = heads;
    if (!t.form.oneForAll) {
      atX.insert(atX.end(), heads.begin(), heads.end());
    }
    if (t.form.left) {
      atX = with(atX, {first, k});
      atW = t.form.matrix ? with(atW, {k, second}) : with(atW, {k});
    } else {
      atX = t.form.matrix ? with(atX, {k, second}) : with(atX, {k});
      atW = with(atW, {first, k});
    }
    const F value = time < 0 ? F(t.before) : F(x.get(atX));
    sum = multiplyAdd(value, F(w.get(atW)), sum);
  }
  return sum;
}

template <class F>
void checkProduct(const Form& form, const Sizes& s, rnn_dtype storage, bool shuffled, uint32_t back,
                  int threads) {
  SCOPED_TRACE(std::string(form.name) + ", T = " + std::to_string(s.time) +
               ", k = " + std::to_string(s.k) + ", n = " + std::to_string(s.n) +
               (shuffled ? ", shuffled" : "") + ", back " + std::to_string(back));
  ProductTable table(form);
  table.back = back;
  table.before = .375;
  const rnn_module_table* module = table.get();
  Strided x(shapeOf(table.xDims, s, true), storage, shuffled, 1);
  Strided w(shapeOf(table.wDims, s, false), storage, shuffled, 1000);
  Strided b(shapeOf(table.bDims, s, false), storage, shuffled, 2000);
  Strided y(shapeOf(table.yDims, s, true), storage, shuffled, 3000);
  Strided g({s.batch, s.time, 1}, storage, false, 4000);
  const double gap = y.wide.back();
  // Inputs, params, the state's sequence, the output, the initial and the final state.
  std::vector<rnn_tensor> args{x.tensor(), g.tensor(), w.tensor(), b.tensor(),
                               {},         y.tensor(), {},         {}};
  ASSERT_EQ(run(module, s, sizeof(F) == 4 ? RNN_F32 : RNN_F64, args, threads), "");
  std::vector<int64_t> index(y.shape.size(), 0);
  int64_t wrong = 0;
  while (true) {
    const F value = expected<F>(table, x, w, b, index, s.k);
    const double stored = storage == RNN_F32 ? double(float(value)) : double(value);
    wrong += stored != y.get(index);
    size_t a = index.size();
    while (a > 0 && ++index[a - 1] == y.shape[a - 1]) {
      index[--a] = 0;
    }
    if (a == 0) {
      break;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(y.wide.back(), gap);
}

TEST(Stages, EveryFormOfAProductInEveryLayout) {
  for (const Form& form : forms) {
    for (bool shuffled : {false, true}) {
      checkProduct<float>(form, {2, 29, 2, 45, 13, 3}, RNN_F32, shuffled, 0, 2);
      checkProduct<double>(form, {2, 29, 2, 45, 13, 3}, RNN_F64, shuffled, 0, 2);
      checkProduct<float>(form, {2, 7, 2, 9, 5, 3}, RNN_F64, shuffled, 0, 1);
      checkProduct<double>(form, {2, 7, 2, 9, 5, 3}, RNN_F32, shuffled, 0, 1);
    }
  }
}

TEST(Stages, SizesAroundTheTilesOfAProduct) {
  for (int64_t time : {1, 5, 6, 7, 11, 12, 13, 241}) {
    for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 65}) {
      checkProduct<float>(forms[1], {1, time, 1, n, 3, 1}, RNN_F32, false, 0, 2);
      checkProduct<double>(forms[1], {1, time, 1, n, 3, 1}, RNN_F64, false, 0, 2);
    }
  }
  checkProduct<float>(forms[0], {1, 50, 1, 3, 30000, 1}, RNN_F32, false, 0, 2);
}

TEST(Stages, AProductOfEarlierInputsStartsWithWhatIsBefore) {
  for (uint32_t back : {1u, 3u, 40u}) {
    for (const Form& form : forms) {
      checkProduct<float>(form, {2, 37, 2, 5, 4, 3}, RNN_F32, false, back, 2);
    }
  }
}

TEST(Stages, NothingToDoIsDone) {
  ProductTable table(forms[0]);
  const rnn_module_table* module = table.get();
  for (const Sizes& s : {Sizes{0, 5, 1, 4, 4, 1}, Sizes{2, 0, 1, 4, 4, 1}}) {
    Strided x(shapeOf(table.xDims, s, true), RNN_F32, false, 1);
    Strided w(shapeOf(table.wDims, s, false), RNN_F32, false, 2);
    Strided b(shapeOf(table.bDims, s, false), RNN_F32, false, 3);
    Strided g({s.batch, s.time, 1}, RNN_F32, false, 4);
    EXPECT_EQ(run(module, s, RNN_F32,
                  {x.tensor(), g.tensor(), w.tensor(), b.tensor(), {}, {}, {}, {}}, 1),
              "");
  }
}

ModuleHandle* chainModule(ChainTable& chain) { return new ModuleHandle(chain.get()); }

TEST(Stages, AChainOfThemAroundTheSolve) {
  constexpr int64_t batch = 2, time = 300, m = 7, d = 5, n = 3;
  ChainTable chain;
  std::unique_ptr<ModuleHandle> module(chainModule(chain));
  ASSERT_EQ(module->status, RNN_OK) << rnn_error_text(module->context);
  Strided x({batch, time, m}, RNN_F64, false, 1), p({}, RNN_F64, false, 50);
  Strided w({d, m}, RNN_F64, false, 100), c({n, d}, RNN_F64, false, 200);
  const rnn_dim_value dims[] = {{"m", m}, {"d", d}, {"n", n}};
  rnn_plan_options options = planOptions();
  options.dims = 3;
  options.dim = dims;
  options.batch = batch;
  options.time = time;
  options.compute = RNN_F64;
  rnn_plan* plan = nullptr;
  ASSERT_EQ(rnn_plan_create(module->module, &options, &plan), RNN_OK)
      << rnn_error_text(module->context);
  size_t bytes = 0;
  rnn_plan_sizes(plan, &bytes, nullptr, nullptr);
  EXPECT_GE(bytes, size_t(batch * time * (m + d + d) * 8)); // u, g and h
  Workspace workspace(bytes);
  for (int wanted : {0, 1, 2}) { // no state, of the compute type, of another
    Strided h({batch, time, d}, wanted == 2 ? RNN_F32 : RNN_F64, wanted == 2, 300);
    Strided y({batch, time, n}, RNN_F64, false, 400);
    std::vector<rnn_tensor> args{x.tensor(), p.tensor(), w.tensor(), c.tensor(),
                                 h.tensor(), y.tensor(), {},         {}};
    if (!wanted) {
      args[4] = {};
    }
    ASSERT_EQ(rnn_forward(plan, args.data(), workspace.data, nullptr, nullptr), RNN_OK)
        << rnn_error_text(module->context);
    std::vector<double> state(batch * d, 0);
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t t = 0; t < time; ++t) {
        for (int64_t i = 0; i < d; ++i) {
          double sum = 0;
          for (int64_t j = 0; j < m; ++j) {
            sum = multiplyAdd(2 * x.get({b, t, j}) + p.get({}) * p.get({}), w.get({i, j}), sum);
          }
          state[size_t(b * d + i)] = state[size_t(b * d + i)] / 2 + sum;
          if (wanted) {
            const double value = state[size_t(b * d + i)];
            ASSERT_EQ(h.get({b, t, i}), wanted == 2 ? double(float(value)) : value);
          }
        }
        for (int64_t o = 0; o < n; ++o) {
          double sum = 0;
          for (int64_t i = 0; i < d; ++i) {
            sum = multiplyAdd(state[size_t(b * d + i)], c.get({o, i}), sum);
          }
          ASSERT_EQ(y.get({b, t, o}), sum) << wanted << " " << b << " " << t;
        }
      }
    }
  }
  rnn_plan_destroy(plan);
}

/// Of a table that `spoil` makes bad.
template <typename Spoil>
void expectRefused(const char* text, Spoil spoil) {
  ChainTable chain;
  spoil(chain);
  std::unique_ptr<ModuleHandle> module(chainModule(chain));
  EXPECT_EQ(module->status, RNN_INVALID_ARGUMENT);
  EXPECT_NE(std::string(rnn_error_text(module->context)).find(text), std::string::npos)
      << rnn_error_text(module->context);
}

TEST(Stages, BadTablesAreRefused) {
  expectRefused("stage 1: phase 1 is unknown, or comes too late", [](ChainTable& chain) {
    chain.stages = {{RNN_PHASE_AFTER, &chain.productY, nullptr, nullptr},
                    {RNN_PHASE_BEFORE, &chain.productG, nullptr, nullptr}};
  });
  expectRefused("stage 0: is one of a product, a map and an outer product", [](ChainTable& chain) {
    chain.stages = {{RNN_PHASE_BEFORE, nullptr, nullptr, nullptr}};
  });
  expectRefused("stage 2: axis 1 of C is not axis 0 of u",
                [](ChainTable& chain) { chain.ofG.weight = 3; });
  expectRefused("weight: tensor 99 of 9", [](ChainTable& chain) { chain.ofG.weight = 99; });
  expectRefused("sequence: tensor h has another role",
                [](ChainTable& chain) { chain.productG.sequence = 4; });
  expectRefused("sequence: only inputs can be delayed",
                [](ChainTable& chain) { chain.productG.back = 1; });
  expectRefused("bias: W does not have the last axes of g",
                [](ChainTable& chain) { chain.ofG.bias = 2; });
  expectRefused("result: tensor W has another role",
                [](ChainTable& chain) { chain.ofY.result = 2; });
}

} // namespace
} // namespace rnnc::test
