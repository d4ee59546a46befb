//===- diagonal_test.cpp - the diagonals of dense systems against differences ----------------===//

#include "rnnc/Compiler.h"
#include "rnnc/Diagnostics.h"
#include "rnnc/Frontend.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace rnnc;

namespace {

constexpr int64_t d = 19; // two nests of eight rows, and three rows more

struct Compiled {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  std::unique_ptr<CompiledCell> cell;

  explicit Compiled(const char* text) {
    DiagnosticEngine engine;
    engine.setSource("cell.rnn", text);
    auto module = parseToRnn(*context, {}, engine);
    EXPECT_TRUE(module);
    if (!module || !lowerToSolve(*module, {.compute = "f64"}))
      return;
    auto compiled = compileForHost(*module, "");
    EXPECT_TRUE(static_cast<bool>(compiled)) << llvm::toString(compiled.takeError());
    if (compiled)
      cell = std::move(*compiled);
  }
};

double drawn(int64_t n) { return std::sin(1.7 * static_cast<double>(n) + 0.3); }

/// A kernel over arrays of [d] and [d, d] that all lanes share, and inputs of [d].
class Step {
public:
  Step(const CompiledCell& cell, uint32_t which) : cell(cell), system(cell.table()->system[0]) {
    this->which = which;
    width = system.kernel[which].width;
    states = system.states * d;
    for (uint32_t p = 0; p < system.params; ++p) {
      uint32_t rank = cell.table()->tensor[system.param_slots[p].tensor].rank;
      auto& array = params.emplace_back(rank == 2 ? d * d : rank == 1 ? d : 1);
      for (double& x : array)
        x = (rank == 2 ? 0.8 / std::sqrt(double(d)) : 0.4) * drawn(++draws);
    }
    for (uint32_t i = 0; i < system.inputs * d; ++i) {
      auto& row = inputs.emplace_back(kSteps * width);
      for (double& x : row)
        x = 0.5 * drawn(++draws);
    }
  }

  /// The states after `steps` steps, and the product of the diagonals where asked.
  std::vector<double> run(std::vector<double> state, int64_t steps, std::vector<double>* carry) {
    auto resolve = cell.table()->resolve;
    rnn_shoot_fn fn = resolve(cell.table()->resolve_context, 0, which, carry != nullptr);
    EXPECT_NE(fn, nullptr) << cell.lastError();
    std::vector<const void*> from, shared;
    for (auto& row : inputs)
      from.push_back(row.data());
    for (auto& array : params)
      shared.push_back(array.data());
    size_t results = states + system.outputs * d;
    std::vector<int64_t> strides(results + inputs.size(), width), sizes(system.block_rank, d);
    std::vector<std::vector<double>> sequences(results, std::vector<double>(kSteps * width));
    std::vector<void*> to;
    for (auto& sequence : sequences)
      to.push_back(sequence.data());
    std::vector<double> finite(width), scratch((states + system.temporaries * d) * width, NAN);
    if (carry)
      carry->assign(states * width, NAN);
    rnn_shoot_args args{steps,        from.data(),    strides.data(),
                        nullptr,      state.data(),   carry ? carry->data() : nullptr,
                        to.data(),    strides.data(), finite.data(),
                        sizes.data(), shared.data(),  scratch.data(),
                        nullptr};
    fn(&args);
    return state;
  }

  static constexpr int64_t kSteps = 4;
  const CompiledCell& cell;
  const rnn_system_desc& system;
  uint32_t which, width;
  size_t states;
  int64_t draws = 0;
  std::vector<std::vector<double>> params, inputs;
};

/// The largest difference between the diagonal and central differences of one step, and the largest
/// entry of these.
std::pair<double, double> distance(const char* text) {
  Compiled compiled(text);
  if (!compiled.cell)
    return {INFINITY, 0};
  double far = 0, largest = 0;
  for (uint32_t which : {0u, 1u}) {
    Step step(*compiled.cell, which);
    EXPECT_EQ(step.system.diagonal, 1u);
    std::vector<double> start(step.states * step.width), carry;
    for (double& x : start)
      x = 0.6 * drawn(++step.draws);
    std::vector<double> plain = step.run(start, 1, nullptr);
    EXPECT_EQ(step.run(start, 1, &carry), plain); // the step is the same beside its diagonal
    for (size_t i = 0; i < step.states; ++i) {
      std::vector<double> up = start, down = start;
      for (uint32_t j = 0; j < step.width; ++j)
        up[i * step.width + j] += 1e-6, down[i * step.width + j] -= 1e-6;
      std::vector<double> above = step.run(up, 1, nullptr), below = step.run(down, 1, nullptr);
      for (uint32_t j = 0; j < step.width; ++j) {
        size_t at = i * step.width + j;
        double difference = (above[at] - below[at]) / 2e-6;
        far = std::max(far, std::fabs(carry[at] - difference));
        largest = std::max(largest, std::fabs(difference));
      }
    }
  }
  return {far, largest};
}

void expectExact(const char* text) {
  auto [far, largest] = distance(text);
  EXPECT_LE(far, 1e-8);
  EXPECT_GE(largest, 0.1);
}

TEST(Diagonal, Elman) {
  expectExact("cell C {\ndim d\ninput x : [d]\nparam W : [d, d]\nstate h : [d] = 0\n"
              "h[t] = tanh(W @ h[t-1] + x[t])\n}");
}

TEST(Diagonal, MinimalGate) {
  expectExact("cell C {\ndim d\ninput x : [d]\nparam U, V : [d, d]\nparam b : [d]\n"
              "state h : [d] = 0\n"
              "z = sigmoid(U @ h[t-1] + x[t] + b)\n"
              "n = tanh(V @ h[t-1] - x[t])\n"
              "h[t] = (1 - z) * h[t-1] + z * n\n}");
}

// Of an LSTM c's own element reaches it through no contraction, and h's through one.
TEST(Diagonal, Lstm) {
  expectExact("cell C {\ndim d\ninput x, y : [d]\nparam U, V, W, O : [d, d]\n"
              "state c : [d] = 0\nstate h : [d] = 0\n"
              "f = sigmoid(U @ h[t-1] + x[t])\n"
              "i = sigmoid(V @ h[t-1] + y[t])\n"
              "g = tanh(W @ h[t-1])\n"
              "o = sigmoid(O @ h[t-1])\n"
              "c[t] = f * c[t-1] + i * g\n"
              "h[t] = o * tanh(c[t])\n}");
}

// A sum over the block passes on the term of the element itself. The sums are small: a saturated
// tanh has no derivative to compare.
TEST(Diagonal, Reductions) {
  expectExact("cell C {\ndim d\ninput x : [d]\nparam W : [d, d]\nstate h : [d] = 0\n"
              "h[t] = tanh(W @ h[t-1] + x[t] + sum(h[t-1] * h[t-1]) / 8 - mean(sin(h[t-1])))\n}");
}

// All terms of a sum over another axis count.
TEST(Diagonal, LowRank) {
  expectExact("cell C {\ndim d, r\ninput x : [d]\nparam A : [d, r]\nparam B : [r, d]\n"
              "state h : [d] = 0\n"
              "h[t] = tanh(4 * (A @ (B @ h[t-1])) + x[t])\n}");
}

// In a GRU one contraction follows another one: what r carries to the other elements and back is
// left out, and no more than that.
TEST(Diagonal, GruIsNear) {
  auto [far, largest] = distance("cell C {\ndim d\ninput x, y, w : [d]\nparam U, V, W : [d, d]\n"
                                 "state h : [d] = 0\n"
                                 "z = sigmoid(U @ h[t-1] + x[t])\n"
                                 "r = sigmoid(V @ h[t-1] + y[t])\n"
                                 "n = tanh(W @ (r * h[t-1]) + w[t])\n"
                                 "h[t] = (1 - z) * h[t-1] + z * n\n}");
  EXPECT_GE(far, 1e-6);
  EXPECT_LE(far, 0.1);
  EXPECT_GE(largest, 0.5);
}

TEST(Diagonal, ProductOverSteps) {
  Compiled compiled("cell C {\ndim d\ninput x : [d]\nparam W : [d, d]\nstate h : [d] = 0\n"
                    "h[t] = 0.9 * h[t-1] + 0.1 * tanh(W @ h[t-1] + x[t])\n}");
  ASSERT_TRUE(compiled.cell);
  Step step(*compiled.cell, 0);
  std::vector<double> state(step.states * step.width, 0.25), whole, one;
  step.run(state, 0, &whole);
  EXPECT_EQ(whole, std::vector<double>(whole.size(), 1));
  step.run(state, Step::kSteps, &whole);
  std::vector<double> product(whole.size(), 1);
  for (int64_t t = 0; t < Step::kSteps; ++t) {
    state = step.run(state, 1, &one);
    for (size_t i = 0; i < product.size(); ++i)
      product[i] *= one[i];
    for (auto& row : step.inputs) { // the next step's inputs
      row.erase(row.begin(), row.begin() + step.width);
      row.resize(Step::kSteps * step.width);
    }
  }
  EXPECT_EQ(whole, product);
}

} // namespace
