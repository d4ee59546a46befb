//===- examples_test.cpp - the examples become IR that verifies, with names and places -------===//

#include "support.h"

#include "Rnn/Rnn.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

using namespace rnnc;
using namespace rnnc::test;
namespace fs = std::filesystem;

static std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(RNN_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".rnn")
      names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

static Compiled compileExample(const std::string& name) {
  return compile(readFile(RNN_SOURCE_DIR "/examples/" + name + ".rnn"), {}, name + ".rnn");
}

class Example : public testing::TestWithParam<std::string> {};

TEST_P(Example, CompilesWithoutAWord) {
  Compiled result = compileExample(GetParam());
  EXPECT_EQ(result.messages(), "");
  ASSERT_TRUE(result.module);
  EXPECT_TRUE(succeeded(mlir::verify(*result.module)));
}

TEST_P(Example, RoundTripsThroughText) {
  Compiled result = compileExample(GetParam());
  ASSERT_TRUE(result.module);
  std::string text = result.ir(/*locations=*/true);
  auto again =
      mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(result.context.get()));
  ASSERT_TRUE(again);
  Compiled second;
  second.module = std::move(again);
  EXPECT_EQ(second.ir(true), text);
  second.module = nullptr;
}

TEST_P(Example, EveryOpHasAPlaceInTheFile) {
  Compiled result = compileExample(GetParam());
  ASSERT_TRUE(result.module);
  result.module->walk([&](mlir::Operation* op) {
    bool found = false;
    op->getLoc()->walk([&](mlir::Location loc) {
      auto place = mlir::dyn_cast<mlir::FileLineColLoc>(loc);
      found |= place && place.getFilename() == GetParam() + ".rnn" && place.getLine() > 0;
      return mlir::WalkResult::advance();
    });
    EXPECT_TRUE(found) << op->getName().getStringRef().str();
  });
}

INSTANTIATE_TEST_SUITE_P(All, Example, testing::ValuesIn(examples()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

TEST(Examples, AreTheSixThatTheReadmeNames) {
  for (const char* name :
       {"elman_heads", "ema", "logistic_map", "moog_ladder", "paragru", "paralstm"})
    EXPECT_TRUE(fs::exists(RNN_SOURCE_DIR "/examples/" + std::string(name) + ".rnn")) << name;
}

// The IR itself, once in full: the golden file is as much documentation as test.
TEST(Examples, IrOfElmanHeads) {
  EXPECT_EQ(compileExample("elman_heads").ir(), R"(module {
  rnn.cell @ElmanHeads {
    rnn.dim_decl @heads
    rnn.dim_decl @k = 4
    rnn.input @x : !rnn.array<[heads, k = 4]>
    rnn.param @R : !rnn.array<[heads, k = 4, k = 4]>
    rnn.state @h : !rnn.array<[heads, k = 4]>
    rnn.step {
      %0 = rnn.param_value @R : <[heads, k = 4, k = 4]>
      %1 = rnn.state_at @h[1] : <[heads, k = 4]>
      %2 = rnn.matmul %0, %1 : (<[heads, k = 4, k = 4]>, <[heads, k = 4]>) -> <[heads, k = 4]>
      %3 = rnn.input_at @x[0] : <[heads, k = 4]>
      %4 = rnn.binary add %2, %3 : (<[heads, k = 4]>, <[heads, k = 4]>) -> <[heads, k = 4]>
      %5 = rnn.unary tanh %4 : <[heads, k = 4]> -> <[heads, k = 4]>
      rnn.set_state @h, %5 : <[heads, k = 4]>
    }
  }
}
)");
}

TEST(Examples, NamesOfTheUserAreKept) {
  std::string text = compileExample("paralstm").ir(/*locations=*/true);
  for (const char* name : {"loc(\"f\"(", "loc(\"z\"(", "loc(\"c\"(", "loc(\"o\"(", "loc(\"h\"("})
    EXPECT_NE(text.find(name), std::string::npos) << name << "\n" << text;
}
