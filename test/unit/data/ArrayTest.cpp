#include "Files.h"

#include "data/FileKind.h"

#include <limits>

using namespace rnnc::data;
using namespace rnnc::data::test;

TEST(Array, CountsBytesWithoutOverflow) {
  auto count = [](std::vector<int64_t> shape) { return byteCount(4, shape); };
  EXPECT_EQ(*count({}), 4);
  EXPECT_EQ(*count({3, 5}), 60);
  EXPECT_EQ(*count({3, 0, 5}), 0);
  int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE(contains(textOfError(count({most})), "63 bits"));
  EXPECT_TRUE(contains(textOfError(count({1 << 30, 1 << 30, 1 << 30})), "63 bits"));
  // The strides of an empty array are products too.
  EXPECT_TRUE(contains(textOfError(count({0, most, most})), "63 bits"));
  EXPECT_TRUE(contains(textOfError(count({2, -1})), "shape (2, -1) has a negative size"));
  EXPECT_TRUE(contains(textOfError(count(std::vector<int64_t>(33, 1))), "33 dimensions"));
}

TEST(Array, AllocationThatFailsIsAnError) {
  Result<HostArray> array = allocate(DType::F64, {int64_t{1} << 59});
  EXPECT_TRUE(
      contains(textOfError(array), "(576460752303423488,) needs 4611686018427387904 bytes"));
}

TEST(Array, IsAlignedForVectors) {
  Result<HostArray> array = allocate(DType::F32, {3});
  ASSERT_TRUE(array);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array->bytes.data()) % 64, 0u);
}

TEST(Array, ConvertsBetweenTypes) {
  HostArray f32 = arrayOf<float>({2, 2}, {1.5f, -0.f, 3e38f, 0.1f});
  Result<HostArray> f64 = convert(f32, DType::F64);
  ASSERT_TRUE(f64);
  EXPECT_EQ(f64->shape, f32.shape);
  EXPECT_EQ(valuesOf<double>(*f64)[3], double(0.1f));
  Result<HostArray> back = convert(*f64, DType::F32);
  ASSERT_TRUE(back);
  expectSame(*back, f32);
  Result<HostArray> rounded = convert(arrayOf<double>({2}, {0.1, 1e300}), DType::F32);
  ASSERT_TRUE(rounded);
  EXPECT_EQ(valuesOf<float>(*rounded),
            (std::vector<float>{0.1f, std::numeric_limits<float>::infinity()}));
}

// From f64 at once: by way of f32 this would be a tie, and round down.
TEST(Array, ConvertsToHalvesWithOneRounding) {
  HostArray wide = arrayOf<double>({3}, {1 + 0x1p-8 + 0x1p-40, -1e300, 0.5});
  Result<HostArray> brain = convert(wide, DType::BF16);
  ASSERT_TRUE(brain);
  EXPECT_EQ(brain->bytes.size(), 6u);
  EXPECT_EQ(brain->elements(), 3);
  Result<HostArray> back = convert(*brain, DType::F32);
  ASSERT_TRUE(back);
  EXPECT_EQ(valuesOf<float>(*back),
            (std::vector<float>{1 + 0x1p-7f, -std::numeric_limits<float>::infinity(), 0.5f}));
  Result<HostArray> half = convert(*back, DType::F16);
  ASSERT_TRUE(half);
  Result<HostArray> again = convert(*half, DType::F64);
  ASSERT_TRUE(again);
  EXPECT_EQ(valuesOf<double>(*again)[0], 1 + 0x1p-7);
}

TEST(Array, ShapesReadAsInNumPy) {
  EXPECT_EQ(shapeText({}), "()");
  EXPECT_EQ(shapeText(std::vector<int64_t>{3}), "(3,)");
  EXPECT_EQ(shapeText(std::vector<int64_t>{8, 4096, 256}), "(8, 4096, 256)");
}

TEST(FileKindTest, GoesBySuffix) {
  EXPECT_EQ(*fileKind("a/b.npz"), FileKind::Npz);
  EXPECT_EQ(*fileKind("x.NPY"), FileKind::Npy);
  EXPECT_EQ(*fileKind("x.y.wav"), FileKind::Wav);
  EXPECT_EQ(*fileKind("x.flac"), FileKind::Flac);
  EXPECT_TRUE(contains(textOfError(fileKind("a.npz/b")), "a.npz/b: "));
  EXPECT_TRUE(contains(textOfError(fileKind("x.mat")), "'.mat' is none of .npy, .npz"));
}
