#include "Features.h"

#include "data/Random.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace rnnc::data;
using namespace text;

namespace {

TEST(Tokens, Bytes) {
  Tokens tokens = tokenize("a\xff\n", Level::Byte);
  EXPECT_EQ(tokens.ids, (std::vector<uint32_t>{97, 255, 10}));
  EXPECT_EQ(tokens.vocabulary, 256u);
  EXPECT_TRUE(tokenize("", Level::Byte).ids.empty());
}

TEST(Tokens, Words) {
  Tokens tokens = tokenize("In the  beginning, God's\nthe IN\xc3\xa9 in.", Level::Word);
  EXPECT_EQ(tokens.ids, (std::vector<uint32_t>{0, 1, 2, 3, 4, 1, 5, 0, 6}));
  EXPECT_EQ(tokens.vocabulary, 7u);
  EXPECT_TRUE(tokenize(" \n\t", Level::Word).ids.empty());
}

TEST(Tokens, WordsBeyondTheVocabularyShareTheLastId) {
  Tokens tokens = tokenize("a b c d a", Level::Word, 3);
  EXPECT_EQ(tokens.ids, (std::vector<uint32_t>{0, 1, 2, 2, 0}));
  EXPECT_EQ(tokens.vocabulary, 3u);
}

TEST(Features, RowsAreConsecutivePiecesOfTheText) {
  Shape shape{.batch = 3, .time = 5};
  EXPECT_EQ(tokenIndex(30, shape, 0, 0), 0u);
  EXPECT_EQ(tokenIndex(30, shape, 0, 4), 4u);
  EXPECT_EQ(tokenIndex(30, shape, 2, 1), 21u);
  EXPECT_EQ(tokenIndex(2, shape, 0, 3), 1u); // a short text starts again
}

const HostArray& find(const std::vector<NamedArray>& arrays, std::string_view name) {
  for (const NamedArray& named : arrays)
    if (named.name == name)
      return named.array;
  ADD_FAILURE() << name << " is missing";
  return arrays.front().array;
}

TEST(Features, InputsAreEmbeddingTimesProjection) {
  Tokens tokens = tokenize("in the beginning the in the", Level::Word);
  Shape shape{.batch = 2, .time = 3, .width = 5, .embedding = 4};
  auto arrays = features(tokens, *cellNames("paragru"), shape, 9);
  ASSERT_TRUE(arrays);
  ASSERT_EQ(arrays->size(), 6u);
  const HostArray& input = find(*arrays, "x_r");
  ASSERT_EQ(input.shape, (std::vector<int64_t>{2, 3, 5}));

  auto draw = [](const char* spec, std::vector<int64_t> size) {
    return *randomArray(*parseRandom(spec), 9, DType::F32, std::move(size));
  };
  HostArray embedding = draw("embedding:normal(0,1)", {3, 4});
  HostArray projection = draw("projection to x_r:normal(0,0.5)", {4, 5});
  const uint32_t ids[2][3] = {{0, 1, 2}, {1, 0, 1}};
  for (int b = 0; b < 2; ++b) {
    for (int t = 0; t < 3; ++t) {
      for (int j = 0; j < 5; ++j) {
        double expected = 0;
        for (int k = 0; k < 4; ++k)
          expected += double(embedding.values<float>()[ids[b][t] * 4 + k]) *
                      projection.values<float>()[k * 5 + j];
        EXPECT_NEAR(input.values<float>()[(b * 3 + t) * 5 + j], expected, 1e-6);
      }
    }
  }
}

TEST(Features, WhatParaLstmTakes) {
  Tokens tokens = tokenize("In the beginning God created the heaven and the earth.", Level::Byte);
  Shape shape{.batch = 4, .time = 200, .width = 64};
  auto arrays = features(tokens, *cellNames("paralstm"), shape, 0);
  ASSERT_TRUE(arrays);
  for (const char* name : {"x_f", "x_z", "x_o"}) {
    double squares = 0;
    for (float value : find(*arrays, name).values<float>())
      squares += value * value;
    EXPECT_NEAR(std::sqrt(squares / (4 * 200 * 64)), 1, 0.2) << name;
  }
  for (const char* name : {"a_f", "c_f", "a_z", "a_o", "c_o"}) {
    EXPECT_EQ(find(*arrays, name).shape, std::vector<int64_t>{64});
    double squares = 0;
    for (float value : find(*arrays, name).values<float>()) {
      EXPECT_LE(std::abs(value), 0.9f);
      squares += value * value;
    }
    EXPECT_NEAR(std::sqrt(squares / 64), 0.3, 0.1) << name;
  }
}

TEST(Features, ErrorsInsteadOfCrashes) {
  EXPECT_EQ(cellNames("gru"), nullptr);
  EXPECT_FALSE(features(Tokens{}, *cellNames("paragru"), Shape{}, 0));
  Shape huge{.batch = int64_t{1} << 40, .time = int64_t{1} << 40};
  auto arrays = features(tokenize("abc", Level::Byte), *cellNames("paragru"), huge, 0);
  ASSERT_FALSE(arrays);
  EXPECT_NE(arrays.error().text.find("63 bits"), std::string::npos);
}

} // namespace
