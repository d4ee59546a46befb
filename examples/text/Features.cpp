#include "Features.h"

#include "data/Random.h"

#include <algorithm>
#include <cmath>

namespace text {

using namespace rnnc::data;

namespace {

const CellNames cells[] = {
    {"paragru", {"x_z", "x_r", "x_n"}, {"a_z", "a_r", "a_n"}},
    {"paralstm", {"x_f", "x_z", "x_o"}, {"a_f", "c_f", "a_z", "a_o", "c_o"}},
};

RandomSpec normal(std::string name, double deviation, double cut = INFINITY) {
  return {std::move(name), Distribution::Normal, 0, deviation, cut};
}

/// rows × inner times inner × columns.
Result<HostArray> product(const HostArray& a, const HostArray& b) {
  int64_t rows = a.shape[0], inner = a.shape[1], columns = b.shape[1];
  Result<HostArray> result = allocate(DType::F32, {rows, columns});
  if (!result)
    return result;
  std::span<const float> left = a.values<float>(), right = b.values<float>();
  std::span<float> out = result->values<float>();
  std::ranges::fill(out, 0.f);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t column = 0; column < columns; ++column)
        out[row * columns + column] += left[row * inner + k] * right[k * columns + column];
  return result;
}

/// One input of the cell: every token's row of `table`, in the order of the text.
Result<HostArray> gather(const HostArray& table, const Tokens& tokens, const Shape& shape) {
  Result<HostArray> input = allocate(DType::F32, {shape.batch, shape.time, shape.width});
  if (!input)
    return input;
  const float* from = table.values<float>().data();
  float* to = input->values<float>().data();
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t t = 0; t < shape.time; ++t, to += shape.width)
      std::copy_n(from + tokens.ids[tokenIndex(tokens.ids.size(), shape, b, t)] * shape.width,
                  shape.width, to);
  return input;
}

} // namespace

const CellNames* cellNames(std::string_view cell) {
  const CellNames* names = std::ranges::find(cells, cell, &CellNames::cell);
  return names == std::end(cells) ? nullptr : names;
}

size_t tokenIndex(size_t tokens, const Shape& shape, int64_t b, int64_t t) {
  size_t piece = tokens / static_cast<size_t>(shape.batch);
  return (static_cast<size_t>(b) * piece + static_cast<size_t>(t)) % tokens;
}

Result<std::vector<NamedArray>> features(const Tokens& tokens, const CellNames& names,
                                         const Shape& shape, uint64_t seed) {
  if (tokens.ids.empty())
    return Error{"the text has no tokens"};
  Result<HostArray> embedding =
      randomArray(normal("embedding", 1), seed, DType::F32, {tokens.vocabulary, shape.embedding});
  if (!embedding)
    return embedding.error();
  std::vector<NamedArray> arrays;
  double deviation = 1 / std::sqrt(static_cast<double>(shape.embedding));
  for (const std::string& name : names.inputs) {
    Result<HostArray> projection = randomArray(normal("projection to " + name, deviation), seed,
                                               DType::F32, {shape.embedding, shape.width});
    if (!projection)
      return projection.error();
    // There are far fewer different tokens than steps, so each is projected once.
    Result<HostArray> table = product(*embedding, *projection);
    if (!table)
      return table.error();
    Result<HostArray> input = gather(*table, tokens, shape);
    if (!input)
      return input.error();
    arrays.push_back({name, std::move(*input)});
  }
  for (const std::string& name : names.params) {
    Result<HostArray> param = randomArray(normal(name, 0.3, 0.9), seed, DType::F32, {shape.width});
    if (!param)
      return param.error();
    arrays.push_back({name, std::move(*param)});
  }
  return arrays;
}

} // namespace text
