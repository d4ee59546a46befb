//===- nvrtc_test.cpp - what NVRTC makes of every example ------------------------------------===//
//
// NVRTC's own log says registers, spills and local memory. Needs NVRTC and no GPU; without it the
// tests are skipped (RNN_REQUIRE=nvrtc makes that a failure).
//
//===----------------------------------------------------------------------------------------------===//

#include "support.h"

#include "cuda/nvrtc.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace rnnc;
using namespace rnnc::test;

namespace {

/// Instructions of PTX an entry, so that NVRTC takes about a second at most.
constexpr int64_t kMostInstructions = 3500;

struct Case {
  std::string example, compute;
  CudaOptions options;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.example << " " << c.compute << " " << c.options.arch;
}

std::optional<CudaUnit> emit(const Case& what) {
  return test::emitExample(what.example, what.compute, what.options);
}

class NvrtcTest : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    std::string why;
    if (runtime::findNvrtc(nvrtc, why) != RNN_OK)
      GTEST_SKIP() << "nvrtc: " << why;
  }
  runtime::CudaProgram compile(const CudaUnit& unit, runtime::CudaCode kind) {
    runtime::CudaProgram program;
    std::string error;
    int architecture = std::stoi(GetParam().options.arch.substr(3));
    EXPECT_EQ(
        runtime::compileCuda(*nvrtc, {unit.name, unit.text, architecture}, kind, program, error),
        RNN_OK)
        << error;
    return program;
  }
  const runtime::Nvrtc* nvrtc = nullptr;
};

TEST_P(NvrtcTest, FitsItsPolicy) {
  auto unit = emit(GetParam());
  ASSERT_TRUE(unit);
  ASSERT_EQ(unit->entries.size(), 1u);
  const CudaEntry& entry = unit->entries[0];
  std::string log = compile(*unit, runtime::CudaCode::Cubin).log;
  EXPECT_EQ(numberBefore(log, " bytes stack frame"), 0) << log;
  EXPECT_EQ(numberBefore(log, " bytes spill stores"), 0) << log;
  EXPECT_EQ(numberBefore(log, " bytes spill loads"), 0) << log;
  EXPECT_EQ(log.find("bytes lmem"), std::string::npos) << log;
  int registers = numberBefore(log, " registers");
  EXPECT_GT(registers, 0) << log;
  EXPECT_LE(registers, entry.registers) << log;
  // Shared memory is all dynamic: what the policy says is what there is.
  EXPECT_EQ(log.find("bytes smem"), std::string::npos) << log;
  EXPECT_EQ(log.find("warning"), std::string::npos) << log;
}

class NvrtcPtxTest : public NvrtcTest {};

TEST_P(NvrtcPtxTest, IsShort) {
  auto unit = emit(GetParam());
  ASSERT_TRUE(unit);
  runtime::CudaProgram program = compile(*unit, runtime::CudaCode::Ptx);
  int count = countInstructions(program.code);
  EXPECT_GT(count, 100) << program.code.substr(0, 2000);
  EXPECT_LE(count, kMostInstructions);
  EXPECT_EQ(program.code.find(".local"), std::string::npos);
  // No denormals flushed, no cheap division; math.cuh refines an approximate reciprocal itself.
  const std::string approximate = "rcp.approx.ftz";
  std::string without = program.code;
  for (size_t at; (at = without.find(approximate)) != std::string::npos;)
    without.erase(at, approximate.size());
  EXPECT_EQ(without.find(".ftz"), std::string::npos);
  EXPECT_EQ(program.code.find("div.full"), std::string::npos);
  RecordProperty("instructions", count);
}

std::vector<Case> cases(std::vector<const char*> architectures) {
  std::vector<Case> list;
  for (const char* example :
       {"paragru", "paralstm", "elman_heads", "moog_ladder", "ema", "logistic_map"}) {
    for (const char* arch : architectures)
      list.push_back({example, "f32", {.arch = arch}});
    list.push_back({example, "f64", {.arch = "sm_90"}});
    list.push_back({example, "f32", {.arch = "sm_90", .schedule = CudaSchedule::Sequential}});
  }
  return list;
}

std::string nameOf(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return c.example + "_" + c.compute + "_" + c.options.arch +
         (c.options.schedule == CudaSchedule::Sequential ? "_sequential" : "");
}

const std::vector<const char*> kAll = {"sm_80", "sm_90", "sm_100", "sm_120"}, kOne = {"sm_90"};

INSTANTIATE_TEST_SUITE_P(Examples, NvrtcTest, testing::ValuesIn(cases(kAll)), nameOf);
// Before ptxas, architectures differ by next to nothing.
INSTANTIATE_TEST_SUITE_P(Examples, NvrtcPtxTest,
                         testing::ValuesIn(cases(std::getenv("RNN_SOAK") ? kAll : kOne)), nameOf);

} // namespace
