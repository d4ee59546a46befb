//===- limits_test.cpp - hostile text: one located error, fast, never a crash ----------------===//

#include "support.h"

#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

using namespace rnnc;
using namespace rnnc::test;

namespace {

std::string repeat(const std::string& text, size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

FrontendOptions raised() {
  FrontendOptions options;
  options.limits = {.source = 1 << 30, .nesting = 2000000, .operations = 100000000};
  return options;
}

/// The one error's code.
std::string onlyCode(const Compiled& result) {
  EXPECT_EQ(result.diagnostics.errors(), 1u) << result.messages().substr(0, 2000);
  for (const Diagnostic& d : result.diagnostics.all())
    if (d.severity == Severity::Error)
      return d.code;
  return "none";
}

/// Times a compilation; a hostile file may take seconds at most, under a sanitizer too. It is the
/// processor's time: the machine may have other things to do.
class Limits : public testing::Test {
protected:
  void TearDown() override { EXPECT_LT(seconds(), 60); }
  double seconds() const { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }
  std::clock_t start = std::clock();
};

constexpr size_t kMillion = 1000000;

TEST_F(Limits, NestingStopsAtTheLimit) {
  for (const char* open : {"(", "-", "not ", "tanh(", "2^", "where(x[t] > 0, "}) {
    Compiled result = compile(cellOf("  h[t] = " + repeat(open, 300) + "x[t]\n"));
    EXPECT_EQ(onlyCode(result), "RNN0006") << open;
  }
}

TEST_F(Limits, NestingUpToTheLimitIsFine) {
  Compiled result = compile(cellOf("  h[t] = a * b * w[t] + " + repeat("(", 250) + "x[t]" +
                                   repeat(")", 250) + " * h[t-1]\n"));
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST_F(Limits, AMillionBracketsNeverClosed) {
  for (const char* open : {"(", "-", "tanh("}) {
    Compiled result = compile(cellOf("  h[t] = " + repeat(open, kMillion / 8) + "\n"));
    EXPECT_EQ(onlyCode(result), "RNN0006") << open;
  }
}

TEST_F(Limits, RaisedNestingDoesNotCrash) {
  std::string body = repeat("(", kMillion) + "x[t]" + repeat(")", kMillion);
  Compiled fine = compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + body + "\n"), raised());
  EXPECT_EQ(fine.messages(), "");
  EXPECT_TRUE(fine.module);
  Compiled open = compile(cellOf("  h[t] = " + repeat("(", kMillion) + "\n"), raised());
  EXPECT_GE(open.diagnostics.errors(), 1u);
}

TEST_F(Limits, RaisedNestingOfSignsAndCalls) {
  for (std::string open : {"-", "tanh("}) {
    std::string close = open == "-" ? "" : ")";
    std::string body = repeat(open, kMillion / 10) + "x[t]" + repeat(close, kMillion / 10);
    Compiled result = compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + body + "\n"), raised());
    EXPECT_EQ(result.messages(), "");
    EXPECT_TRUE(result.module);
  }
}

TEST_F(Limits, RaisedNestingOfPowers) {
  Compiled result =
      compile(cellOf("  h[t] = a * b * w[t] + h[t-1] + " + repeat("x[t]^", kMillion / 10) + "1\n"),
              raised());
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST_F(Limits, ASumOfAMillionTerms) {
  std::string body = "  h[t] = a * b * w[t] + h[t-1]" + repeat("+x[t]", kMillion) + "\n";
  Compiled limited = compile(cellOf(body));
  EXPECT_EQ(onlyCode(limited), "RNN0007");
  Compiled result = compile(cellOf(body), raised());
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST_F(Limits, ExponentialExpansionStopsAtTheLimit) {
  std::string text = "fn f0(u) = u * u\n";
  for (int i = 1; i < 60; ++i) {
    std::string before = "f" + std::to_string(i - 1);
    text += "fn f" + std::to_string(i) + "(u) = " + before + "(" + before + "(u))\n";
  }
  Compiled result = compile(text + cellOf("  h[t] = f59(h[t-1]) + a * b * w[t] * x[t]\n"));
  EXPECT_EQ(onlyCode(result), "RNN0007");
}

TEST_F(Limits, ExponentialConstantsStopAtTheLimit) {
  std::string text = "fn f0(u) = u\n";
  for (int i = 1; i < 60; ++i) {
    std::string before = "f" + std::to_string(i - 1);
    text += "fn f" + std::to_string(i) + "(u) = " + before + "(" + before + "(u))\n";
  }
  Compiled result =
      compile(text + "const c = f59(1)\n" + cellOf("  h[t] = c * h[t-1] + a * b * w[t] * x[t]\n"));
  EXPECT_GE(result.diagnostics.errors(), 1u);
}

TEST_F(Limits, ALongChainOfFunctions) {
  std::string text = "fn f0(u) = u\n";
  for (int i = 1; i < 20000; ++i)
    text += "fn f" + std::to_string(i) + "(u) = f" + std::to_string(i - 1) + "(u)\n";
  Compiled result =
      compile(text + cellOf("  h[t] = f19999(h[t-1]) + a * b * w[t] * x[t]\n"), raised());
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST_F(Limits, ALongChainOfConstants) {
  std::string text = "const c0 = 1\n";
  for (int i = 1; i < 20000; ++i)
    text += "const c" + std::to_string(i) + " = c" + std::to_string(i - 1) + " + 0\n";
  Compiled result =
      compile(text + cellOf("  h[t] = c19999 * h[t-1] + a * b * w[t] * x[t]\n"), raised());
  EXPECT_EQ(result.messages(), "");
  EXPECT_TRUE(result.module);
}

TEST_F(Limits, EverythingUnclosed) {
  for (const char* open : {"cell C {",
                           "cell C { fn f(a) { ",
                           "cell C { h[t] = (",
                           "cell C { dim ",
                           "/*",
                           "cell",
                           "fn f(",
                           "fn f(a) = ",
                           "const c = ",
                           "cell C { input x : [",
                           "cell C { state h : [d] = ",
                           "cell C { x[",
                           "import \"",
                           "{",
                           "}",
                           "(",
                           ")",
                           "]",
                           "[",
                           "\"",
                           "cell C { solve {",
                           "cell C { h[t] = sum(x, axis ="}) {
    Compiled once = compile(open);
    EXPECT_GE(once.diagnostics.errors(), 1u) << open;
    EXPECT_FALSE(once.module);
    Compiled often = compile(repeat(open, 10000));
    EXPECT_GE(often.diagnostics.errors(), 1u) << open;
    EXPECT_LE(often.diagnostics.all().size(), 100u) << open;
  }
}

/// What costs a little for each pair of names costs minutes in a file of a megabyte.
TEST_F(Limits, ManyNamesTakeLinearTime) {
  std::string unused, unknown, early, states, cells, functions;
  for (int i = 0; i < 40000; ++i) {
    std::string n = std::to_string(i);
    unused += " a" + n + " = 1\n";
    unknown += " a" + n + " = b" + n + "\n";
    early += " a" + n + " = a" + std::to_string(i + 1) + "\n";
    states += (i ? ", s" : "s") + n;
    cells += "const c" + n + " = 1\ncell A" + n + " {\n}\n";
    functions += "fn f" + n + "(u) = u\n";
  }
  for (const std::string& lines :
       {unused, unknown, early, " state " + states + " : [] = 1" + repeat("+1", 100000) + "\n"})
    EXPECT_LE(compile(cellOf(lines + "  h[t] = a * b * w[t] + x[t] * h[t-1]\n"), raised())
                  .diagnostics.all()
                  .size(),
              40u);
  EXPECT_LE(compile(cells, raised()).diagnostics.all().size(), 40u);
  EXPECT_LE(compile(functions + cellOf("  h[t] = f1(x[t])\n"), raised()).diagnostics.all().size(),
            40u);
  EXPECT_LT(seconds(), 30);
}

TEST_F(Limits, DeclarationsOfACell) {
  auto inputs = [](int count) {
    std::string names = "y0";
    for (int i = 1; i < count; ++i)
      names += ", y" + std::to_string(i);
    return cellOf("  input " + names + " : []\n  h[t] = a * b * w[t] + x[t] * h[t-1]\n");
  };
  // The cell around them has six declarations of its own: d, x, w, a, b and h.
  EXPECT_EQ(compile(inputs(4090), raised()).diagnostics.errors(), 0u);
  EXPECT_EQ(onlyCode(compile(inputs(4091), raised())), "RNN0011");
  EXPECT_EQ(onlyCode(compile(inputs(100000), raised())), "RNN0011");
}

TEST_F(Limits, GiganticNumbersAndNames) {
  std::string digits = repeat("9", kMillion / 2);
  EXPECT_GE(compile(cellOf("  h[t] = x[t] * " + digits + "\n")).diagnostics.errors(), 1u);
  EXPECT_GE(compile(cellOf("  h[t] = h[t-" + digits + "]\n")).diagnostics.errors(), 1u);
  EXPECT_GE(compile("cell C { dim d = " + digits + "\n}\n").diagnostics.errors(), 1u);
  EXPECT_GE(compile("cell C { param a : [" + digits + "]\n}\n").diagnostics.errors(), 1u);
  Compiled name = compile(cellOf("  h[t] = " + repeat("n", kMillion / 2) + "\n"));
  EXPECT_EQ(onlyCode(name), "RNN0010");
  EXPECT_LT(name.messages().size(), 2000u);
}

TEST_F(Limits, TheSourceIsMeasuredBeforeItIsRead) {
  std::string path = testing::TempDir() + "rnnc_limits_" + std::to_string(getpid()) + ".rnn";
  std::ofstream(path) << "//";
  std::filesystem::resize_file(path, uintmax_t(1) << 40); // a hole: takes no room on the disk
  DiagnosticEngine diagnostics;
  EXPECT_FALSE(readSource(path, {}, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].file, path);
  EXPECT_EQ(diagnostics.all()[0].code, "RNN0009");
  std::filesystem::remove(path);
}

TEST_F(Limits, WhatIsNoFileIsRefused) {
  for (const char* path : {"/dev/zero", "/nonexistent/cell.rnn", "/tmp", ""}) {
    DiagnosticEngine diagnostics;
    EXPECT_FALSE(readSource(path, {}, diagnostics)) << path;
    EXPECT_EQ(diagnostics.all().size(), 1u) << path;
  }
}

/// Random cuts, repetitions and bytes of a good file: whatever is said, nothing crashes, and what
/// is accepted verifies.
TEST(Mutations, NeverCrash) {
  std::string seed =
      readFile(RNN_SOURCE_DIR "/examples/paralstm.rnn") +
      "fn swish(x) = x * sigmoid(x)\ncell D { dim k = 4\n input x : [k]\n"
      " param W : [k, k]\n state s : [k] = 1 / 3\n const c = 2 ^ -1\n"
      " s[t] = where(x[t] >= 0 and not (x[t] > 1), W @ s[t-1], swish(x[t])) * c\n}\n";
  std::mt19937 random(1);
  const std::string bytes = "()[]{}=:,.+-*/^@<>!\n \"x0tα\xff";
  const char* soak = std::getenv("RNN_SOAK");
  const int rounds = soak && *soak == '1' ? 200000 : 1500;
  for (int i = 0; i < rounds; ++i) {
    std::string text = seed;
    for (unsigned edits = 1 + random() % 4; edits > 0 && !text.empty(); --edits) {
      size_t at = random() % text.size(), length = random() % 20;
      switch (random() % 4) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(random() % text.size(), length));
        break;
      case 2:
        text[at] = bytes[random() % bytes.size()];
        break;
      case 3:
        text.resize(at + 1);
        break;
      }
    }
    Compiled result = compile(text);
    EXPECT_EQ(static_cast<bool>(result.module), result.diagnostics.errors() == 0) << text;
    for (const Diagnostic& d : result.diagnostics.all())
      EXPECT_NE(d.code, "") << d.text;
  }
}

} // namespace
