// From tokens to what a gated cell takes: its inputs at every step, and its parameters.
#pragma once

#include "Tokens.h"
#include "data/Array.h"

#include <span>
#include <string>
#include <vector>

namespace text {

/// What a cell calls its arrays. Inputs have the shape (batch, time, width), params (width).
struct CellNames {
  std::string cell;
  std::vector<std::string> inputs, params;
};

/// "paragru" (paragru.rnn) or "paralstm" (paralstm.rnn); null for any other name.
const CellNames* cellNames(std::string_view cell);

struct Shape {
  int64_t batch = 8, time = 4096, width = 256;
  int64_t embedding = 64; ///< numbers a token
};

/// The inputs and params of a cell over a text.
///
/// The tokens are cut into `batch` pieces of equal length, as for training a language model, and
/// each row is the first `time` tokens of its piece; a text that is too short starts again. A token
/// becomes `embedding` numbers from normal(0, 1), and every input is that vector times a matrix of
/// its own from normal(0, 1/sqrt(embedding)), so that inputs are about normal(0, 1). Params are
/// drawn from normal(0, 0.3) cut at 0.9, ParaRNN's initialisation. All weights come from the seed.
rnnc::data::Result<std::vector<rnnc::data::NamedArray>>
features(const Tokens& tokens, const CellNames& names, const Shape& shape, uint64_t seed);

/// The token of row b at step t.
size_t tokenIndex(size_t tokens, const Shape& shape, int64_t b, int64_t t);

} // namespace text
