//===- language_test.cpp - what equations mean -----------------------------------------------===//

#include "support.h"

#include "Rnn/Rnn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace rnnc;
using namespace rnnc::test;

namespace {

/// The ops of the step, in order, without types: `add %0 %1` as a short text.
std::string stepOf(Compiled& result) {
  std::string text = result.ir();
  size_t begin = text.find("rnn.step {");
  return begin == std::string::npos ? text : text.substr(begin);
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

/// The number that a constant expression is folded to, through the start of a state.
double constant(const std::string& expression, const FrontendOptions& options = {},
                const std::string& before = "") {
  Compiled result = compile(
      before + "cell C {\n  state h : [] = " + expression + "\n  h[t] = 2 * h[t-1]\n}\n", options);
  EXPECT_EQ(result.messages(), "") << expression;
  if (!result.module)
    return std::nan("");
  double value = std::nan("");
  result.module->walk([&](rnn::StateOp op) { value = op.getInit().convertToDouble(); });
  return value;
}

/// The same through an equation: everything there folds into one constant.
double folded(const std::string& expression, const std::string& before = "") {
  Compiled result =
      compile(before + "cell C {\n  state h : []\n  h[t] = h[t-1] + (" + expression + ")\n}\n");
  EXPECT_EQ(result.messages(), "") << expression;
  if (!result.module)
    return std::nan("");
  double value = std::nan("");
  result.module->walk([&](rnn::BinaryOp op) {
    if (auto constant = op.getRhs().getDefiningOp<rnn::ConstantOp>())
      value = constant.getValue().convertToDouble();
  });
  return value;
}

} // namespace

TEST(Language, PrecedenceIsPythons) {
  const std::pair<const char*, double> cases[] = {
      {"1 + 2 * 3", 7},
      {"(1 + 2) * 3", 9},
      {"2 - 3 - 4", -5},
      {"24 / 4 / 2", 3},
      {"2 ^ 3 ^ 2", 512},
      {"-2 ^ 2", -4},
      {"(-2) ^ 2", 4},
      {"2 ^ -1", 0.5},
      {"2 ^ -1 ^ 2", 0.5},
      {"-2 * -3", 6},
      {"1 - -1", 2},
      {"--1", 1},
      {"+1", 1},
      {"2 * -3 ^ 2", -18},
      {"-1 - 1", -2},
      {"1e3 + .5 + 2.", 1002.5},
      {"1.5e-1", 0.15},
      {"2 * pi", 2 * std::numbers::pi},
      {"-inf", -INFINITY},
      {"max(1, 2) + min(3, 4)", 5},
      {"atan2(1, 0) * 2", std::numbers::pi},
      {"pow(2, 10)", 1024},
      {"exp(0) + abs(-2)", 3},
  };
  for (auto [text, value] : cases) {
    EXPECT_DOUBLE_EQ(constant(text), value) << text;
    EXPECT_DOUBLE_EQ(folded(text), value) << text;
  }
}

TEST(Language, ConstsAndTheirOverrides) {
  EXPECT_EQ(constant("c * 2", {}, "const b = 3\nconst c = b + 1\n"), 8);
  FrontendOptions options;
  options.consts["b"] = 10;
  EXPECT_EQ(constant("c * 2", options, "const b = 3\nconst c = b + 1\n"), 22);
}

TEST(Language, DimsByValueNameAndOverride) {
  std::string text = "cell C {\n  dim heads, k = 2 * 2\n  input x : [heads, 4]\n"
                     "  state h : [heads, k] = k\n  h[t] = h[t-1] + x[t]\n}\n";
  Compiled plain = compile(text);
  EXPECT_EQ(plain.messages(), "");
  EXPECT_NE(plain.ir().find("rnn.dim_decl @k = 4"), std::string::npos) << plain.ir();
  EXPECT_NE(plain.ir().find("init 4.0"), std::string::npos) << plain.ir();
  FrontendOptions options;
  options.dims["k"] = 8;
  Compiled wrong = compile(text, options);
  EXPECT_NE(wrong.messages().find("[RNN0205]"), std::string::npos) << wrong.messages();
  options.dims = {{"heads", 3}};
  Compiled fixed = compile(text, options);
  EXPECT_NE(fixed.ir().find("rnn.dim_decl @heads = 3"), std::string::npos) << fixed.ir();
}

TEST(Language, EveryUnaryBuiltInIsOneOp) {
  for (const char* name :
       {"exp",       "expm1",   "log",      "log1p", "sqrt", "rsqrt", "sin",
        "cos",       "tan",     "asin",     "acos",  "atan", "sinh",  "cosh",
        "tanh",      "sigmoid", "softplus", "relu",  "gelu", "silu",  "hard_sigmoid",
        "hard_tanh", "erf",     "abs",      "sign",  "floor"}) {
    Compiled result =
        compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + std::string(name) + "(x[t])\n"));
    EXPECT_EQ(result.messages(), "");
    EXPECT_EQ(count(stepOf(result), "rnn.unary " + std::string(name) + " "), 1u) << name;
  }
}

TEST(Language, EveryBinaryBuiltInIsOneOp) {
  for (const char* name : {"pow", "min", "max", "atan2"}) {
    Compiled result =
        compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + std::string(name) + "(x[t], 2)\n"));
    EXPECT_EQ(result.messages(), "");
    EXPECT_EQ(count(stepOf(result), "rnn.binary " + std::string(name) + " "), 1u) << name;
  }
}

TEST(Language, BuiltInsThatExpand) {
  Compiled clamp = compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + clamp(x[t], -1, 1)\n"));
  EXPECT_EQ(count(stepOf(clamp), "rnn.binary max"), 1u);
  EXPECT_EQ(count(stepOf(clamp), "rnn.binary min"), 1u);
  for (const char* call : {"leaky_relu(x[t])", "leaky_relu(x[t], 0.2)", "leaky_relu(x[t], a)"}) {
    Compiled leaky =
        compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + std::string(call) + "\n"));
    EXPECT_EQ(leaky.messages(), "");
    EXPECT_EQ(count(stepOf(leaky), "rnn.where"), 1u) << stepOf(leaky);
  }
  for (const char* call : {"elu(x[t])", "elu(x[t], 2)"}) {
    Compiled elu = compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + std::string(call) + "\n"));
    EXPECT_EQ(elu.messages(), "");
    EXPECT_EQ(count(stepOf(elu), "rnn.unary expm1"), 1u);
    EXPECT_EQ(count(stepOf(elu), "rnn.where"), 1u);
  }
}

TEST(Language, ComparisonsAndLogic) {
  for (auto [sign, kind] : {std::pair<const char*, const char*>{"<", "lt"},
                            {"<=", "le"},
                            {">", "gt"},
                            {">=", "ge"},
                            {"==", "eq"},
                            {"!=", "ne"}}) {
    Compiled result = compile(cellOf("  fired = x[t] " + std::string(sign) +
                                     " 1\n  h[t] = where(fired, a * b * w[t], h[t-1])\n"));
    EXPECT_EQ(result.messages(), "");
    EXPECT_EQ(count(stepOf(result), "rnn.compare " + std::string(kind) + " "), 1u) << sign;
  }
  // not binds tighter than and, and tighter than or; all looser than comparisons.
  Compiled logic =
      compile(cellOf("  h[t] = where(not x[t] > 1 and a < 2 or b == w[t], h[t-1], 0)\n"));
  EXPECT_EQ(logic.messages(), "");
  std::string step = stepOf(logic);
  size_t isNot = step.find("rnn.not"), isAnd = step.find("rnn.logic and"),
         isOr = step.find("rnn.logic or");
  EXPECT_LT(step.find("rnn.compare gt"), isNot);
  EXPECT_LT(isNot, isAnd);
  EXPECT_LT(isAnd, isOr);
  EXPECT_NE(isOr, std::string::npos);
}

TEST(Language, FunctionsAreInlined) {
  std::string functions = "const two = 2\n"
                          "fn swish(x) = x * sigmoid(x)\n"
                          "fn gate(a, b) {\n  // lines, names of their own\n  u = a * b\n"
                          "  x = swish(u)\n\n  return x + two\n}\n";
  Compiled result = compile(functions + cellOf("  fn short(p, q) { u = p * q  return u + 1 }\n"
                                               "  u = gate(x[t], a)\n"
                                               "  h[t] = short(u, b) * w[t] + h[t-1]\n"));
  EXPECT_EQ(result.messages(), "");
  EXPECT_EQ(count(stepOf(result), "rnn.unary sigmoid"), 1u);
  EXPECT_EQ(count(stepOf(result), "rnn.binary mul"), 4u);
  EXPECT_EQ(folded("swish(0) + gate(0, 1)", functions), 2);
}

TEST(Language, FunctionsOnTruthValues) {
  Compiled result = compile("fn between(v, l, u) = v > l and v < u\n" +
                            cellOf("  h[t] = where(between(x[t], 0, 1), a * b * w[t], h[t-1])\n"));
  EXPECT_EQ(result.messages(), "");
}

TEST(Language, NewlinesInsideBracketsAndAfterOperators) {
  Compiled result =
      compile(cellOf("  h[t] = a *\n    b * (w[t]\n    + h[t-1]\n    ) +  // comment\n"
                     "    max(\n      x[t], /* another\n */ 1)\n"));
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST(Language, GreekNames) {
  Compiled result = compile("cell Φ {\n  dim δ\n  input ξ : [δ]\n  const τ_m = 0.5\n"
                            "  state ψ : [δ] = τ_m\n  α2 = exp(-ξ[t] / τ_m)\n"
                            "  ψ[t] = α2 * ψ[t-1]\n}\n");
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST(Language, NewStatesAndOutputsAreReadByLaterLines) {
  Compiled result = compile(
      "cell C {\n  dim d\n  input x : [d]\n  hidden state c : [d] = 1\n  state h : [d]\n"
      "  output y, z : [d]\n  c[t] = c[t-1] * x[t]\n  y[t] = c[t] + 1\n  h[t] = h[t-1] * y[t]\n"
      "  z[t] = h[t] + c[t-1]\n}\n");
  EXPECT_EQ(result.messages(), "");
  std::string text = result.ir();
  EXPECT_NE(text.find("rnn.state hidden @c"), std::string::npos) << text;
  EXPECT_EQ(count(text, "rnn.set_output"), 2u);
  EXPECT_EQ(count(text, "rnn.set_state"), 2u);
}

TEST(Language, Broadcasting) {
  Compiled result = compile("cell C {\n  dim m, d, k = 1\n  input x : [m, d]\n  param a : [d]\n"
                            "  param b : [m, 1]\n  param c : [k]\n  state h : [m, d] = 0\n"
                            "  h[t] = a * h[t-1] + b * x[t] + c * 2\n}\n");
  EXPECT_EQ(result.messages(), "");
}

TEST(Language, ANewStateReadLaterHasItsDeclaredShape) {
  Compiled result = compile("cell C {\n  dim d\n  input x : []\n  state h : [d] = 0\n"
                            "  output y : []\n  h[t] = x[t]\n  y[t] = sum(h[t] * h[t-1])\n"
                            "  output z : []\n  z[t] = sum(h[t])\n}\n");
  EXPECT_EQ(result.messages(), "");
}

TEST(Language, MatrixProductsAndSums) {
  Compiled result =
      compile("cell C {\n  dim heads, k = 4, m\n  input u : [heads, m]\n  param R : [heads, k, k]\n"
              "  param W : [heads, k, m]\n  param A : [k, k]\n  state h : [heads, k] = 0\n"
              "  state M : [heads, k, k] = 0\n  output y : [heads]\n  output z : [k]\n"
              "  h[t] = tanh(R @ h[t-1] + W @ u[t])\n  M[t] = R @ M[t-1]\n"
              "  y[t] = sum(h[t])\n  z[t] = A @ sum(h[t], axis = heads)\n}\n");
  EXPECT_EQ(result.messages(), "");
  EXPECT_EQ(count(result.ir(), "rnn.matmul"), 4u);
  EXPECT_EQ(count(result.ir(), "axis 1 "), 1u);
  EXPECT_EQ(count(result.ir(), "axis 0 "), 1u);
}

TEST(Language, SeveralCellsAFile) {
  Compiled result = compile("fn f(u) = 2 * u\ncell A {\n  state h : []\n  h[t] = f(h[t-1])\n}\n"
                            "cell B {\n  state h : []\n  h[t] = f(f(h[t-1]))\n}\n");
  EXPECT_EQ(result.messages(), "");
  EXPECT_EQ(count(result.ir(), "rnn.cell @"), 2u);
}

TEST(Language, ComplexNumbersMeetRealOnes) {
  Compiled result =
      compile("fn twice(z) = 2 * z\ncell C {\n  dim n\n  input u : complex [n]\n"
              "  param g, s0 : complex []\n  state s : complex [n] = s0\n  state h : [n]\n"
              "  output y : complex [n]\n  output p : complex []\n"
              "  s[t] = twice(g) * s[t-1] - conj(u[t]) / 2\n  h[t] = abs(s[t]) + re(h[t-1])\n"
              "  y[t] = h[t]\n  p[t] = 1\n}\n");
  EXPECT_EQ(result.messages(), "");
  std::string ir = result.ir();
  EXPECT_EQ(count(ir, "rnn.state @s : !rnn.array<[n], complex> start @s0"), 1u);
  EXPECT_EQ(count(ir, "rnn.binary mul"), 4u); // 2 * g, by s[t-1], and two of abs
  EXPECT_EQ(count(ir, "rnn.complex"), 3u);    // conj; y and p become complex
  EXPECT_EQ(count(ir, "rnn.set_output @y, %"), 1u);
}

TEST(Language, TheSyntaxTreeAsText) {
  DiagnosticEngine diagnostics;
  diagnostics.setSource("test.rnn", cellOf("  z = sigmoid(a * h[t-1])\n"
                                           "  h[t] = -z ^ 2 + where(x[t] >= 0, 1, b)\n"));
  EXPECT_EQ(dumpAst({}, diagnostics), R"(cell C
  dim d
  input x : [d]
  input w : [d]
  param a : [d]
  param b : [d]
  state h : [d]
    0
  equation z
    call sigmoid
      *
        a
        h[t-1]
  equation h[t]
    +
      neg
        ^
          z
          2
      call where
        >=
          x[t]
          0
        1
        b
)");
  diagnostics.setSource("test.rnn", "cell C {\n  state s, c : complex [2]\n}\n");
  EXPECT_EQ(dumpAst({}, diagnostics), R"(cell C
  state s : complex [2]
  state c : complex [2]
)");
}
