//===- nvrtc_test.cpp - the functions as NVRTC compiles them ---------------------------------===//
//
// Nothing in local memory, no variables left behind, and bounded numbers of instructions:
// docs/math.md has the numbers of issue slots, these bounds are what PTX shows without a
// disassembler.
//
//===-----------------------------------------------------------------------------------------===//

#include "cuda/nvrtc.hpp"
#include "math_source.hpp"
#include "ptxas.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

using namespace rnnc::runtime;
using namespace rnnc::test;

namespace {

/// PTX instructions, loads and stores of the test's own and moves of constants aside. A division or
/// a square root is one there and eight or more issue slots.
struct Cost {
  const char* name;
  int f32, f64, special;
};
const Cost kCosts[] = {{"fma", 1, 1, 1},         {"abs", 1, 1, 1},       {"floor", 1, 1, 1},
                       {"copysign", 8, 12, 8},   {"sqrt", 1, 1, 1},      {"rsqrt", 19, 36, 1},
                       {"exp", 16, 25, 2},       {"expm1", 27, 34, 27},  {"log", 35, 48, 2},
                       {"log1p", 40, 53, 40},    {"tanh", 25, 35, 12},   {"sigmoid", 20, 30, 4},
                       {"softplus", 41, 62, 13}, {"sin", 116, 268, 116}, {"cos", 116, 268, 116},
                       {"tan", 124, 280, 124},   {"asin", 20, 28, 20},   {"acos", 25, 33, 25},
                       {"atan", 31, 43, 31},     {"sinh", 28, 35, 28},   {"cosh", 25, 32, 25},
                       {"erf", 43, 71, 43},      {"sign", 4, 4, 4},      {"atan2", 54, 62, 54},
                       {"pow", 104, 152, 104}};

std::string call(std::string_view name) {
  bool two = name == "pow" || name == "atan2" || name == "copysign";
  return fmt::format("{}({})", name, name == "fma" ? "*a, *b, *out" : two ? "*a, *b" : "*a");
}

std::string source() {
  std::string text = "#include \"rnn/math.cuh\"\n";
  auto add = [&](std::string_view name, const char* math, const char* real) {
    text += fmt::format("extern \"C\" __global__ void {0}_{1}_{2}(const {2}* a, const {2}* b, {2}* "
                        "out) {{\n  *out = rnn::{1}<{2}>::{3};\n}}\n",
                        name, math, real, call(name));
  };
  for (const Cost& cost : kCosts) {
    add(cost.name, "polynomial", "float");
    add(cost.name, "polynomial", "double");
    add(cost.name, "special", "float");
  }
  return text;
}

/// Loads and stores of the test's own, and moves of constants.
bool isFree(std::string_view line) {
  const std::string_view name = line.substr(0, line.find_first_of(". ;"));
  return name.size() < line.size() &&
         (name == "ld" || name == "st" || name == "mov" || name == "cvta" || name == "ret");
}

/// The number of instructions of every entry.
std::map<std::string, int> countByEntry(const std::string& ptx) {
  const std::string_view entry = ".entry ";
  std::map<std::string, int> counts;
  std::string name;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (size_t at = line.find(entry); at != line.npos)
      name = line.substr(at + entry.size(), line.find('(') - at - entry.size());
    else if (!name.empty() && isInstruction(line) && !isFree(line.substr(1)))
      ++counts[name];
  }
  return counts;
}

class DeviceMath : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    std::string error;
    if (findNvrtc(nvrtc, error) != RNN_OK)
      GTEST_SKIP() << "no NVRTC: " << error;
  }

  CudaProgram compile(CudaCode kind, const std::string& text = source()) {
    CudaProgram program;
    std::string error;
    EXPECT_EQ(compileCuda(*nvrtc, {"math_test.cu", text, GetParam()}, kind, program, error), RNN_OK)
        << error;
    return program;
  }

  const Nvrtc* nvrtc = nullptr;
};

TEST_P(DeviceMath, InstructionsAreBounded) {
  std::string ptx = compile(CudaCode::Ptx).code;
  EXPECT_EQ(ptx.find(".local"), std::string::npos) << "something is in local memory";
  EXPECT_EQ(ptx.find("\n.global"), std::string::npos) << "constants are left as variables";
  EXPECT_EQ(ptx.find("call"), std::string::npos) << "something is not inlined";
  std::map<std::string, int> counts = countByEntry(ptx);
  for (const Cost& cost : kCosts) {
    auto check = [&](const char* kind, int bound) {
      int count = counts[fmt::format("{}_{}", cost.name, kind)];
      EXPECT_GT(count, 0) << cost.name << ' ' << kind;
      EXPECT_LE(count, bound) << cost.name << ' ' << kind;
    };
    check("polynomial_float", cost.f32);
    check("polynomial_double", cost.f64);
    check("special_float", cost.special);
  }
}

TEST_P(DeviceMath, NoStackAndNoSpills) {
  std::string log = compile(CudaCode::Cubin).log;
  for (const char* what : {" bytes stack frame", " bytes spill stores", " bytes spill loads"}) {
    const std::vector<int> found = numbersBefore(log, what);
    EXPECT_EQ(std::ranges::count(found, 0), std::ssize(found)) << log;
    EXPECT_GE(found.size(), 3 * std::size(kCosts)) << log;
  }
}

std::string readText(const std::string& name) {
  std::ifstream file(std::string(RNN_GPU_TESTS "/") + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What tools/gpu compares every argument with on a device: that NVRTC takes it is known before.
TEST_P(DeviceMath, SweepsOverAllArgumentsCompile) {
  const std::string code =
      compile(CudaCode::Cubin, gpu::mathSource(readText("math_sweep.cuh"))).code;
  for (const gpu::MathKernel& kernel : gpu::mathKernels())
    EXPECT_NE(code.find(kernel.name), std::string::npos) << kernel.name;
}

INSTANTIATE_TEST_SUITE_P(Architectures, DeviceMath, testing::Values(80, 90, 120),
                         [](const auto& info) { return fmt::format("sm_{}", info.param); });

} // namespace
