// Moving numbers between the caller's arrays and rows of columns; and whether arrays overlap.
#include "core/overlap.hpp"
#include "cpu/stage.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace rnnc::runtime {
namespace {

template <class F, class T>
void roundTrip(int64_t width, int64_t steps, int64_t stride) {
  const rnn_dtype dtype = sizeof(T) == 4 ? RNN_F32 : RNN_F64;
  const int64_t apart = std::abs(stride) * steps + 3;
  std::vector<T> from(width * apart + 1), to(from.size(), T(-1));
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = T(i % 1000) + T(.5);
  }
  std::vector<const void*> source(width);
  std::vector<void*> target(width);
  for (int64_t j = 0; j < width; ++j) {
    // Every third column repeats the one before, as padding does.
    const int64_t place = (j % 3 == 2 ? j - 1 : j) * apart + (stride < 0 ? apart - 1 : 0);
    source[j] = from.data() + place;
    target[j] = to.data() + j * apart + (stride < 0 ? apart - 1 : 0);
  }
  std::vector<F> rows(width * steps + 1, F(-7));
  cpu::gather(rows.data(), width, source.data(), dtype, stride, steps);
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t j = 0; j < width; ++j) {
      ASSERT_EQ(rows[t * width + j], F(static_cast<const T*>(source[j])[t * stride]))
          << width << " " << steps << " " << stride;
    }
  }
  ASSERT_EQ(rows.back(), F(-7));
  const int64_t valid = width > 2 ? width - 1 : width;
  cpu::scatter(rows.data(), width, target.data(), valid, dtype, stride, steps);
  int64_t written = 0;
  for (T value : to) {
    written += value != T(-1);
  }
  ASSERT_EQ(written, valid * steps);
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t j = 0; j < valid; ++j) {
      ASSERT_EQ(static_cast<T*>(target[j])[t * stride], T(rows[t * width + j]));
    }
  }
}

TEST(Stage, EveryShape) {
  for (int64_t width : {1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64}) {
    for (int64_t steps : {0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 64, 67}) {
      for (int64_t stride : {1, 2, 5, -1, -3}) {
        roundTrip<float, float>(width, steps, stride);
        roundTrip<double, double>(width, steps, stride);
        roundTrip<float, double>(width, steps, stride);
        roundTrip<double, float>(width, steps, stride);
      }
    }
  }
}

TEST(Stage, KeepsEveryBit) {
  const uint32_t patterns[] = {0x7fc12345, 0x7f812345, 0xff800000,
                               0x80000000, 0x00000001, 0x7fffffff};
  for (int64_t stride : {1, 2}) {
    std::vector<float> from(4 * 6 * stride), rows(24);
    std::vector<const void*> source(4);
    for (int64_t j = 0; j < 4; ++j) {
      source[j] = from.data() + j * 6 * stride;
      for (int64_t t = 0; t < 6; ++t) {
        std::memcpy(&from[(j * 6 + t) * stride], &patterns[t], 4);
      }
    }
    cpu::gather(rows.data(), 4, source.data(), RNN_F32, stride, 6);
    for (int64_t t = 0; t < 6; ++t) {
      for (int64_t j = 0; j < 4; ++j) {
        EXPECT_EQ(std::memcmp(&rows[t * 4 + j], &patterns[t], 4), 0);
      }
    }
  }
}

Footprint footprint(float* data, std::vector<int64_t> shape, std::vector<int64_t> strides) {
  rnn_tensor tensor{};
  tensor.data = data;
  tensor.rank = static_cast<uint32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), tensor.shape);
  std::copy(strides.begin(), strides.end(), tensor.strides);
  Footprint f;
  EXPECT_TRUE(makeFootprint(tensor, 4, f));
  return f;
}

TEST(Overlap, OfTwoArrays) {
  float memory[1000];
  const Footprint a = footprint(memory, {2, 10, 8}, {160, 16, 1});
  EXPECT_TRUE(areApart(a, footprint(memory + 500, {2, 10, 8}, {160, 16, 1})));
  EXPECT_TRUE(areApart(a, footprint(memory + 8, {2, 10, 8}, {160, 16, 1}))) << "halves of rows";
  EXPECT_TRUE(areApart(a, footprint(memory + 15, {2, 10, 8}, {160, 16, -1})));
  EXPECT_FALSE(areApart(a, footprint(memory + 7, {2, 10, 8}, {160, 16, 1})));
  EXPECT_FALSE(areApart(a, footprint(memory + 9, {2, 10, 8}, {160, 16, 1})));
  EXPECT_FALSE(areApart(a, a));
  EXPECT_TRUE(areApart(a, footprint(memory, {0, 10, 8}, {160, 16, 1})));
  // Two channels of one recording; reversed in time.
  EXPECT_TRUE(areApart(footprint(memory, {100}, {2}), footprint(memory + 1, {100}, {2})));
  EXPECT_TRUE(areApart(footprint(memory, {100}, {2}), footprint(memory + 199, {100}, {-2})));
  EXPECT_FALSE(areApart(footprint(memory, {100}, {2}), footprint(memory + 198, {100}, {-2})));
  // Batches in turn: one plane each.
  EXPECT_TRUE(
      areApart(footprint(memory, {3, 50}, {100, 1}), footprint(memory + 50, {3, 50}, {100, 1})));
}

TEST(Overlap, OfAnArrayWithItself) {
  float memory[1000];
  EXPECT_TRUE(elementsAreApart(footprint(memory, {2, 10, 8}, {160, 16, 1})));
  EXPECT_TRUE(elementsAreApart(footprint(memory + 400, {2, 10, 8}, {-8, 16, -1})));
  EXPECT_FALSE(elementsAreApart(footprint(memory, {2, 10, 8}, {4, 16, 1})));
  EXPECT_FALSE(elementsAreApart(footprint(memory, {10}, {0})));
  EXPECT_TRUE(elementsAreApart(footprint(memory, {1, 10}, {0, 1})));
  EXPECT_FALSE(elementsAreApart(footprint(memory, {4, 8}, {7, 1})));
}

TEST(Overlap, BeyondTheAddressSpace) {
  float memory[1];
  rnn_tensor tensor{};
  tensor.data = memory;
  tensor.rank = 1;
  Footprint f;
  tensor.shape[0] = 3;
  tensor.strides[0] = INT64_MAX / 4;
  EXPECT_FALSE(makeFootprint(tensor, 4, f));
  tensor.strides[0] = INT64_MIN;
  EXPECT_FALSE(makeFootprint(tensor, 4, f));
}

} // namespace
} // namespace rnnc::runtime
