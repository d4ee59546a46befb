// What a call computes on: sizes, inputs, params and initial states, from files, the command line
// and seeded random numbers.
#pragma once

#include "console.h"

#include "data/Array.h"
#include "rnn/rnn.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rnnc::tool {

struct CallSizes {
  int64_t batch = 0, time = 0;
  std::map<std::string, int64_t> dims; ///< every named dim of the module
};

/// One tensor of the module, bound. Initial states that nobody gave have no array.
struct Bound {
  std::optional<data::HostArray> array;
  std::string from; ///< "x.npz", "normal(0,0.3), seed 0", "0.25"
};

struct CallData {
  CallSizes sizes;
  std::vector<Bound> tensors;     ///< by the module's tensors
  std::vector<std::string> drawn; ///< tensors that were drawn because nobody gave them
  std::optional<int> sampleRate;  ///< of the sound file that was read
};

/// Reads, draws and checks everything (INTERFACES.md, `run`). kFine, or the status after a message.
int gatherData(const Options& options, const Console& console, const rnn_module_table& table,
               CallData& data);

/// The sizes that the command line and the defaults give where there are no arrays.
int bindSizes(const Options& options, const Console& console, const rnn_module_table& table,
              CallSizes& sizes);

/// "batch 8, time 4096, d 256"
std::string sizesText(const CallSizes& sizes);

/// The tensor's sizes at the boundary: (batch, time, dims...), (batch, dims...) for an initial
/// state, (dims...) for a param.
std::vector<int64_t> boundaryShape(const rnn_tensor_desc& tensor, const CallSizes& sizes);
/// (dims...) alone.
std::vector<int64_t> tensorShape(const rnn_tensor_desc& tensor, const CallSizes& sizes);

/// "(8, 16)", or "(8, 16) complex" of an array whose last axis are the parts of such numbers.
std::string shapeText(const data::HostArray& array);

/// Whether the last axis of a tensor, of size 2, is the real and the imaginary part.
bool isComplex(const rnn_tensor_desc& tensor);

data::DType storageType(const Options& options);

} // namespace rnnc::tool
