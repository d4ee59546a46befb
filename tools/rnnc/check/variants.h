// The parallel schedules, and the shapes that they are tried with.
#pragma once

#include "rnn/rnn.h"

#include "llvm/ADT/ArrayRef.h"

namespace rnnc::check {

struct Variant {
  rnn_vector vector;
  rnn_tiles tiles;
  const char* name;
};
constexpr Variant kVariants[] = {
    {RNN_VECTOR_LANES, RNN_TILES_SEQUENCE, "lanes in the vector, tiles in sequence"},
    {RNN_VECTOR_CHUNKS, RNN_TILES_SEQUENCE, "chunks in the vector, tiles in sequence"},
    {RNN_VECTOR_LANES, RNN_TILES_PARALLEL, "lanes in the vector, tiles in parallel"},
    {RNN_VECTOR_CHUNKS, RNN_TILES_PARALLEL, "chunks in the vector, tiles in parallel"},
};

struct Shapes {
  llvm::ArrayRef<int64_t> times, lanes, chunks;
};

} // namespace rnnc::check
