#include "output_files.h"

#include "data/Audio.h"
#include "data/FileKind.h"
#include "data/Npy.h"
#include "data/Npz.h"
#include "data/Safetensors.h"

#include "rnnc/Diagnostics.h"

#include <fmt/ranges.h>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

constexpr int kDefaultRate = 48000;

/// One --output: all results in an archive, or one of them.
struct Target {
  std::string path;
  data::FileKind kind;
  uint32_t tensor = 0; ///< where it holds one
};

} // namespace

static bool isSequence(const rnn_tensor_desc& tensor) {
  return tensor.role == RNN_ROLE_OUTPUT || (tensor.role == RNN_ROLE_STATE && !tensor.hidden);
}

/// The only output; without outputs, the only state that is not hidden.
static int chooseTensor(const Console& console, const rnn_module_table& table,
                        const std::string& path, uint32_t& tensor) {
  std::vector<uint32_t> outputs, states;
  std::string names;
  for (uint32_t i = 0; i < table.tensors; ++i) {
    if (!isSequence(table.tensor[i]))
      continue;
    (table.tensor[i].role == RNN_ROLE_OUTPUT ? outputs : states).push_back(i);
    names += (names.empty() ? "" : ", ") + std::string(table.tensor[i].name);
  }
  const std::vector<uint32_t>& candidates = outputs.empty() ? states : outputs;
  if (candidates.size() != 1)
    return console.error(fmt::format("--output {}: holds one array, but {} has {}", path,
                                     table.cell, names.empty() ? "none" : names),
                         fmt::format("say which: --output NAME={}", path));
  tensor = candidates[0];
  return kFine;
}

static int namedTensor(const Console& console, const rnn_module_table& table,
                       const std::string& name, uint32_t& tensor) {
  std::vector<std::string> names;
  for (tensor = 0; tensor < table.tensors; ++tensor) {
    if (!isSequence(table.tensor[tensor]))
      continue;
    if (table.tensor[tensor].name == name)
      return kFine;
    names.push_back(table.tensor[tensor].name);
  }
  auto near = nearest(name, names);
  return console.error(
      fmt::format("--output {}=: '{}' is no visible state or output of {}", name, name, table.cell),
      near ? fmt::format("did you mean '{}'?", *near)
           : fmt::format("it has {}", fmt::join(names, ", ")));
}

static int parseTarget(const Console& console, const rnn_module_table& table,
                       const std::string& text, Target& target) {
  size_t equals = text.find('=');
  bool isNamed = equals != std::string::npos && text.find('/') > equals;
  target.path = isNamed ? text.substr(equals + 1) : text;
  auto kind = data::fileKind(target.path);
  if (!kind)
    return console.error("--output " + kind.error().text);
  target.kind = *kind;
  if (isNamed)
    return namedTensor(console, table, text.substr(0, equals), target.tensor);
  if (data::holdsNames(target.kind))
    return kFine;
  return chooseTensor(console, table, target.path, target.tensor);
}

static bool holdsAll(const Target& target, const std::string& text) {
  return data::holdsNames(target.kind) && target.path == text;
}

static bool isSound(const Target& target) {
  return target.kind == data::FileKind::Wav || target.kind == data::FileKind::Flac;
}

int rnnc::tool::checkOutputs(const Options& options, const Console& console,
                             const rnn_module_table& table, const CallSizes& sizes) {
  for (const std::string& text : options.outputs) {
    Target target;
    if (int status = parseTarget(console, table, text, target))
      return status;
    const rnn_tensor_desc& tensor = table.tensor[target.tensor];
    if (isSound(target) && (tensor.rank > 1 || sizes.batch != 1))
      return console.error(fmt::format("--output {}: sound has one batch element and the shape [] "
                                       "or [channels]; '{}' has batch {} and {} axes",
                                       target.path, tensor.name, sizes.batch, tensor.rank),
                           "write a .npz or .npy file");
  }
  return kFine;
}

static data::Status writeSound(const Target& target, const data::HostArray& array, int rate) {
  auto samples = data::convert(array, data::DType::F32);
  if (!samples)
    return samples.error();
  samples->shape.erase(samples->shape.begin()); // the batch of one
  return data::writeAudio(target.path, *samples, rate);
}

/// The array as the kind of file can hold it: where that has no such type, in f32, which is exact.
static data::Result<data::HostArray> forFile(data::FileKind kind, const data::HostArray& array) {
  bool isNumpy = kind == data::FileKind::Npy || kind == data::FileKind::Npz;
  bool isUnknown =
      data::isHalf(array.dtype) && (array.complex || (isNumpy && array.dtype == data::DType::BF16));
  return data::convert(array, isUnknown ? data::DType::F32 : array.dtype);
}

static data::Status writeArchive(const Target& target, const Call& call, bool all) {
  std::vector<data::NamedArray> arrays;
  const rnn_signature& signature = call.signature();
  for (uint32_t i = 0; i < signature.args; ++i) {
    uint32_t tensor = signature.arg[i].tensor;
    if (signature.arg[i].kind != RNN_ARG_SEQUENCE || (!all && tensor != target.tensor))
      continue;
    auto array = forFile(target.kind, *call.result(RNN_ARG_SEQUENCE, tensor));
    if (!array)
      return array.error();
    arrays.push_back({signature.table->tensor[tensor].name, std::move(*array)});
  }
  return target.kind == data::FileKind::Npz ? data::writeNpz(target.path, arrays)
                                            : data::writeSafetensors(target.path, arrays);
}

int rnnc::tool::writeOutputs(const Options& options, const Console& console, const Call& call,
                             const CallData& data, std::vector<std::string>& lines) {
  const rnn_module_table& table = *call.signature().table;
  for (const std::string& text : options.outputs) {
    Target target;
    if (int status = parseTarget(console, table, text, target))
      return status;
    const data::HostArray* array = call.result(RNN_ARG_SEQUENCE, target.tensor);
    std::string what = table.tensor[target.tensor].name;
    data::Status written = data::success();
    if (isSound(target)) {
      int rate = data.sampleRate.value_or(kDefaultRate);
      written = writeSound(target, *array, rate);
      what += fmt::format(", {} samples a second{}", rate,
                          data.sampleRate ? "" : " (no sound was read that says)");
    } else if (data::holdsNames(target.kind)) {
      written = writeArchive(target, call, holdsAll(target, text));
      if (holdsAll(target, text))
        what = "all states and outputs";
    } else {
      auto file = forFile(target.kind, *array);
      written = file ? data::writeNpy(target.path, *file) : data::Status(file.error());
    }
    if (!written)
      return console.error(written.error().text);
    lines.push_back(fmt::format("{}: {}", target.path, what));
  }
  return kFine;
}
