// What is compiled when, kept where, and what stays failed.
#include "mock.hpp"

#include <filesystem>
#include <fstream>

namespace rnnc::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> kept() {
  std::vector<fs::path> files;
  if (fs::exists(cacheFolder())) {
    for (const auto& entry : fs::directory_iterator(cacheFolder())) {
      files.push_back(entry.path());
    }
  }
  return files;
}

int64_t loads() {
  const std::vector<std::string> calls = mock().calls();
  return std::count(calls.begin(), calls.end(), "cuModuleLoadData");
}

bool plans(EmaModule& module, int ordinal = 0) {
  rnn_plan* plan = module.plan(1, 2, 3, ordinal);
  rnn_plan_destroy(plan);
  return plan != nullptr;
}

class Programs : public testing::Test {
protected:
  void SetUp() override {
    fs::remove_all(cacheFolder());
    mock().forget();
  }
  // Other tests' programs are on the disk too; the folder was opened when a context began.
  void TearDown() override { mock().forget(); }
};

TEST_F(Programs, AreCompiledOnceAndLoadedOnceADevice) {
  EmaModule module("programs_once");
  const int before = compiled();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(plans(module)) << module.error();
  }
  EXPECT_EQ(compiled(), before + 1);
  EXPECT_EQ(loads(), 1);
  EXPECT_TRUE(plans(module, 1));
  EXPECT_EQ(compiled(), before + 1);
  EXPECT_EQ(loads(), 2);
  EXPECT_TRUE(plans(module, 2)); // another architecture: the mock refuses the first one's code
  EXPECT_EQ(compiled(), before + 2);
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(Programs, AreFoundOnDiskByTheNextContext) {
  const int before = compiled();
  {
    EmaModule module("programs_disk");
    ASSERT_TRUE(plans(module)) << module.error();
  }
  {
    EmaModule module("programs_disk");
    ASSERT_TRUE(plans(module)) << module.error();
  }
  EXPECT_EQ(compiled(), before + 1);
  EmaModule other("programs_other_text");
  ASSERT_TRUE(plans(other));
  EXPECT_EQ(compiled(), before + 2);
  EXPECT_EQ(kept().size(), 2u);
}

TEST_F(Programs, DamageOnDiskIsAMiss) {
  {
    EmaModule module("programs_damaged");
    ASSERT_TRUE(plans(module)) << module.error();
  }
  ASSERT_EQ(kept().size(), 1u);
  const fs::path file = kept()[0];
  const auto size = static_cast<int64_t>(fs::file_size(file));
  for (int64_t place : {int64_t(0), int64_t(9), int64_t(41), int64_t(50), size / 2, size - 1}) {
    {
      std::fstream edit(file, std::ios::in | std::ios::out | std::ios::binary);
      edit.seekg(place);
      const char old = static_cast<char>(edit.get());
      edit.seekp(place);
      edit.put(static_cast<char>(old ^ 1));
    }
    const int before = compiled();
    EmaModule module("programs_damaged");
    EXPECT_TRUE(plans(module)) << module.error();
    EXPECT_EQ(compiled(), before + 1) << "byte " << place;
  }
  fs::resize_file(file, static_cast<uintmax_t>(size - 1));
  const int before = compiled();
  EmaModule module("programs_damaged");
  EXPECT_TRUE(plans(module));
  EXPECT_EQ(compiled(), before + 1);
  EXPECT_STREQ(rnn_warning_text(module.module.context), "");
}

TEST_F(Programs, WhatDoesNotCompileStaysFailed) {
  EmaModule module("programs_broken");
  module.unit.text += "#error\n";
  module.unit.unit.text = module.unit.text.c_str();
  const int before = compiled();
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(plans(module));
    EXPECT_NE(module.error().find("NVRTC 13.0 did not compile programs_broken.cu"),
              std::string::npos)
        << module.error();
    EXPECT_NE(module.error().find("broken.rnn(9): error: no such thing"), std::string::npos);
  }
  EXPECT_EQ(compiled(), before + 1);
  EXPECT_EQ(loads(), 0);
  EXPECT_TRUE(kept().empty());
  EmaModule other("programs_fine"); // nothing else is touched by it
  EXPECT_TRUE(plans(other)) << other.error();
}

TEST_F(Programs, WhatItsDeviceRefusesStaysFailed) {
  EmaModule module("programs_refused");
  mock().failOnce("cuModuleLoadData", 209); // no binary for the device
  EXPECT_FALSE(plans(module));
  EXPECT_NE(module.error().find("CUDA_ERROR_NO_BINARY_FOR_GPU"), std::string::npos)
      << module.error();
  EXPECT_NE(module.error().find("compiled by NVRTC 13.0 for sm_90"), std::string::npos);
  EXPECT_NE(module.error().find("the driver is for CUDA 13.0"), std::string::npos);
  const int64_t before = loads();
  EXPECT_FALSE(plans(module));
  EXPECT_EQ(loads(), before);
}

TEST_F(Programs, AKernelThatIsNotInItsCodeStaysFailed) {
  EmaModule module("programs_no_kernel");
  module.unit.entry.name = "another_name";
  const int modules = mock().modules();
  EXPECT_FALSE(plans(module));
  EXPECT_NE(module.error().find("finding another_name in programs_no_kernel.cu"), std::string::npos)
      << module.error();
  EXPECT_EQ(mock().modules(), modules); // not half loaded
  const int64_t before = loads();
  EXPECT_FALSE(plans(module));
  EXPECT_EQ(loads(), before);
}

TEST_F(Programs, CodeFromDiskThatTheDeviceRefusesIsCompiledAgain) {
  {
    EmaModule module("programs_stale");
    ASSERT_TRUE(plans(module));
  }
  EmaModule module("programs_stale");
  const int before = compiled();
  mock().failOnce("cuModuleLoadData", 200);
  EXPECT_TRUE(plans(module)) << module.error();
  EXPECT_EQ(compiled(), before + 1);
}

TEST_F(Programs, WithoutAFolderTheyAreInMemoryAndOneWarningSaysSo) {
  fs::create_directories(fs::path(cacheFolder()).parent_path());
  std::ofstream(cacheFolder()) << "no folder";
  EmaModule module("programs_memory");
  const int before = compiled();
  EXPECT_TRUE(plans(module)) << module.error();
  EXPECT_TRUE(plans(module));
  EXPECT_EQ(compiled(), before + 1);
  const std::string warning = rnn_warning_text(module.module.context);
  EXPECT_NE(warning.find("compiled CUDA programs are not kept on disk: " + cacheFolder()),
            std::string::npos)
      << warning;
  EXPECT_STREQ(rnn_warning_text(module.module.context), "");
  fs::remove_all(cacheFolder());
}

} // namespace
} // namespace rnnc::test
