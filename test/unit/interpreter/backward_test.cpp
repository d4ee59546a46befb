//===- backward_test.cpp - gradients against differences ------------------------------------===//

#include "interpret.h"

#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <filesystem>
#include <random>

using namespace rnnc;
using namespace rnnc::interpreter_test;
using Role = Interpreter::Declaration::Role;

namespace {

/// A cell of a source text, its free dims bound to `dim`.
Interpreter interpreterOf(DiagnosticEngine& diagnostics, int64_t dim) {
  auto context = createContext();
  auto module = parseToRnn(*context, {}, diagnostics);
  std::string said;
  llvm::raw_string_ostream out(said);
  diagnostics.print(out, false);
  if (!module) {
    ADD_FAILURE() << said;
    abort();
  }
  rnn::CellOp cell = *module->getOps<rnn::CellOp>().begin();
  std::map<std::string, int64_t> dims;
  for (auto decl : cell.decls<rnn::DimDeclOp>())
    if (!decl.getSize())
      dims[decl.getSymName().str()] = dim;
  return interpret(cell, dims);
}

/// A call with arrays that are drawn, and a loss: the weighted sum of all results.
class Trial {
public:
  Trial(const Interpreter& interpreter, int64_t batch, int64_t time, bool givesStates)
      : interpreter(interpreter), batch(batch), time(time) {
    for (const auto& decl : interpreter.declarations()) {
      auto in = [&](Shape front, double low, double high) {
        front.insert(front.end(), decl.shape.begin(), decl.shape.end());
        size_t count = 1;
        for (int64_t size : front)
          count *= size;
        Array array{front, Doubles(count)};
        for (double& x : array.data)
          x = std::uniform_real_distribution(low, high)(random);
        return array;
      };
      if (decl.role == Role::Input)
        arrays[0][decl.name] = in({batch, time}, -1, 1);
      else if (decl.role == Role::Param)
        arrays[1][decl.name] = in({}, 0.1, 0.9);
      else
        weights.sequences[decl.name] = in({batch, time}, -1, 1);
      if (decl.role == Role::State) {
        weights.finals[decl.name] = in({batch}, -1, 1);
        if (givesStates)
          arrays[2][decl.name] = in({batch}, 0.1, 0.9);
      }
    }
  }

  double loss() const {
    auto result = get(interpreter.run(batch, time, arrays[0], arrays[1], arrays[2]));
    double sum = 0;
    for (auto [values, by] : {std::pair(&result.sequences, &weights.sequences),
                              std::pair(&result.finals, &weights.finals)})
      for (auto& [name, array] : *values)
        for (size_t i = 0; i < array.data.size(); ++i)
          sum += array.data[i] * by->at(name).data[i];
    return sum;
  }

  /// Central differences along every number; where those of two lengths differ, as at a jump, the
  /// number is left out.
  void compare() {
    auto gradients =
        get(interpreter.backward(batch, time, arrays[0], arrays[1], arrays[2], weights));
    const Arrays* derived[] = {&gradients.inputs, &gradients.params, &gradients.initial};
    for (int kind = 0; kind < 3; ++kind)
      for (auto& [name, array] : arrays[kind])
        for (size_t i = 0; i < array.data.size(); ++i) {
          const double coarse = difference(array.data[i], 0x1p-15),
                       fine = difference(array.data[i], 0x1p-18);
          if (!(std::fabs(coarse - fine) <= 1e-6 * (1 + std::fabs(fine)))) {
            ++leftOut;
            continue;
          }
          ++compared;
          EXPECT_NEAR(derived[kind]->at(name).data[i], fine, 1e-7 * (1 + std::fabs(fine)))
              << "d loss / d " << name << ", element " << i;
        }
  }

  size_t compared = 0, leftOut = 0;

private:
  double difference(double& x, double step) const {
    const double here = x;
    x = here + step;
    const double above = loss();
    x = here - step;
    const double below = loss();
    x = here;
    return (above - below) / (2 * step);
  }

  const Interpreter& interpreter;
  int64_t batch, time;
  std::mt19937 random{11};
  Arrays arrays[3]; // inputs, params, initial states
  Interpreter::Result weights;
};

std::vector<std::string> exampleFiles() {
  std::vector<std::string> files;
  for (auto& entry : std::filesystem::directory_iterator(RNN_EXAMPLES))
    if (entry.path().extension() == ".rnn")
      files.push_back(entry.path().stem());
  std::sort(files.begin(), files.end());
  return files;
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, GradientsAreThoseOfDifferences) {
  DiagnosticEngine diagnostics;
  ASSERT_TRUE(readSource(RNN_EXAMPLES + std::string("/") + GetParam() + ".rnn", {}, diagnostics));
  Interpreter interpreter = interpreterOf(diagnostics, 2);
  for (bool givesStates : {true, false}) {
    Trial trial(interpreter, 2, 4, givesStates);
    trial.compare();
    EXPECT_GT(trial.compared, 9 * trial.leftOut);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(exampleFiles()),
                         [](const auto& info) { return info.param; });

void compareText(std::string text, bool givesStates = true) {
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", std::move(text));
  Interpreter interpreter = interpreterOf(diagnostics, 3);
  Trial trial(interpreter, 2, 5, givesStates);
  trial.compare();
  EXPECT_GT(trial.compared, 9 * trial.leftOut);
}

TEST(Backward, DelaysOrdersAndLearnedStarts) {
  const char* cell = R"(cell C {
    dim d
    input x : [d]
    param a, b : [d]
    param s : []
    state h : [d] = s
    output y : [d]
    h[t] = 0.5 * tanh(a * h[t-1] + b * h[t-3] + x[t] * x[t-2])
    y[t] = h[t] * x[t-1] + h[t-2]
  })";
  compareText(cell, true);
  compareText(cell, false); // the start is the param's
}

TEST(Backward, ImplicitStepsInSeveralLevels) {
  compareText(R"(cell C {
    dim d
    input x : [d]
    param a : [d]
    state p, q, r : [d] = 0
    output y : [d]
    p[t] = 0.3 * p[t-1] + x[t] - 0.3 * q[t] * a
    q[t] = 0.5 * tanh(p[t]) + 0.1 * q[t-1]
    r[t] = 0.5 * r[t-1] + p[t] - 0.2 * r[t] * r[t] * r[t]
    y[t] = r[t] * q[t]
  })");
}

TEST(Backward, ComplexNumbers) {
  compareText(R"(cell C {
    dim d
    input u : complex [d]
    param w : complex [d]
    param v : [d]
    state z : complex [d] = 0
    output y : [d]
    output e : complex []
    z[t] = exp(0.1 * w) * z[t-1] / (1 + v * u[t]) - conj(u[t]) * complex(v, 0.5)
    y[t] = re(z[t]) * im(z[t]) + abs(z[t])
    e[t] = sum(z[t] * u[t]) + mean(where(v > 0.5, z[t], -u[t]))
  })");
}

TEST(Backward, MatricesReductionsAndParts) {
  compareText(R"(cell C {
    dim d
    input x : [4]
    param W : [4, 4]
    param V : [d, 3, 4]
    state S : [d, 4] = 0
    output y : [d, 3]
    output m : [d]
    k = softmax(x[t]) + concat(x[t][2:4], x[t][0:2])
    S[t] = 0.2 * (S[t-1] @ W.T) + 0.1 * norm(x[t]) * k
    y[t] = V @ S[t]
    m[t] = max(S[t]) + min(S[t] * x[t]) + logsumexp(S[t]) + sum(sum(outer(x[t], x[t])))
  })");
}

TEST(Backward, AnAdjointOfNothingPassesNothingOn) {
  // 1 / sqrt(0) of the branch that is not taken.
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", R"(cell C {
    input x : []
    state h : [] = 0
    h[t] = where(x[t] > 0, sqrt(x[t]), 3 * x[t])
  })");
  Interpreter interpreter = interpreterOf(diagnostics, 1);
  Interpreter::Result upstream{{{"h", {{1, 2}, {1, 1}}}}, {}};
  auto gradients = get(interpreter.backward(1, 2, {{"x", {{1, 2}, {0, 4}}}}, {}, {}, upstream));
  EXPECT_EQ(gradients.inputs["x"].data, (Doubles{3, 0.25}));
}

TEST(Backward, EqualExtremesShare) {
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", "cell C {\n  input x : [3]\n  state h : [] = 0\n"
                                    "  h[t] = max(x[t]) - min(x[t])\n}\n");
  Interpreter interpreter = interpreterOf(diagnostics, 1);
  Interpreter::Result upstream{{{"h", {{1, 2}, {1, 6}}}}, {}};
  auto gradients =
      get(interpreter.backward(1, 2, {{"x", {{1, 2, 3}, {4, 4, 1, 2, 2, 2}}}}, {}, {}, upstream));
  EXPECT_EQ(gradients.inputs["x"].data, (Doubles{0.5, 0.5, -1, 0, 0, 0}));
}

TEST(Backward, NoStepsGiveTheFinalGradientBack) {
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", "cell C {\n  param s : []\n  state h : [2] = s\n"
                                    "  h[t] = 0.5 * h[t-1]\n}\n");
  Interpreter interpreter = interpreterOf(diagnostics, 1);
  Interpreter::Result upstream{{}, {{"h", {{2, 2}, {1, 2, 3, 4}}}}};
  const Arrays params{{"s", {{}, {1}}}};
  auto none = get(interpreter.backward(2, 0, {}, params, {}, upstream));
  EXPECT_EQ(none.initial["h"].data, (Doubles{1, 2, 3, 4}));
  EXPECT_EQ(none.params["s"].data, (Doubles{10}));
  auto two = get(interpreter.backward(2, 2, {}, params, {{"h", {{2, 2}, {0, 0, 0, 0}}}}, upstream));
  EXPECT_EQ(two.initial["h"].data, (Doubles{.25, .5, .75, 1}));
  EXPECT_EQ(two.params["s"].data, (Doubles{0}));
}

TEST(Backward, WrongUpstreamIsAnError) {
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", "cell C {\n  state h : [2] = 0\n  h[t] = 0.5 * h[t-1]\n}\n");
  Interpreter interpreter = interpreterOf(diagnostics, 1);
  EXPECT_EQ(message(interpreter.backward(1, 1, {}, {}, {}, {{{"g", {{1, 1, 2}, {1, 1}}}}, {}})),
            "'g' is not a state or an output of the cell");
  EXPECT_EQ(message(interpreter.backward(1, 1, {}, {}, {}, {{}, {{"h", {{2}, {1, 1}}}}})),
            "'h' is (2), expected (1, 2)");
}

} // namespace
