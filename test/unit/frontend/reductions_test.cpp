//===- reductions_test.cpp - functions along an axis, in shape and in value -------------------===//

#include "rnnc/Interpreter.h"

#include "support.h"

#include "Rnn/Rnn.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace rnnc;
using namespace rnnc::test;

namespace {

using Doubles = std::vector<double>;

/// y = `expression` of the input x, [2, k], as the interpreter computes it.
Doubles value(const std::string& expression, const std::string& shape, const Doubles& x) {
  int64_t k = static_cast<int64_t>(x.size()) / 2;
  Compiled result = compile("cell C {\n  dim r = 2, k = " + std::to_string(k) +
                            "\n  input x : [r, k]\n  state s : []\n  output y : " + shape +
                            "\n  s[t] = s[t-1] / 2\n  y[t] = " + expression + "\n}\n");
  EXPECT_EQ(result.messages(), "");
  if (!result.module)
    return {};
  auto made = Interpreter::create(*result.module->getOps<rnn::CellOp>().begin(), {});
  if (!made) {
    ADD_FAILURE() << llvm::toString(made.takeError());
    return {};
  }
  auto step = made->step({}, {{"x", {{2, k}, x}}}, {});
  if (!step) {
    ADD_FAILURE() << llvm::toString(step.takeError());
    return {};
  }
  return (*step)["y"].data;
}

void expectNear(const Doubles& actual, const Doubles& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(actual[i])) << i << ": " << actual[i];
    else if (std::isinf(expected[i]))
      EXPECT_EQ(actual[i], expected[i]) << i;
    else
      EXPECT_NEAR(actual[i], expected[i], 1e-14 * (1 + std::fabs(expected[i]))) << i;
  }
}

const double inf = INFINITY, nan = std::nan("");

/// Whether the sum of an expression along an axis is one that the language has.
bool canSum(const std::string& expression, const std::string& axis) {
  Compiled result = compile("cell C {\n  dim d\n  dim k = 3, j = 3, one = 1, i = 1\n"
                            "  input x : [d]\n  input u : [k]\n  param q : [j]\n"
                            "  param p : [one]\n  param o : [i]\n  state s : []\n"
                            "  s[t] = s[t-1] / 2 + sum(" +
                            expression + ", axis = " + axis + ")\n}\n");
  return static_cast<bool>(result.module);
}

/// The name of an axis does not depend on which operand stands first.
TEST(Reductions, AnAxisOfTwoNamesHasNone) {
  const std::string joined = "concat(q[0:1], q[1:3])"; // [3], without a name
  for (std::string sum : {"x[t] + p", "p + x[t]"})
    EXPECT_TRUE(canSum(sum, "d")) << sum; // p is stretched
  for (const std::string& sum : {"u[t] + " + joined, joined + " + u[t]"})
    EXPECT_TRUE(canSum(sum, "k")) << sum;
  for (std::string sum :
       {"u[t] * q", "q * u[t]", "where(u[t] > q, u[t], q)", "where(q > u[t], q, u[t])"}) {
    EXPECT_FALSE(canSum(sum, "k")) << sum;
    EXPECT_FALSE(canSum(sum, "j")) << sum;
    EXPECT_TRUE(canSum(sum, "-1")) << sum;
  }
  for (std::string sum : {"p - o", "o - p"}) {
    EXPECT_FALSE(canSum(sum, "one")) << sum;
    EXPECT_FALSE(canSum(sum, "i")) << sum;
    EXPECT_TRUE(canSum(sum, "0")) << sum;
  }
}

TEST(Reductions, RunAlongTheLastAxisOrANamedOne) {
  Doubles x{1, 2, 3, 6, 5, 1};
  expectNear(value("sum(x[t])", "[r]", x), {6, 12});
  expectNear(value("mean(x[t])", "[r]", x), {2, 4});
  expectNear(value("max(x[t])", "[r]", x), {3, 6});
  expectNear(value("min(x[t])", "[r]", x), {1, 1});
  expectNear(value("norm(x[t])", "[r]", x), {std::sqrt(14), std::sqrt(62)});
  expectNear(value("mean(x[t], axis = r)", "[k]", x), {3.5, 3.5, 2});
  expectNear(value("max(x[t], axis = r)", "[k]", x), {6, 5, 3});
  expectNear(value("min(x[t], axis = r)", "[k]", x), {1, 2, 1});
  expectNear(value("norm(x[t], axis = k)", "[r]", x), {std::sqrt(14), std::sqrt(62)});
  expectNear(value("logsumexp(x[t])", "[r]", x),
             {std::log(std::exp(1) + std::exp(2) + std::exp(3)),
              std::log(std::exp(6) + std::exp(5) + std::exp(1))});
  double s = 1 / (1 + std::exp(5)), u = 1 / (1 + std::exp(3)), v = 1 / (1 + std::exp(-2));
  expectNear(value("softmax(x[t], axis = r)", "[r, k]", x), {s, u, v, 1 - s, 1 - u, 1 - v});
}

TEST(Reductions, SoftmaxAndLogsumexpDoNotOverflow) {
  double e = std::exp(-1);
  expectNear(value("softmax(x[t])", "[r, k]", {1000, 999, -1000, -999}),
             {1 / (1 + e), e / (1 + e), e / (1 + e), 1 / (1 + e)});
  expectNear(value("logsumexp(x[t])", "[r]", {1000, 999, -1000, -999}),
             {1000 + std::log1p(e), -999 + std::log1p(e)});
}

// What NumPy and SciPy give.
TEST(Reductions, OfWhatIsNotFinite) {
  expectNear(value("logsumexp(x[t])", "[r]", {inf, 1, -inf, -inf}), {inf, -inf});
  expectNear(value("logsumexp(x[t])", "[r]", {2, -inf, inf, nan}), {2, nan});
  expectNear(value("softmax(x[t])", "[r, k]", {2, -inf, inf, 1}), {1, 0, nan, nan});
  expectNear(value("softmax(x[t])", "[r, k]", {-inf, -inf, nan, 1}), {nan, nan, nan, nan});
  expectNear(value("norm(x[t])", "[r]", {inf, 1, nan, 0}), {inf, nan});
  expectNear(value("max(x[t])", "[r]", {nan, 1, 1, nan}), {nan, nan});
  expectNear(value("min(x[t])", "[r]", {-inf, 1, inf, inf}), {-inf, inf});
}

TEST(Reductions, OfOneElement) {
  Doubles x{-3, 400};
  for (const char* function : {"sum", "mean", "max", "min", "logsumexp"})
    EXPECT_EQ(value(std::string(function) + "(x[t])", "[r]", x), x) << function;
  EXPECT_EQ(value("norm(x[t])", "[r]", x), (Doubles{3, 400}));
  EXPECT_EQ(value("softmax(x[t])", "[r, k]", x), (Doubles{1, 1}));
  EXPECT_EQ(value("sum(softmax(x[t]), axis = k)", "[r]", x), (Doubles{1, 1})); // keeps its name
}

TEST(Reductions, MaxAndMinOfTwoArgumentsCompare) {
  Doubles x{1, 2, 3, 6, 5, 1};
  expectNear(value("max(x[t], 2.5)", "[r, k]", x), {2.5, 2.5, 3, 6, 5, 2.5});
  expectNear(value("min(x[t], max(x[t], axis = r) - 4)", "[r, k]", x), {1, 1, -1, 2, 1, -1});
}

TEST(Reductions, AreMadeOfOneOp) {
  Compiled result = compile("cell C {\n  dim d, k = 3\n  state h : [d, k] = 0\n"
                            "  h[t] = softmax(h[t-1]) + max(h[t-1], axis = k)\n}\n");
  EXPECT_NE(result.messages().find("RNN0205"), std::string::npos) << result.messages();
  result = compile("cell C {\n  dim d, k = 3\n  state h : [d, k] = 0\n"
                   "  h[t] = softmax(h[t-1], axis = d)\n}\n");
  EXPECT_EQ(result.messages(), "");
  std::string ir = result.ir();
  EXPECT_NE(ir.find("rnn.reduce max %0 axis 0 keep : <[d, k = 3]> -> <[1, k = 3]>"),
            std::string::npos)
      << ir;
  EXPECT_NE(ir.find("rnn.reduce sum"), std::string::npos) << ir;
}

} // namespace
