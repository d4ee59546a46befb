//===- scaling_test.cpp - how the IR grows, and how deep it may be ----------------------------===//

#include "Newton/Newton.h"
#include "Rnn/Rnn.h"
#include "rnnc/Compiler.h"
#include "rnnc/Frontend.h"
#include "rnnc/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

using namespace rnnc;

namespace {

/// `equations` lines over four states; every line reads two that were lately defined, so that
/// derivatives written out as formulas would double from line to line.
std::string cellOf(int equations) {
  std::string text = "cell C {\n  dim d\n  input x : [d]\n  param p : [d]\n"
                     "  state a, b, c, e : [d] = 0\n  v0 = a[t-1] * b[t-1] + c[t-1]\n"
                     "  v1 = tanh(e[t-1] * v0 + x[t])\n";
  std::mt19937 random(7);
  const char* forms[] = {"tanh(L) * R", "sigmoid(L + R)", "L * R + p", "(L - R) / (2 + L * L)"};
  for (int i = 2; i < equations; ++i) {
    std::string line = forms[random() % 4];
    for (auto [sign, from] : {std::pair('L', i - 1), std::pair('R', i - 2)})
      for (size_t at; (at = line.find(sign)) != std::string::npos;)
        line.replace(at, 1, "v" + std::to_string(from));
    text += "  v" + std::to_string(i) + " = " + line + "\n";
  }
  std::string last = "v" + std::to_string(equations - 1);
  for (const char* state : {"a", "b", "c", "e"})
    text += std::string("  ") + state + "[t] = 0.5 * " + state + "[t-1] + 0.1 * " + last + "\n";
  return text + "}\n";
}

/// Text through the compiler up to the solve.
struct Lowered {
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  DiagnosticEngine diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Interpreter> interpreter;
  bool solved = false;

  explicit Lowered(std::string text, bool interpret = false) {
    FrontendOptions options;
    options.limits = {.source = 1 << 26, .nesting = 2000000, .operations = 4000000};
    diagnostics.setSource("test.rnn", std::move(text));
    module = parseToRnn(*context, options, diagnostics);
    if (!module)
      return;
    if (interpret) {
      auto made = Interpreter::create(*module->getOps<rnn::CellOp>().begin(), {{"d", 1}});
      if (!made) {
        ADD_FAILURE() << llvm::toString(made.takeError());
        return;
      }
      interpreter = std::make_unique<Interpreter>(std::move(*made));
    }
    solved = lowerToSolve(*module, {.compute = "f64", .operations = options.limits.operations});
  }
  int64_t operations() {
    int64_t count = 0;
    module->walk([&](mlir::Operation*) { ++count; });
    return count;
  }
  std::string messages() const {
    std::string text;
    llvm::raw_string_ostream out(text);
    diagnostics.print(out, false);
    return text;
  }
};

TEST(Growth, IsLinearInTheSource) {
  int64_t counts[3];
  int equations = 500;
  for (int64_t& count : counts) {
    Lowered lowered(cellOf(equations));
    ASSERT_TRUE(lowered.solved) << lowered.messages();
    count = lowered.operations();
    equations *= 2;
  }
  // Twice the lines are twice the operations, step and Jacobian together.
  double first = static_cast<double>(counts[1] - counts[0]),
         second = static_cast<double>(counts[2] - counts[1]);
  EXPECT_NEAR(second / first, 2, 0.1) << counts[0] << " " << counts[1] << " " << counts[2];
  EXPECT_LT(counts[2], 2000 * 80);
}

/// Every value is used twice by the next one: who follows operands without remembering where it
/// was does not come back.
TEST(Growth, SharedValuesOfParamsAreSeenOnce) {
  for (auto [first, use] : {std::pair("exp(a)", "v40"), std::pair("-a", "sin(v40)"),
                            std::pair("exp(a) - 1", "cos(-v40)")}) {
    std::string text = std::string("cell C {\n  dim d\n  param a : [d]\n  state h : [d] = 0\n") +
                       "  v0 = " + first + "\n";
    for (int i = 1; i <= 40; ++i) {
      std::string last = "v" + std::to_string(i - 1);
      text += "  v" + std::to_string(i) + " = " + last + " * " + last + "\n";
    }
    Lowered lowered(text + "  h[t] = 0.5 * h[t-1] * " + use + "\n}\n");
    ASSERT_TRUE(lowered.solved) << lowered.messages();
    EXPECT_LT(lowered.operations(), 200) << first;
  }
}

/// A cell whose step is one deep expression.
std::string deep(const std::string& value) {
  return "cell C {\n  dim d\n  input x : [d]\n  state h : [d] = 0\n  h[t] = 0.5 * h[t-1] + " +
         value + "\n}\n";
}

std::string repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i)
    result += text;
  return result;
}

class Deep : public testing::TestWithParam<std::pair<const char*, std::string>> {};

/// Chains that would overflow the stack of anything that recurses over operands, and take minutes
/// where it goes through a chain for each of its members.
TEST_P(Deep, ChainsGoThrough) {
  std::clock_t start = std::clock(); // the processor's time: the machine may be busy
  Lowered lowered(deep(GetParam().second), /*interpret=*/true);
  EXPECT_TRUE(lowered.solved) << lowered.messages();
  ASSERT_TRUE(lowered.interpreter);
  auto next = lowered.interpreter->step({{"h", {{1}, {0.5}}}}, {{"x", {{1}, {0.25}}}}, {});
  EXPECT_TRUE(static_cast<bool>(next)) << llvm::toString(next.takeError());
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 60);
}

constexpr int kLinks = 50000;

INSTANTIATE_TEST_SUITE_P(
    Links, Deep,
    testing::Values(std::pair("sum", "x[t]" + repeat("+x[t]", kLinks)),
                    std::pair("product", "x[t]" + repeat("*h[t-1]", kLinks)),
                    std::pair("sign", repeat("-", kLinks) + "h[t-1]"),
                    std::pair("call", repeat("tanh(", kLinks) + "h[t-1]" + repeat(")", kLinks)),
                    std::pair("power", repeat("h[t-1]^", kLinks / 8) + "x[t]"),
                    std::pair("choice", repeat("where(h[t-1] > 0, x[t], ", kLinks / 4) + "x[t]" +
                                            repeat(")", kLinks / 4)),
                    std::pair("logic", "where(" + repeat("not ", kLinks) + "h[t-1] > 0, 1, 2)")),
    [](const auto& info) { return std::string(info.param.first); });

} // namespace
