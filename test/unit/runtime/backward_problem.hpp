// A call of the cell of backward_cell.hpp with its gradients, and the same sums as a loop.
#pragma once

#include "backward_cell.hpp"
#include "harness.hpp"

#include <gtest/gtest.h>

#include <random>

namespace rnnc::test {

enum Arg { X, A, S, H, Y, Initial, Final, args };

struct Shape {
  int64_t batch, time, lanes;
};

/// A call with its gradients, in one layout and storage type.
struct BackwardProblem {
  BackwardProblem(Shape shape, Layout layout = Layout::Contiguous, rnn_dtype dtype = RNN_F64,
                  bool givesInitial = true)
      : shape(shape), givesInitial(givesInitial) {
    const std::vector<int64_t> sequence = {shape.batch, shape.time, shape.lanes},
                               state = {shape.batch, shape.lanes}, lanes = {shape.lanes};
    for (auto* list : {&values, &gradients}) {
      for (const auto& [size, timeAxis] : {std::pair(sequence, 1),
                                           {lanes, -1},
                                           {{}, -1},
                                           {sequence, 1},
                                           {sequence, 1},
                                           {state, -1},
                                           {state, -1}}) {
        list->emplace_back(size, timeAxis, layout, dtype);
      }
    }
    std::mt19937 random(7);
    auto draw = [&](Array& array, double low, double high) {
      each(array, [&](std::span<const int64_t> at) {
        array.set(at, std::uniform_real_distribution(low, high)(random));
      });
    };
    draw(values[X], -1, 1);
    draw(values[A], 0.5, 0.95);
    draw(values[S], -1, 1);
    draw(values[Initial], -1, 1);
    for (Arg upstream : {H, Y, Final}) {
      draw(gradients[upstream], -1, 1);
    }
    if (!givesInitial) {
      values[Initial].tensor.data = nullptr;
    }
  }

  template <class Body>
  static void each(const Array& array, const Body& body) {
    const rnn_tensor& tensor = array.tensor;
    std::vector<int64_t> at(tensor.rank, 0);
    int64_t count = 1;
    for (uint32_t a = 0; a < tensor.rank; ++a) {
      count *= tensor.shape[a];
    }
    for (int64_t i = 0; i < count; ++i) {
      body(std::span<const int64_t>(at));
      for (uint32_t a = tensor.rank; a-- > 0 && ++at[a] == tensor.shape[a];) {
        at[a] = 0;
      }
    }
  }

  /// "" or the error.
  std::string run(const BackwardTable& table, rnn_plan_options options) {
    const rnn_dim_value dim = {"d", shape.lanes};
    options.dims = 1;
    options.dim = &dim;
    options.batch = shape.batch;
    options.time = shape.time;
    options.compute = RNN_F64;
    if (options.training == RNN_TRAINING_NONE) {
      options.training = RNN_TRAINING_L1;
    }
    options.reset = !mask.empty();
    ModuleHandle module(&table.table);
    rnn_plan* plan = nullptr;
    if (rnn_plan_create(module.module, &options, &plan) != RNN_OK) {
      return rnn_error_text(module.context);
    }
    size_t bytes = 0, saved = 0;
    rnn_plan_sizes(plan, &bytes, &saved, nullptr);
    workspaceBytes = bytes;
    reserveBytes = saved;
    info.size = sizeof(info);
    rnn_plan_describe(plan, &info);
    const Workspace forward(bytes), backward(bytes), reserve(saved);
    std::vector<rnn_tensor> tensors, grads;
    for (int i = 0; i < args; ++i) {
      tensors.push_back(values[i].tensor);
      grads.push_back(gradients[i].tensor);
    }
    if (options.reset) {
      rnn_tensor reset{};
      reset.data = mask.data();
      reset.dtype = RNN_U8;
      reset.rank = 2;
      std::ranges::copy(std::array{shape.batch, shape.time}, reset.shape);
      std::ranges::copy(std::array{shape.time, int64_t(1)}, reset.strides);
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

  /// Against a loop over the steps of each lane.
  void check(double bound = 1e-12) const {
    std::vector<double> ofA(shape.lanes);
    double ofS = 0;
    auto expect = [&](double got, double expected, const char* what) {
      EXPECT_NEAR(got, expected, bound * (1 + std::fabs(expected))) << what;
    };
    for (int64_t b = 0; b < shape.batch; ++b) {
      for (int64_t l = 0; l < shape.lanes; ++l) {
        const double a = at(values[A], {l});
        std::vector<double> h = {givesInitial ? at(values[Initial], {b, l}) : at(values[S], {})};
        auto x = [&](int64_t t) { return t < 0 ? 0 : at(values[X], {b, t, l}); };
        for (int64_t t = 0; t < shape.time; ++t) {
          h.push_back(a * h.back() + x(t));
        }
        double carried = at(gradients[Final], {b, l}), later = 0;
        for (int64_t t = shape.time; t-- > 0;) {
          const double ofY = at(gradients[Y], {b, t, l});
          const double own = carried + at(gradients[H], {b, t, l}) + ofY * x(t - 1);
          if (gradients[X].tensor.data) {
            expect(at(gradients[X], {b, t, l}), own + later, "x");
          }
          ofA[l] += own * h[t];
          later = ofY * h[t + 1];
          carried = a * own;
        }
        if (gradients[Initial].tensor.data) {
          expect(at(gradients[Initial], {b, l}), carried, "the initial state");
        }
        ofS += givesInitial ? 0 : carried;
      }
    }
    for (int64_t l = 0; l < shape.lanes; ++l) {
      expect(at(gradients[A], {l}), ofA[l], "a");
    }
    expect(at(gradients[S], {}), ofS, "s");
  }

  std::vector<unsigned char> bytesOf(Arg arg) const { return gradients[arg].bytes; }

  Shape shape;
  bool givesInitial;
  std::vector<Array> values, gradients;
  std::vector<uint8_t> mask; ///< [batch][time] where a sequence begins anew; empty: nowhere
  // Of the last run's plan.
  size_t workspaceBytes = 0, reserveBytes = 0;
  rnn_plan_info info{};
};

} // namespace rnnc::test
