#include "input_files.h"

#include "data/Audio.h"
#include "data/FileKind.h"
#include "data/Npy.h"
#include "data/Npz.h"
#include "data/Safetensors.h"

#include "rnnc/Diagnostics.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

using namespace rnnc;
using namespace rnnc::tool;

static bool givable(const rnn_tensor_desc& tensor) { return tensor.role < RNN_ROLE_OUTPUT; }

std::optional<uint32_t> rnnc::tool::findGivable(const rnn_module_table& table,
                                                std::string_view name) {
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (table.tensor[i].name == name && givable(table.tensor[i]))
      return i;
  return std::nullopt;
}

int rnnc::tool::unknownTensor(const Console& console, const rnn_module_table& table,
                              std::string_view name, const std::string& where) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (givable(table.tensor[i]))
      names.push_back(table.tensor[i].name);
  auto near = nearest(llvm::StringRef(name.data(), name.size()), names);
  return console.error(fmt::format("{}'{}' is no input, param or state of {}",
                                   where.empty() ? "" : where + ": ", name, table.cell),
                       near ? fmt::format("did you mean '{}'?", *near)
                            : fmt::format("it has {}", fmt::join(names, ", ")));
}

namespace {

class InputReader {
public:
  InputReader(const Console& console, const rnn_module_table& table,
              std::map<uint32_t, Bound>& given, std::optional<int>& sampleRate)
      : console(console), table(table), given(given), sampleRate(sampleRate) {}

  int read(const std::string& text);

private:
  int readArchive(const std::string& path, const std::string& name, data::FileKind kind);
  int readSingle(const std::string& path, const std::string& name);
  int readSound(const std::string& path, const std::string& name);
  int take(uint32_t tensor, data::HostArray array, const std::string& path);
  int takeHistory(uint32_t tensor, const data::HostArray& array, const std::string& path);
  int64_t orderOf(uint32_t tensor) const;
  int takeNamed(const std::string& name, data::HostArray array, const std::string& path);
  std::optional<uint32_t> soundInput(const std::string& name, const std::string& path, int& status);

  const Console& console;
  const rnn_module_table& table;
  std::map<uint32_t, Bound>& given;
  std::optional<int>& sampleRate;
};

} // namespace

int InputReader::take(uint32_t tensor, data::HostArray array, const std::string& path) {
  if (array.complex && !isComplex(table.tensor[tensor]))
    return console.error(
        fmt::format("{}: holds complex numbers, and '{}' is real", path, table.tensor[tensor].name),
        "declare it complex, or save the parts as arrays of their own");
  auto [place, isNew] = given.try_emplace(tensor, Bound{std::move(array), path});
  if (!isNew)
    return console.error(fmt::format("'{}' is given twice: by {} and by {}",
                                     table.tensor[tensor].name, place->second.from, path));
  return kFine;
}

/// The hidden state that is `state` of so many steps ago (docs/language.md).
static std::string backName(const rnn_tensor_desc& state, int64_t back) {
  return fmt::format("{}_back{}", state.name, back);
}

/// How many steps back a cell reads a state; 1 for what is no state.
int64_t InputReader::orderOf(uint32_t tensor) const {
  int64_t order = 1;
  while (table.tensor[tensor].role == RNN_ROLE_STATE &&
         findGivable(table, backName(table.tensor[tensor], order)))
    ++order;
  return order;
}

/// All values of a state that the first step reads, (order, batch, dims...), latest last.
int InputReader::takeHistory(uint32_t tensor, const data::HostArray& array,
                             const std::string& path) {
  const rnn_tensor_desc& state = table.tensor[tensor];
  const int64_t order = orderOf(tensor);
  if (array.shape.front() != order)
    return console.error(
        fmt::format("'{}' is {} in {}: it is read up to {} steps back, so its first axis is {}",
                    state.name, shapeText(array), path, order, order),
        "that of the steps, the latest last; the others are batch and the state's own");
  const size_t bytes = array.bytes.size() / static_cast<size_t>(order);
  for (int64_t back = 0; back < order; ++back) {
    auto one = data::allocate(array.dtype, {array.shape.begin() + 1, array.shape.end()});
    if (!one)
      return console.error(one.error().text);
    one->complex = array.complex;
    std::copy_n(array.bytes.begin() + static_cast<std::ptrdiff_t>(bytes) * (order - 1 - back),
                bytes, one->bytes.begin());
    uint32_t target = back ? *findGivable(table, backName(state, back)) : tensor;
    if (int status = take(target, std::move(*one), path))
      return status;
  }
  return kFine;
}

int InputReader::takeNamed(const std::string& name, data::HostArray array,
                           const std::string& path) {
  auto tensor = findGivable(table, name);
  if (!tensor)
    return unknownTensor(console, table, name, path);
  if (orderOf(*tensor) > 1 && array.shape.size() == 2 + table.tensor[*tensor].rank)
    return takeHistory(*tensor, array, path);
  return take(*tensor, std::move(array), path);
}

int InputReader::readArchive(const std::string& path, const std::string& name,
                             data::FileKind kind) {
  auto arrays = kind == data::FileKind::Npz ? data::readNpz(path) : data::readSafetensors(path);
  if (!arrays)
    return console.error(arrays.error().text);
  if (!name.empty()) { // NAME=F: the array of that name, or the only one
    for (data::NamedArray& array : *arrays)
      if (array.name == name || arrays->size() == 1)
        return takeNamed(name, std::move(array.array), path);
    return console.error(fmt::format("{}: holds several arrays, none called '{}'", path, name));
  }
  for (data::NamedArray& array : *arrays)
    if (int status = takeNamed(array.name, std::move(array.array), path))
      return status;
  return kFine;
}

int InputReader::readSingle(const std::string& path, const std::string& name) {
  std::string stem = std::filesystem::path(path).stem().string();
  if (name.empty() && !findGivable(table, stem))
    return console.error(
        fmt::format("{}: which input, param or state of {} is this?", path, table.cell),
        fmt::format("say it: --input NAME={}", path));
  auto array = data::readNpy(path);
  if (!array)
    return console.error(array.error().text);
  return takeNamed(name.empty() ? stem : name, std::move(*array), path);
}

/// The one input of shape [] or [channels], or the named one.
std::optional<uint32_t> InputReader::soundInput(const std::string& name, const std::string& path,
                                                int& status) {
  std::vector<uint32_t> fitting;
  std::string names;
  for (uint32_t i = 0; i < table.tensors; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[i];
    if (tensor.role != RNN_ROLE_INPUT || tensor.rank > 1 || (!name.empty() && tensor.name != name))
      continue;
    names += (names.empty() ? "" : ", ") + std::string(tensor.name);
    fitting.push_back(i);
  }
  if (fitting.size() == 1)
    return fitting[0];
  if (!name.empty())
    status = console.error(fmt::format("{}: sound can only be an input of shape [] or [channels], "
                                       "which '{}' is not",
                                       path, name));
  else if (fitting.empty())
    status = console.error(
        fmt::format("{}: {} has no input of shape [] or [channels]", path, table.cell));
  else
    status =
        console.error(fmt::format("{}: which input is this? {} has {}", path, table.cell, names),
                      fmt::format("say it: --input NAME={}", path));
  return std::nullopt;
}

int InputReader::readSound(const std::string& path, const std::string& name) {
  int status = kFine;
  auto tensor = soundInput(name, path, status);
  if (!tensor)
    return status;
  auto audio = data::readAudio(path);
  if (!audio)
    return console.error(audio.error().text);
  if (sampleRate && *sampleRate != audio->sampleRate)
    return console.error(fmt::format("{}: has {} samples a second, another sound has {}", path,
                                     audio->sampleRate, *sampleRate));
  sampleRate = audio->sampleRate;
  int64_t frames = audio->samples.shape[0], channels = audio->samples.shape[1];
  if (table.tensor[*tensor].rank == 0 && channels != 1)
    return console.error(fmt::format("{}: has {} channels, but '{}' takes one", path, channels,
                                     table.tensor[*tensor].name),
                         "mix it down to mono first");
  audio->samples.shape = table.tensor[*tensor].rank == 0
                             ? std::vector<int64_t>{1, frames}
                             : std::vector<int64_t>{1, frames, channels};
  return take(*tensor, std::move(audio->samples), path);
}

/// F, or NAME=F where what stands before the first '=' is a tensor's name.
int InputReader::read(const std::string& text) {
  std::string name, path = text;
  if (size_t equals = text.find('='); equals != std::string::npos) {
    name = text.substr(0, equals);
    if (findGivable(table, name))
      path = text.substr(equals + 1);
    else if (std::filesystem::exists(text))
      name.clear(); // a file with '=' in its name
    else
      return unknownTensor(console, table, name, "--input " + text);
  }
  auto kind = data::fileKind(path);
  if (!kind)
    return console.error(kind.error().text);
  switch (*kind) {
  case data::FileKind::Npz:
  case data::FileKind::Safetensors:
    return readArchive(path, name, *kind);
  case data::FileKind::Npy:
    return readSingle(path, name);
  case data::FileKind::Wav:
  case data::FileKind::Flac:
    return readSound(path, name);
  }
  return kFailure;
}

int rnnc::tool::readInputs(const Options& options, const Console& console,
                           const rnn_module_table& table, std::map<uint32_t, Bound>& given,
                           std::optional<int>& sampleRate) {
  InputReader reader(console, table, given, sampleRate);
  for (const std::string& text : options.inputs)
    if (int status = reader.read(text))
      return status;
  return kFine;
}
