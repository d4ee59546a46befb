//===- policy_test.cpp - every policy fits its machine ---------------------------------------===//

#include "Target/Cuda/Policy.h"

#include <gtest/gtest.h>

using namespace rnnc::cuda;

namespace {

const char* const kNames[] = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                              "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};

Architecture arch(const char* name) {
  auto found = findArchitecture(name);
  EXPECT_TRUE(static_cast<bool>(found));
  return *found;
}

/// A full block of k states.
SystemShape block(int64_t k, int64_t inputs, int64_t bytes) {
  return {.states = k,
          .inputs = inputs,
          .params = 3,
          .outputs = 0,
          .stored = k,
          .carry = k * k,
          .bytes = bytes};
}

TEST(Policy, FitsEveryArchitecture) {
  for (const char* name : kNames)
    for (int64_t k : {1, 2, 3, 4, 6, 8})
      for (int64_t inputs : {0, 1, 3, 8, 40, 300})
        for (int64_t bytes : {4, 8}) {
          Architecture a = arch(name);
          auto policy = choosePolicy(a, block(k, inputs, bytes), {});
          ASSERT_TRUE(static_cast<bool>(policy));
          std::string what = std::string(name) + ", k " + std::to_string(k) + ", inputs " +
                             std::to_string(inputs) + ", bytes " + std::to_string(bytes);
          EXPECT_LE(policy->sharedBytes, a.sharedPerBlock) << what;
          EXPECT_LE(policy->blocks * (policy->sharedBytes + 1024), a.sharedPerSm) << what;
          EXPECT_LE(policy->threads(), 1024) << what;
          EXPECT_LE(policy->threads() * policy->blocks, 32 * a.warps) << what;
          EXPECT_LE(policy->blocks, a.blocks) << what;
          EXPECT_LE(policy->registers() * policy->threads() * policy->blocks, 65536) << what;
          if (policy->chunks > 1) {
            EXPECT_EQ(policy->lanes, 32) << what;
            EXPECT_GE(policy->steps, 2) << what;
            // Two tiles in flight, or double buffers.
            EXPECT_TRUE(policy->blocks >= 2 || policy->stage == Staging::Shared) << what;
          }
          if (k == 8) {
            EXPECT_LE(policy->chunks, 4) << what;
          }
        }
}

TEST(Policy, NoJacobianIsSequential) {
  SystemShape shape = block(20, 3, 4);
  shape.carry = 0;
  auto policy = choosePolicy(arch("sm_90"), shape, {});
  ASSERT_TRUE(static_cast<bool>(policy));
  EXPECT_EQ(policy->chunks, 1);
  EXPECT_EQ(policy->sharedBytes, 0);
}

TEST(Policy, AskedForIsGivenOrRefused) {
  for (const char* name : kNames)
    for (int64_t chunks : {2, 3, 8, 17, 32})
      for (int64_t chunk : {1, 5, 16, 64, 4096})
        for (bool registers : {false, true}) {
          Architecture a = arch(name);
          auto policy = choosePolicy(a, block(2, 3, 4),
                                     {.chunk = chunk, .chunks = chunks, .registers = registers});
          if (!policy) {
            EXPECT_NE(llvm::toString(policy.takeError()), "");
            continue;
          }
          EXPECT_EQ(policy->chunks, chunks);
          EXPECT_EQ(policy->steps, chunk);
          EXPECT_EQ(policy->stage == Staging::Registers, registers);
          EXPECT_LE(policy->sharedBytes, a.sharedPerBlock);
          EXPECT_LE(policy->blocks * (policy->sharedBytes + 1024), a.sharedPerSm);
        }
}

TEST(Policy, MoreSharedMemoryMeansLongerChunks) {
  SystemShape gru = block(1, 3, 4);
  auto small = choosePolicy(arch("sm_120"), gru, {}), large = choosePolicy(arch("sm_90"), gru, {});
  ASSERT_TRUE(static_cast<bool>(small) && static_cast<bool>(large));
  EXPECT_LT(small->steps, large->steps);
}

TEST(Policy, UnknownNames) {
  for (const char* name : {"", "sm_", "sm_91", "sm_90a", "90", "compute_90", "SM_90"})
    EXPECT_EQ(llvm::toString(findArchitecture(name).takeError()),
              "unknown architecture '" + std::string(name) + "'");
}

} // namespace
