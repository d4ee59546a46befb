//===- cost_test.cpp - what a step costs on a GPU --------------------------------------------===//
//
// Counts the PTX of one step of every example, with and without its Jacobian: arithmetic, and how
// much of it is for the special-function unit. docs/cuda.md predicts from these numbers; the test
// bounds them, so that neither the table nor the code goes astray unnoticed.
//
//===----------------------------------------------------------------------------------------------===//

#include "support.h"

#include "cuda/nvrtc.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>

using namespace rnnc;
using namespace rnnc::test;

namespace {

struct Count {
  int64_t arithmetic = 0, special = 0;
};

/// Moves, loads, stores and conversions of addresses are the kernel's, not the step's.
Count countStep(const std::string& ptx) {
  Count count;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (!isInstruction(line))
      continue;
    std::string name = line.substr(line[1] == '@' ? line.find(' ') + 1 : 1);
    bool isOther = false;
    for (const char* other : {"mov.", "ld.", "st.", "cvta.", "ret", "bra"})
      isOther |= name.starts_with(other);
    if (isOther)
      continue;
    ++count.arithmetic;
    for (const char* special : {"ex2.", "lg2.", "rcp.", "rsqrt.", "sqrt.", "tanh.", "sin.", "cos."})
      count.special += name.starts_with(special);
  }
  return count;
}

/// Kernels that do a step and nothing else, behind the unit.
std::string withSteps(const CudaUnit& unit) {
  std::string cell = unit.entries[0].name;
  cell.replace(cell.rfind("_forward"), std::string::npos, "_cell");
  std::string text = unit.text;
  text.resize(text.find("extern \"C\""));
  for (bool jacobian : {false, true}) {
    std::string name = jacobian ? "step_jacobian" : "step";
    text +=
        "extern \"C\" __global__ void count_" + name +
        "(const float* in, float* out) {\n  using cell = " + cell +
        R"(;
  float state[cell::states], input[rnn::at_least_one(cell::inputs)],
      param[rnn::at_least_one(cell::params)], next[cell::states],
      output[rnn::at_least_one(cell::outputs)], jacobian[cell::entries::size];
  rnn::each<cell::states>([&](auto i) { state[i] = in[i]; });
  rnn::each<cell::inputs>([&](auto i) { input[i] = in[100 + i]; });
  rnn::each<cell::params>([&](auto i) { param[i] = in[200 + i]; });
  cell::)" +
        name + "(state, input, param, next, output" + (jacobian ? ", jacobian" : "") + R"();
  rnn::each<cell::states>([&](auto i) { out[i] = next[i]; });
  rnn::each<cell::outputs>([&](auto i) { out[100 + i] = output[i]; });
)" +
        (jacobian
             ? "  rnn::each<cell::entries::size>([&](auto i) { out[200 + i] = jacobian[i]; });\n"
             : "") +
        "}\n";
  }
  return text;
}

struct Row {
  const char* example;
  CudaMath math;
  Count step, jacobian; ///< the table of docs/cuda.md
};

constexpr CudaMath P = CudaMath::Polynomial, S = CudaMath::Special;
constexpr Row kRows[] = {
    {"paragru", P, {72, 3}, {87, 3}},
    {"paragru", S, {27, 6}, {42, 6}},
    {"paralstm", P, {101, 4}, {128, 4}},
    {"paralstm", S, {43, 8}, {70, 8}},
    {"elman_heads", P, {120, 4}, {144, 4}},
    {"elman_heads", S, {68, 8}, {92, 8}},
    {"moog_ladder", P, {210, 8}, {253, 8}},
    {"moog_ladder", S, {106, 16}, {149, 16}},
    {"ema", P, {3, 0}, {3, 0}},
    {"logistic_map", P, {29, 1}, {31, 1}},
    {"logistic_map", S, {16, 2}, {18, 2}},
};

TEST(Costs, OfAStep) {
  const runtime::Nvrtc* nvrtc = nullptr;
  std::string error;
  if (runtime::findNvrtc(nvrtc, error) != RNN_OK)
    GTEST_SKIP() << "nvrtc: " << error;
  for (const Row& row : kRows) {
    auto unit = emitExample(row.example, "f32", {.math = row.math});
    ASSERT_TRUE(unit);
    runtime::CudaProgram program;
    ASSERT_EQ(runtime::compileCuda(*nvrtc, {unit->name, withSteps(*unit), 90},
                                   runtime::CudaCode::Ptx, program, error),
              RNN_OK)
        << error;
    size_t second = program.code.find(".entry count_step_jacobian");
    ASSERT_NE(second, std::string::npos);
    size_t first = program.code.find(".entry count_step(");
    Count step = countStep(
              program.code.substr(first, first < second ? second - first : std::string::npos)),
          jacobian = countStep(
              program.code.substr(second, second < first ? first - second : std::string::npos));
    std::printf("%-13s %-10s step %3ld (%2ld special), with Jacobian %3ld (%2ld special)\n",
                row.example, row.math == P ? "polynomial" : "special",
                static_cast<long>(step.arithmetic), static_cast<long>(step.special),
                static_cast<long>(jacobian.arithmetic), static_cast<long>(jacobian.special));
    auto isNear = [](int64_t found, int64_t stated) {
      return found <= stated * 1.05 && found >= stated * 0.95;
    };
    EXPECT_TRUE(isNear(step.arithmetic, row.step.arithmetic)) << row.example;
    EXPECT_TRUE(isNear(jacobian.arithmetic, row.jacobian.arithmetic)) << row.example;
    EXPECT_EQ(step.special, row.step.special) << row.example;
    EXPECT_EQ(jacobian.special, row.jacobian.special) << row.example;
  }
}

} // namespace
