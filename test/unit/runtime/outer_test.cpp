// Matrices that two sequences make, summed over time: against a loop, and bit by bit.
#include "backward_problem.hpp"
#include "cpu/product_kernel.hpp"
#include "outer_cell.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace rnnc::test {
namespace {

struct Sizes {
  int64_t batch, time, g, m, n;
};

// The arguments of a call, in their order.
enum Argument { ofX, ofU, ofW, ofV, ofP, ofQ, ofS, ofH, ofInitial, ofFinal, arguments };
const std::initializer_list<Argument> matrices = {ofW, ofV, ofP, ofQ};

struct OuterProblem {
  explicit OuterProblem(Sizes s, Layout layout = Layout::Contiguous, rnn_dtype dtype = RNN_F64)
      : sizes(s) {
    const std::vector<int64_t> shapes[] = {{s.batch, s.time, s.g, s.m},
                                           {s.batch, s.time, s.g, s.n},
                                           {s.g, s.m, s.n},
                                           {s.g, s.n, s.m},
                                           {1, s.n},
                                           {s.g, s.m, s.n},
                                           {s.m},
                                           {s.batch, s.time, s.g, s.m}};
    for (auto* list : {&values, &gradients}) {
      for (int i = 0; i < ofInitial; ++i) {
        list->emplace_back(shapes[i], i < ofW || i == ofH ? 1 : -1, layout, dtype);
      }
    }
    std::mt19937 random(11);
    for (Array* array : {&values[ofX], &values[ofU], &values[ofS], &gradients[ofH]}) {
      draw(*array, random);
    }
  }
  void draw(Array& array, std::mt19937& random) {
    BackwardProblem::each(array, [&](std::span<const int64_t> at) {
      array.set(at, std::uniform_real_distribution(-1., 1.)(random));
    });
  }

  /// "" or the error. Of a packed batch: initial states are those of the segments.
  std::string run(const OuterTable& table, rnn_plan_options options, bool givesInitial = true) {
    const int64_t sequences = offsets.empty() ? sizes.batch : int64_t(offsets.size()) - 1;
    for (auto* list : {&values, &gradients}) {
      list->resize(ofInitial);
      for (int i = ofInitial; i < arguments; ++i) {
        list->emplace_back(std::vector<int64_t>{sequences, sizes.g, sizes.m}, -1,
                           Layout::Contiguous, values[ofX].tensor.dtype);
      }
    }
    std::mt19937 random(13);
    draw(values[ofInitial], random);
    draw(gradients[ofFinal], random);
    if (!givesInitial) {
      values[ofInitial].tensor.data = nullptr;
    }
    const rnn_dim_value dims[] = {{"g", sizes.g}, {"m", sizes.m}, {"n", sizes.n}};
    options.dims = 3;
    options.dim = dims;
    options.batch = sizes.batch;
    options.time = sizes.time;
    options.compute = options.compute == RNN_F32 && isNarrow ? RNN_F32 : RNN_F64;
    options.training = options.training ? options.training : RNN_TRAINING_L1;
    options.reset = !mask.empty();
    if (!offsets.empty()) {
      options.segments = sequences;
      options.segment_offsets = offsets.data();
      options.offset_bits = 64;
    }
    reversed = options.reversed;
    ModuleHandle module(&table.table);
    rnn_plan* plan = nullptr;
    if (!module.module || rnn_plan_create(module.module, &options, &plan) != RNN_OK) {
      return rnn_error_text(module.context);
    }
    size_t bytes = 0, saved = 0;
    rnn_plan_sizes(plan, &bytes, &saved, nullptr);
    const Workspace forward(bytes), backward(bytes), reserve(saved);
    std::vector<rnn_tensor> tensors, grads;
    for (int i = 0; i < arguments; ++i) {
      tensors.push_back(values[i].tensor);
      grads.push_back(gradients[i].tensor);
    }
    if (options.reset) {
      rnn_tensor reset{};
      reset.data = mask.data();
      reset.dtype = RNN_U8;
      reset.rank = 2;
      std::ranges::copy(std::array{sizes.batch, sizes.time}, reset.shape);
      std::ranges::copy(std::array{sizes.time, int64_t(1)}, reset.strides);
      tensors.push_back(reset);
    }
    const bool ok =
        rnn_forward(plan, tensors.data(), forward.data, reserve.data, nullptr) == RNN_OK &&
        rnn_backward(plan, tensors.data(), grads.data(), backward.data, reserve.data, nullptr) ==
            RNN_OK;
    rnn_plan_destroy(plan);
    return ok ? "" : rnn_error_text(module.context);
  }

  double at(const Array& array, std::initializer_list<int64_t> index) const {
    return array.tensor.data ? array.get(std::vector<int64_t>(index)) : 0;
  }

  /// Calls step(batch, time, h before it, h, what it owes) for every step of every sequence, the
  /// vectors over [g, m].
  template <class Step>
  void eachStep(bool startsFromParam, const Step& step) const {
    const auto [batch, time, g, m, n] = sizes;
    const int64_t sequences = offsets.empty() ? batch : int64_t(offsets.size()) - 1;
    using Vector = std::vector<double>;
    for (int64_t s = 0; s < sequences; ++s) {
      const int64_t b = offsets.empty() ? s : 0;
      const int64_t first = offsets.empty() ? 0 : offsets[s];
      const int64_t last = offsets.empty() ? time : offsets[s + 1];
      std::vector<int64_t> order;
      for (int64_t t = first; t < last; ++t) {
        order.push_back(reversed ? first + last - 1 - t : t);
      }
      auto vector = [&](const auto& value) {
        Vector v;
        for (int64_t i = 0; i < g * m; ++i) {
          v.push_back(value(i / m, i % m));
        }
        return v;
      };
      const Vector anew =
          vector([&](int64_t, int64_t j) { return startsFromParam ? at(values[ofS], {j}) : .25; });
      Vector h =
          values[ofInitial].tensor.data
              ? vector([&](int64_t i, int64_t j) { return at(values[ofInitial], {s, i, j}); })
              : anew;
      std::vector<Vector> before, after;
      auto begins = [&](int64_t t) { return !mask.empty() && mask[size_t(b * time + t)]; };
      for (int64_t t : order) {
        h = begins(t) ? anew : h;
        before.push_back(h);
        for (int64_t i = 0; i < g * m; ++i) {
          h[i] = h[i] / 2 + at(values[ofX], {b, t, i / m, i % m});
        }
        after.push_back(h);
      }
      Vector owed = vector([&](int64_t i, int64_t j) { return at(gradients[ofFinal], {s, i, j}); });
      for (size_t k = order.size(); k-- > 0;) {
        for (int64_t i = 0; i < g * m; ++i) {
          owed[i] += at(gradients[ofH], {b, order[k], i / m, i % m});
        }
        step(b, order[k], before[k], after[k], owed);
        for (double& value : owed) {
          value = begins(order[k]) ? 0 : value / 2;
        }
      }
    }
  }

  void check(bool startsFromParam, double bound = 1e-12) const {
    const auto [batch, time, g, m, n] = sizes;
    std::vector<double> w(g * m * n), v(g * m * n), p(n), q(g * m * n);
    eachStep(startsFromParam, [&](int64_t b, int64_t t, const auto& before, const auto& after,
                                  const auto& owed) {
      for (int64_t i = 0; i < g; ++i) {
        for (int64_t k = 0; k < n; ++k) {
          const double u = at(values[ofU], {b, t, i, k}), u0 = at(values[ofU], {b, t, 0, k});
          for (int64_t j = 0; j < m; ++j) {
            const double upstream = at(gradients[ofH], {b, t, i, j});
            w[(i * m + j) * n + k] += before[i * m + j] * u;
            v[(i * n + k) * m + j] += owed[i * m + j] * u;
            p[k] -= upstream * u;
            q[(i * m + j) * n + k] += upstream != 0 ? upstream * u : 0;
          }
          q[i * m * n + k] += after[i * m] * u0;
        }
      }
    });
    auto compare = [&](Argument arg, const std::vector<double>& expected) {
      size_t next = 0;
      BackwardProblem::each(gradients[arg], [&](std::span<const int64_t> index) {
        const double got = gradients[arg].get(index), want = expected[next++];
        if (std::isfinite(want)) {
          ASSERT_NEAR(got, want, bound * (1 + std::fabs(want))) << "argument " << arg;
        } else {
          ASSERT_EQ(std::isnan(got), std::isnan(want)) << "argument " << arg;
          ASSERT_TRUE(std::isnan(got) || got == want) << "argument " << arg;
        }
      });
    };
    compare(ofW, w);
    compare(ofV, v);
    compare(ofP, p);
    compare(ofQ, q);
  }

  Sizes sizes;
  std::vector<Array> values, gradients;
  std::vector<uint8_t> mask;    ///< [batch][time]
  std::vector<int64_t> offsets; ///< of a packed batch
  bool isNarrow = false, reversed = false;
};

void expectSameBits(const OuterProblem& problem, const OuterProblem& expected) {
  for (Argument arg : matrices) {
    EXPECT_EQ(problem.gradients[arg].bytes, expected.gradients[arg].bytes) << arg;
  }
}

rnn_plan_options sequential() { return optionsFor(schedules[0]); }

TEST(Outer, EveryShapeGivesTheSumsOfTheLoop) {
  for (bool startsFromParam : {false, true}) {
    const OuterTable table(startsFromParam);
    for (const Sizes& sizes : {Sizes{1, 1, 1, 1, 1},
                               {2, 64, 1, 1, 33},
                               {3, 65, 1, 33, 1},
                               {2, 129, 3, 13, 17},
                               {1, 200, 2, 64, 48},
                               {2, 63, 1, 101, 31},
                               {5, 7, 7, 2, 3},
                               {1, 300, 1, 3, 130},
                               {2, 0, 2, 3, 4},
                               {0, 5, 2, 3, 4},
                               {2, 5, 2, 3, 0}}) {
      for (bool givesInitial : {true, false}) {
        SCOPED_TRACE(testing::Message() << sizes.time << ' ' << sizes.g << ' ' << sizes.m << ' '
                                        << sizes.n << (givesInitial ? ", initial" : ""));
        OuterProblem problem(sizes);
        ASSERT_EQ(problem.run(table, sequential(), givesInitial), "");
        problem.check(startsFromParam);
      }
    }
  }
}

TEST(Outer, EveryLayoutAndStorage) {
  const OuterTable table(false);
  for (Layout layout : {Layout::Contiguous, Layout::TimeMajor, Layout::Padded, Layout::Reversed,
                        Layout::Strided, Layout::LaneMajor}) {
    for (rnn_dtype dtype : {RNN_F64, RNN_F32, RNN_BF16, RNN_F16}) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(layout) << ' ' << static_cast<int>(dtype));
      OuterProblem problem({2, 70, 2, 5, 35}, layout, dtype);
      ASSERT_EQ(problem.run(table, sequential()), "");
      problem.check(false, dtype == RNN_F64 ? 1e-12 : dtype == RNN_F32 ? 1e-6 : 1e-2);
    }
  }
}

TEST(Outer, SequencesBeginAnewInEitherDirection) {
  for (bool startsFromParam : {false, true}) {
    const OuterTable table(startsFromParam);
    for (bool reversed : {false, true}) {
      for (bool givesInitial : {true, false}) {
        rnn_plan_options options = sequential();
        options.reversed = reversed;
        OuterProblem problem({3, 140, 2, 3, 5});
        problem.mask.resize(3 * 140);
        for (int64_t t : {0, 1, 63, 64, 65, 127, 128, 139}) {
          problem.mask[t] = problem.mask[140 + t * t % 140] = 1;
        }
        ASSERT_EQ(problem.run(table, options, givesInitial), "");
        problem.check(startsFromParam);
        OuterProblem packed({1, 200, 2, 3, 5});
        packed.offsets = {0, 1, 1, 64, 70, 134, 199, 200};
        ASSERT_EQ(packed.run(table, options, givesInitial), "");
        packed.check(startsFromParam);
        packed.mask.resize(200);
        packed.mask[0] = packed.mask[70] = packed.mask[100] = packed.mask[133] = 1;
        ASSERT_EQ(packed.run(table, options, givesInitial), "");
        packed.check(startsFromParam);
      }
    }
  }
}

TEST(Outer, BitsDependNeitherOnThreadsNorOnLayoutsNorOnWindows) {
  const OuterTable table(false);
  const Sizes sizes{2, 1100, 1, 40, 65};
  for (bool isNarrow : {false, true}) {
    auto run = [&](int threads, Layout layout, rnn_training training, int64_t checkpoint) {
      OuterProblem problem(sizes, layout, isNarrow ? RNN_F32 : RNN_F64);
      problem.isNarrow = isNarrow;
      rnn_plan_options options = sequential();
      options.threads = threads;
      options.training = training;
      options.checkpoint = checkpoint;
      EXPECT_EQ(problem.run(table, options), "");
      return problem;
    };
    const OuterProblem expected = run(1, Layout::Contiguous, RNN_TRAINING_L1, 0);
    expected.check(false, isNarrow ? 1e-4 : 1e-12);
    for (int threads = 2; threads <= 8; ++threads) {
      expectSameBits(run(threads, Layout::Contiguous, RNN_TRAINING_L1, 0), expected);
    }
    for (int64_t checkpoint : {64, 256}) {
      expectSameBits(run(2, Layout::Contiguous, RNN_TRAINING_L2, checkpoint), expected);
      expectSameBits(run(2, Layout::Contiguous, RNN_TRAINING_L3, checkpoint), expected);
    }
    const OuterProblem strided = run(2, Layout::TimeMajor, RNN_TRAINING_L1, 0);
    for (Argument arg : matrices) {
      BackwardProblem::each(expected.gradients[arg], [&](std::span<const int64_t> index) {
        ASSERT_EQ(strided.gradients[arg].get(index), expected.gradients[arg].get(index));
      });
    }
  }
}

TEST(Outer, WhatNobodyGivesIsZero) {
  const OuterTable table(false);
  OuterProblem problem({2, 100, 2, 5, 7});
  problem.gradients[ofH].tensor.data = nullptr;
  ASSERT_EQ(problem.run(table, sequential()), "");
  problem.check(false);
}

TEST(Outer, WhereTheGuardIsZeroNothingIsAdded) {
  const OuterTable table(false);
  const double inf = std::numeric_limits<double>::infinity();
  for (const Sizes& sizes : {Sizes{2, 100, 2, 5, 40}, {2, 100, 2, 40, 5}}) { // either way round
    OuterProblem problem(sizes);
    BackwardProblem::each(problem.gradients[ofH], [&](std::span<const int64_t> at) {
      if (at[1] % 3 == 0 || (at[1] == 70 && at[3] == 1)) {
        problem.gradients[ofH].set(at, 0);
      }
    });
    problem.values[ofU].set(std::vector<int64_t>{0, 33, 1, 2}, inf);
    problem.values[ofU].set(std::vector<int64_t>{1, 66, 1, 3}, std::nan(""));
    problem.values[ofU].set(std::vector<int64_t>{1, 70, 1, 4}, -inf);
    ASSERT_EQ(problem.run(table, sequential()), "");
    problem.check(false);
    auto q = [&](int64_t j, int64_t k) { return problem.at(problem.gradients[ofQ], {1, j, k}); };
    EXPECT_TRUE(std::isfinite(q(1, 2)) && std::isfinite(q(1, 3)) && std::isfinite(q(1, 4)));
    EXPECT_TRUE(std::isinf(q(2, 4)));
  }
}

template <class F>
void checkKernel(const runtime::cpu::ProductKernel<F>& kernel, bool isFused) {
  std::mt19937 random(3);
  auto drawn = [&](int64_t count) {
    std::vector<F> numbers(static_cast<size_t>(count));
    std::ranges::generate(numbers,
                          [&] { return std::uniform_real_distribution<F>(-1, 1)(random); });
    return numbers;
  };
  for (int64_t steps : {0, 1, 2, 63, 64}) {
    const std::vector<F> a = drawn(steps * kernel.mr), b = drawn(steps * kernel.nr),
                         before = drawn(kernel.mr * kernel.nr);
    std::vector<F> tile = before;
    kernel.add(steps, a.data(), b.data(), tile.data());
    for (int64_t i = 0; i < kernel.mr; ++i) {
      for (int64_t j = 0; j < kernel.nr; ++j) {
        F sum = 0;
        for (int64_t k = 0; k < steps; ++k) {
          const F left = a[k * kernel.mr + i], right = b[k * kernel.nr + j];
          sum = isFused ? std::fma(left, right, sum) : sum + left * right;
        }
        const auto at = static_cast<size_t>(i * kernel.nr + j);
        ASSERT_EQ(tile[at], before[at] + sum) << steps << " steps, " << i << ' ' << j;
      }
    }
  }
}

TEST(Outer, KernelsOfEveryInstructionSetAddOneChain) {
  using namespace runtime::cpu;
  auto check = [](const ProductKernels* kernels, bool isFused) {
    if (kernels) {
      checkKernel(kernels->f32, isFused);
      checkKernel(kernels->f64, isFused);
    }
  };
  check(productKernelsBaseline(), false);
#if defined(__x86_64__)
  check(__builtin_cpu_supports("fma") ? productKernelsAvx2() : nullptr, true);
  check(__builtin_cpu_supports("avx512f") ? productKernelsAvx512() : nullptr, true);
#endif
}

TEST(Outer, AnElementThatIsUsedIsThere) {
  const OuterTable table(false);
  OuterProblem problem({2, 5, 2, 0, 4});
  EXPECT_EQ(problem.run(table, sequential()), "dim m is 0, but the module uses element 0 of h");
}

TEST(Outer, TablesThatAreWrongAreRefused) {
  auto errorOf = [&](const auto& spoil) {
    OuterTable table(false);
    spoil(table);
    ModuleHandle module(&table.table);
    EXPECT_EQ(module.status, RNN_INVALID_ARGUMENT);
    const std::string where = "module Outer.adjoint, stage 0: ",
                      error(rnn_error_text(module.context));
    return error.starts_with(where) ? error.substr(where.size()) : error;
  };
  using Table = OuterTable;
  EXPECT_EQ(errorOf([](Table& t) { t.stages[0].phase = RNN_PHASE_CALL; }),
            "an outer product runs over steps");
  EXPECT_EQ(errorOf([](Table& t) { t.stages[0].map = &t.system; }),
            "module Outer.adjoint: stage 0: is one of a product, a map and an outer product");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].result.tensor = 77; }), "result: tensor 77 of 10");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].result.tensor = Table::Owed; }),
            "result: owed has 2 of the 3 axes");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].result.lane_axis[1] = 2; }),
            "result: axis 2 of d.W is axis 2 of 3, or not the first such one");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].axes = 7; }), "result: d.W has 3 of the 7 axes");
  EXPECT_EQ(errorOf([](Table& t) {
              t.stages[0].phase = RNN_PHASE_BEFORE;
              t.outers[0].left.tensor = Table::Carried;
            }),
            "left slot 0: tensor c.h has another role");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].left.back = 1; }),
            "an outer product's factors cannot be delayed");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].right = t.outers[0].left; }),
            "neither factor has axis 2 of the outer product");
  EXPECT_EQ(errorOf([](Table& t) { t.outers[0].left.lane_axis[1] = 2; }),
            "left slot 0: axis 1 of h.back1 is no lane axis n");
}

} // namespace
} // namespace rnnc::test
