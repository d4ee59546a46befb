//===- nvrtc_test.cpp - the functions as NVRTC compiles them ---------------------------------===//
//
// Nothing in local memory, no variables left behind, and bounded numbers of instructions:
// docs/math.md has the numbers of issue slots, these bounds are what PTX shows without a
// disassembler.
//
//===-----------------------------------------------------------------------------------------===//

#include "cuda/nvrtc.hpp"
#include "math_source.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

using namespace rnnc::runtime;

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

/// The number of instructions of every entry.
std::map<std::string, int> countInstructions(const std::string& ptx) {
  static const std::regex entry(R"(\.entry (\w+)\()");
  static const std::regex free("(ld|st|mov|cvta|ret)[. ;].*");
  std::map<std::string, int> counts;
  std::string name;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_search(line, match, entry))
      name = match[1];
    line.erase(0, line.find_first_not_of(" \t"));
    bool instruction = !line.empty() && (std::islower(line[0]) || line[0] == '@');
    if (instruction && !name.empty() && !std::regex_match(line, free))
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
  std::map<std::string, int> counts = countInstructions(ptx);
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
  int functions = 0;
  static const std::regex frame(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  for (std::sregex_iterator at(log.begin(), log.end(), frame), end; at != end; ++at, ++functions)
    for (int i = 1; i <= 3; ++i)
      EXPECT_EQ((*at)[i], "0") << at->str();
  EXPECT_GE(functions, 3 * static_cast<int>(std::size(kCosts))) << log;
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
