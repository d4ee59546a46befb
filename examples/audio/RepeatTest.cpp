#include "Repeat.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace rnnc::data;

namespace {

TEST(Repeat, StartsAgainAtTheEnd) {
  HostArray recording = *allocate(DType::F32, {3, 2});
  std::ranges::copy(std::vector<float>{1, 2, 3, 4, 5, 6}, recording.values<float>().begin());
  auto values = [&](int64_t frames) {
    Result<HostArray> result = audio::repeated(recording, frames);
    EXPECT_EQ(result->shape, (std::vector<int64_t>{frames, 2}));
    auto span = result->values<float>();
    return std::vector<float>(span.begin(), span.end());
  };
  EXPECT_EQ(values(2), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values(3), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(7), (std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2}));
}

} // namespace
