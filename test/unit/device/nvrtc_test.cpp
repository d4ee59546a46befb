// NVRTC takes the device code for every architecture; registers, spills and local memory are read
// from ptxas's own words. No GPU is needed.
#include "ptxas.hpp"

#include "cuda/nvrtc.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

using namespace rnnc::runtime;
using namespace rnnc::test;

namespace {

struct entry {
  std::string cell, real;
  int lanes, chunks, steps;
  std::string stage;
  int blocks;    ///< resident on a multiprocessor
  int registers; ///< at most
  int ptx;       ///< instructions, at most: what NVRTC's time depends on

  std::string name() const {
    std::ostringstream text;
    text << cell << "_" << real << "_" << lanes << "x" << chunks << "x" << steps << "_" << stage;
    return text.str();
  }
  std::string text() const {
    std::ostringstream unit;
    unit << "using cell = cells::" << cell << "<" << real << ", rnn::polynomial<" << real
         << ">>;\nstruct policy {\n  static constexpr int lanes = " << lanes
         << ", chunks = " << chunks << ", steps = " << steps
         << ";\n  static constexpr rnn::staging stage = rnn::staging::" << stage
         << ";\n};\nextern \"C\" __global__ void __launch_bounds__(" << lanes * chunks << ", "
         << blocks
         << ") entry(const __grid_constant__ rnn::forward_args<cell::states, cell::inputs, "
            "cell::params, cell::outputs, 1> args) {\n  rnn::forward<cell, policy>(args);\n}\n";
    return unit.str();
  }
};

void PrintTo(const entry& e, std::ostream* out) { *out << e.name(); }

std::string cells() {
  std::ifstream file(RNN_DEVICE_CELLS);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string once = "#pragma once\n";
  text.erase(text.find(once), once.size()); // here it is the unit itself
  return text;
}

class Entry : public testing::TestWithParam<entry> {
protected:
  void SetUp() override {
    std::string error;
    if (findNvrtc(nvrtc_, error) != RNN_OK) {
      GTEST_SKIP() << "nvrtc: " << error;
    }
  }
  CudaProgram compile(const entry& e, int architecture, CudaCode kind) const {
    CudaProgram program;
    std::string error;
    EXPECT_EQ(compileCuda(*nvrtc_, {e.name() + ".cu", cells() + e.text(), architecture}, kind,
                          program, error),
              RNN_OK)
        << error;
    return program;
  }

  const Nvrtc* nvrtc_ = nullptr;
};

/// Compiling is what takes long: one of them each, all of them in the soak. The examples, which
/// have the same shapes, are compiled for every one (test/unit/cuda).
std::vector<int> architectures(const std::string& name) {
  const std::vector<int> all = {80, 90, 100, 120};
  const size_t drawn = std::accumulate(name.begin(), name.end(), size_t(0)) % all.size();
  return std::getenv("RNN_SOAK") ? all : std::vector<int>{all[drawn]};
}

TEST_P(Entry, FitsTheMachine) {
  for (int architecture : architectures(GetParam().name())) {
    const CudaProgram cubin = compile(GetParam(), architecture, CudaCode::Cubin);
    const std::string& log = cubin.log;
    EXPECT_EQ(numberBefore(log, " bytes stack frame"), 0) << architecture << log;
    EXPECT_EQ(numberBefore(log, " bytes spill stores"), 0) << architecture << log;
    EXPECT_EQ(numberBefore(log, " bytes spill loads"), 0) << architecture << log;
    EXPECT_EQ(numberBefore(log, " bytes lmem"), -1) << architecture << log;
    const int registers = numberBefore(log, " registers");
    EXPECT_GT(registers, 0) << log;
    EXPECT_LE(registers, GetParam().registers) << architecture;
    EXPECT_LE(registers * GetParam().lanes * GetParam().chunks * GetParam().blocks, 65536);
    EXPECT_EQ(log.find("warning"), std::string::npos) << log;
    RecordProperty("registers_" + std::to_string(architecture), registers);
    RecordProperty("milliseconds_" + std::to_string(architecture),
                   static_cast<int>(cubin.seconds * 1000));
  }
}

TEST_P(Entry, IsShort) {
  const std::string ptx = compile(GetParam(), 90, CudaCode::Ptx).code;
  EXPECT_LE(countInstructions(ptx), GetParam().ptx);
  RecordProperty("instructions", countInstructions(ptx));
  // Arrays are in registers: every index is a constant.
  EXPECT_EQ(ptx.find(".local"), std::string::npos);
  if (GetParam().chunks == 1) {
    EXPECT_EQ(ptx.find("shared"), std::string::npos);
    EXPECT_EQ(ptx.find("bar.sync"), std::string::npos);
  }
  if (GetParam().stage != "registers" && GetParam().cell != "cascade") { // which has no inputs
    EXPECT_NE(ptx.find("cp.async.ca.shared.global"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, Entry,
    testing::Values(entry{"gru", "float", 64, 1, 8, "registers", 8, 96, 1300},
                    entry{"gru", "float", 32, 8, 16, "registers", 2, 128, 3150},
                    entry{"gru", "float", 32, 8, 16, "shared", 2, 96, 1400},
                    entry{"gru", "double", 32, 8, 8, "shared_single", 1, 104, 1250},
                    entry{"lstm", "float", 64, 1, 8, "registers", 4, 96, 1700},
                    entry{"lstm", "float", 32, 8, 8, "registers", 2, 128, 2800},
                    entry{"lstm", "float", 32, 8, 16, "shared", 2, 112, 1700},
                    entry{"lstm", "double", 32, 8, 8, "shared_single", 1, 136, 1600},
                    entry{"block", "float", 64, 1, 4, "registers", 4, 120, 1300},
                    entry{"block", "float", 32, 4, 16, "shared", 2, 160, 2250},
                    entry{"block", "double", 32, 4, 8, "shared", 1, 224, 2300},
                    entry{"cascade", "float", 32, 8, 16, "shared", 2, 96, 1280},
                    entry{"logistic", "float", 32, 8, 32, "registers", 2, 128, 3000},
                    entry{"average", "float", 32, 8, 64, "shared", 2, 80, 1070}),
    [](const auto& info) { return info.param.name(); });

} // namespace
