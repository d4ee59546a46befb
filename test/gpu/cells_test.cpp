// Cells on the device: against the interpreter's stored values, and against themselves.
#include "cases.hpp"

#include "core/elements.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace gpu;

namespace {

constexpr double kDefault = -1; // the module's tolerance

const std::vector<Case>& cases() {
  static const std::vector<Case> all = readCases(folder() + "/cases");
  return all;
}

/// Of type `dtype`, as doubles.
std::vector<double> numbers(const std::byte* bytes, size_t size, rnn_dtype dtype) {
  const size_t item = static_cast<size_t>(rnnc::runtime::elementSize(dtype));
  std::vector<double> numbers(size / item);
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] =
        rnnc::runtime::loadElement<double>(reinterpret_cast<const char*>(bytes + item * i), dtype);
  }
  return numbers;
}

class Cells : public testing::TestWithParam<size_t> {
protected:
  const Case& of = cases()[GetParam()];
};

TEST_P(Cells, AreNearTheInterpreter) {
  Call call(of, RNN_SCHEDULE_AUTO, kDefault);
  call.spoil();
  call.forward();
  const auto results = call.results();
  size_t compared = 0;
  for (uint32_t i = 0; i < call.signature().args; ++i) {
    const std::string name = call.signature().table->tensor[call.signature().arg[i].tensor].name;
    const auto found = of.expected.find(name);
    if (call.signature().arg[i].kind != RNN_ARG_SEQUENCE || found == of.expected.end()) {
      continue;
    }
    ++compared;
    ASSERT_EQ(results[i].size(), found->second.bytes.size()) << name;
    const auto got = numbers(results[i].data(), results[i].size(), of.dtype);
    const auto want = numbers(found->second.bytes.data(), results[i].size(), of.dtype);
    for (size_t n = 0; n < got.size(); ++n) {
      ASSERT_LE(std::fabs(got[n] - want[n]), of.bound * (1 + std::fabs(want[n])))
          << name << ", element " << n << ": " << got[n] << ", the interpreter gives " << want[n];
    }
  }
  EXPECT_EQ(compared, of.expected.size());
}

TEST_P(Cells, HaveTheBitsOfOneChunk) {
  Call one(of, RNN_SCHEDULE_SEQUENTIAL, 0), many(of, RNN_SCHEDULE_AUTO, 0);
  one.spoil();
  many.spoil();
  one.forward();
  many.forward();
  EXPECT_TRUE(one.results() == many.results());
}

TEST_P(Cells, EndWithTheLastStep) {
  Call call(of, RNN_SCHEDULE_AUTO, kDefault);
  call.spoil();
  call.forward();
  const auto results = call.results();
  const rnn_signature& signature = call.signature();
  for (uint32_t i = 0; i < signature.args; ++i) {
    for (uint32_t j = 0; j < signature.args; ++j) {
      if (signature.arg[i].kind != RNN_ARG_SEQUENCE || signature.arg[j].kind != RNN_ARG_FINAL ||
          signature.arg[i].tensor != signature.arg[j].tensor) {
        continue;
      }
      const size_t each = results[j].size() / of.batch, steps = each * of.time;
      for (int64_t batch = 0; batch < of.batch; ++batch) {
        EXPECT_EQ(std::memcmp(results[i].data() + batch * steps + steps - each,
                              results[j].data() + batch * each, each),
                  0);
      }
    }
  }
}

/// What a race would change now and then.
TEST_P(Cells, AreTheSameEveryTime) {
  Call call(of, RNN_SCHEDULE_AUTO, kDefault);
  call.forward();
  const auto first = call.results();
  for (int repeat = 1; repeat < (isQuick() ? 3 : 100); ++repeat) {
    call.spoil();
    call.forward();
    ASSERT_TRUE(call.results() == first) << "call " << repeat;
  }
}

TEST_P(Cells, AreTheSameFromAGraph) {
  Device& device = Device::get();
  Call call(of, RNN_SCHEDULE_AUTO, kDefault);
  call.forward();
  const auto first = call.results();
  GraphRef graph = nullptr;
  GraphExecRef ready = nullptr;
  device.check(device.more().cuStreamBeginCapture(device.stream(), /*thread local*/ 1),
               "capturing");
  call.forward();
  device.check(device.more().cuStreamEndCapture(device.stream(), &graph), "capturing");
  device.check(device.more().cuGraphInstantiate(&ready, graph, 0), "making a graph");
  for (int replay = 0; replay < 2; ++replay) {
    call.spoil();
    device.check(device.more().cuGraphLaunch(ready, device.stream()), "launching a graph");
    EXPECT_TRUE(call.results() == first);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Cells, testing::Range<size_t>(0, cases().size()),
                         [](const auto& info) { return cases()[info.param].name; });

} // namespace
