#include "data.h"

#include "input_files.h"

#include "data/Random.h"

#include "rnnc/Complex.h"

#include <fmt/format.h>

#include <limits>

using namespace rnnc;
using namespace rnnc::tool;

namespace {

constexpr int64_t kDefaultBatch = 8, kDefaultTime = 4096, kDefaultDim = 256;
constexpr double kDeviation = 0.3;

class Gatherer {
public:
  Gatherer(const Options& options, const Console& console, const rnn_module_table& table,
           CallData& data)
      : options(options), console(console), table(table), data(data) {}
  int gather();
  int bindSizes();

private:
  /// A size, and who said so.
  struct Known {
    int64_t size;
    std::string from;
  };

  int takeSpecs();
  int bindArray(uint32_t tensor, const Bound& bound);
  int bindSize(const std::string& name, int64_t size, const std::string& from);
  int64_t sizeOr(const std::string& name, int64_t otherwise) const;
  int checkMemory() const;
  int fill(uint32_t tensor);
  int draw(uint32_t tensor, const data::RandomSpec& spec, const std::string& from);

  const Options& options;
  const Console& console;
  const rnn_module_table& table;
  CallData& data;
  std::map<uint32_t, Bound> given;
  std::map<uint32_t, std::pair<data::RandomSpec, std::string>> specs;
  std::map<std::string, Known> known; ///< by the dim's name; "batch" and "time" with a blank before
};

} // namespace

/// --random and --param are both recipes: the array is made once the sizes are known.
int Gatherer::takeSpecs() {
  auto add = [&](data::RandomSpec spec, const std::string& from) {
    auto tensor = findGivable(table, spec.name);
    if (!tensor)
      return unknownTensor(console, table, spec.name, from);
    if (given.contains(*tensor) || specs.contains(*tensor))
      return console.error(fmt::format("'{}' is given twice", spec.name));
    specs.emplace(*tensor, std::pair(std::move(spec), from));
    return static_cast<int>(kFine);
  };
  for (const std::string& text : options.randoms) {
    auto spec = data::parseRandom(text);
    if (!spec)
      return console.error("--random " + spec.error().text, "", kUsage);
    if (int status = add(std::move(*spec), "--random " + text))
      return status;
  }
  for (auto& [name, value] : options.params) {
    auto tensor = findGivable(table, name);
    if (tensor && table.tensor[*tensor].role != RNN_ROLE_PARAM)
      return console.error(
          fmt::format("--param {}: is no param of {}", name, table.cell),
          fmt::format("--random \"{}:constant({})\" sets an input or a state", name, value));
    data::RandomSpec spec;
    spec.name = name;
    spec.distribution = data::Distribution::Constant;
    spec.first = value;
    if (int status = add(std::move(spec), fmt::format("--param {}={}", name, value)))
      return status;
  }
  return kFine;
}

int Gatherer::bindSize(const std::string& name, int64_t size, const std::string& from) {
  auto [place, isNew] = known.try_emplace(name, Known{size, from});
  if (!isNew && place->second.size != size)
    return console.error(fmt::format("{} is {} by {}, but {} by {}",
                                     name.starts_with(' ') ? name.substr(1) : "'" + name + "'",
                                     place->second.size, place->second.from, size, from));
  return kFine;
}

static const char* const kAxes[] = {"batch, time", "", "batch", ""};

/// "(batch, time, d)"
static std::string expectedText(const rnn_tensor_desc& tensor) {
  std::string text = kAxes[tensor.role];
  for (uint32_t axis = 0; axis < tensor.rank - (isComplex(tensor) ? 1 : 0); ++axis) {
    std::string name = tensor.dims[axis];
    text +=
        (text.empty() ? "" : ", ") + (name.empty() ? fmt::format("{}", tensor.sizes[axis]) : name);
  }
  return "(" + text + ")" + (isComplex(tensor) ? " complex" : "");
}

int Gatherer::bindArray(uint32_t index, const Bound& bound) {
  const rnn_tensor_desc& tensor = table.tensor[index];
  const std::vector<int64_t>& shape = bound.array->shape;
  size_t front = tensor.role == RNN_ROLE_INPUT ? 2 : tensor.role == RNN_ROLE_STATE ? 1 : 0;
  auto misfit = [&] {
    return console.error(
        fmt::format("'{}' is {} in {}, expected {}", tensor.name, shapeText(*bound.array),
                    bound.from, expectedText(tensor)),
        isComplex(tensor) && !bound.array->complex
            ? "save complex numbers, or real ones with a last axis of 2 more: real and "
              "imaginary part"
            : "");
  };
  if (shape.size() != front + tensor.rank || (isComplex(tensor) && shape.back() != 2))
    return misfit();
  std::string from = fmt::format("'{}' in {}", tensor.name, bound.from);
  if (front >= 1)
    if (int status = bindSize(" batch", shape[0], from))
      return status;
  if (front >= 2)
    if (int status = bindSize(" time", shape[1], from))
      return status;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    std::string name = tensor.dims[axis];
    int64_t size = shape[front + axis];
    if (name.empty() && size != tensor.sizes[axis])
      return misfit();
    if (!name.empty())
      if (int status = bindSize(name, size, from))
        return status;
  }
  return kFine;
}

int64_t Gatherer::sizeOr(const std::string& name, int64_t otherwise) const {
  auto found = known.find(name);
  return found != known.end() ? found->second.size : otherwise;
}

/// The command line, then the arrays; what nobody says has a default.
int Gatherer::bindSizes() {
  for (auto& [name, size] : options.dims)
    bindSize(name, size, "--dim");
  if (options.batch)
    bindSize(" batch", *options.batch, "--batch");
  if (options.time)
    bindSize(" time", *options.time, "--time");
  auto eachDim = [&](auto action) {
    for (uint32_t i = 0; i < table.tensors; ++i)
      for (uint32_t axis = 0; axis < table.tensor[i].rank; ++axis)
        if (std::string name = table.tensor[i].dims[axis]; !name.empty())
          if (int status = action(name, table.tensor[i].sizes[axis]))
            return status;
    return static_cast<int>(kFine);
  };
  int status = eachDim([&](const std::string& name, int64_t size) {
    return size > 0 ? bindSize(name, size, "the cell's own declaration") : kFine;
  });
  for (auto& [tensor, bound] : given)
    if (status == kFine)
      status = bindArray(tensor, bound);
  if (status)
    return status;
  data.sizes.batch = sizeOr(" batch", kDefaultBatch);
  data.sizes.time = sizeOr(" time", kDefaultTime);
  return eachDim([&](const std::string& name, int64_t) {
    data.sizes.dims[name] = sizeOr(name, kDefaultDim);
    return kFine;
  });
}

/// A number that is given is a real one. (In every type 0 has no bit set.)
static void clearImaginary(data::HostArray& pairs) {
  size_t size = static_cast<size_t>(data::itemSize(pairs.dtype));
  for (size_t at = size; at < pairs.bytes.size(); at += 2 * size)
    std::fill_n(pairs.bytes.begin() + at, size, std::byte{0});
}

int Gatherer::draw(uint32_t tensor, const data::RandomSpec& spec, const std::string& from) {
  auto array = data::randomArray(spec, options.seed, storageType(options),
                                 boundaryShape(table.tensor[tensor], data.sizes));
  if (!array)
    return console.error(array.error().text);
  if (spec.distribution == data::Distribution::Constant && isComplex(table.tensor[tensor]))
    clearImaginary(*array);
  array->complex = isComplex(table.tensor[tensor]);
  data.tensors[tensor] = {std::move(*array), from};
  return kFine;
}

int Gatherer::fill(uint32_t tensor) {
  const rnn_tensor_desc& desc = table.tensor[tensor];
  if (auto found = given.find(tensor); found != given.end()) {
    if (found->second.array->dtype != storageType(options)) {
      auto converted = data::convert(*found->second.array, storageType(options));
      if (!converted)
        return console.error(converted.error().text);
      found->second.array = std::move(*converted);
    }
    found->second.array->complex = isComplex(desc);
    data.tensors[tensor] = std::move(found->second);
    return kFine;
  }
  if (auto found = specs.find(tensor); found != specs.end())
    return draw(tensor, found->second.first, found->second.second);
  if (desc.role != RNN_ROLE_INPUT && desc.role != RNN_ROLE_PARAM)
    return kFine; // a state begins with its fill
  data.drawn.push_back(desc.name);
  data::RandomSpec spec;
  spec.name = desc.name;
  spec.second = kDeviation;
  spec.cut = std::numeric_limits<double>::infinity();
  return draw(tensor, spec, fmt::format("normal(0,{}), seed {}", kDeviation, options.seed));
}

/// Inputs, params and results together have to fit: each by itself may, and the system would rather
/// kill the process than refuse.
int Gatherer::checkMemory() const {
  double total = 0;
  auto count = [](const std::vector<int64_t>& shape) {
    double product = 1;
    for (int64_t size : shape)
      product *= static_cast<double>(size);
    return product;
  };
  for (uint32_t i = 0; i < table.tensors; ++i) {
    const rnn_tensor_desc& tensor = table.tensor[i];
    double elements = count(boundaryShape(tensor, data.sizes));
    // A state is a result at every step besides.
    if (tensor.role == RNN_ROLE_STATE)
      elements *= 2 + static_cast<double>(tensor.hidden ? 0 : data.sizes.time);
    total += elements * static_cast<double>(data::itemSize(storageType(options)));
  }
  double memory = static_cast<double>(data::ReadLimits{}.bytesOrMemory());
  if (total <= memory)
    return kFine;
  return console.error(fmt::format("arrays for {} need {:.3g} GB, this machine has {:.3g} GB",
                                   sizesText(data.sizes), total * 1e-9, memory * 1e-9),
                       "choose a smaller --batch, --time or --dim");
}

int Gatherer::gather() {
  Stopwatch clock(console);
  if (int status = readInputs(options, console, table, given, data.sampleRate))
    return status;
  if (int status = takeSpecs())
    return status;
  if (int status = bindSizes())
    return status;
  if (int status = checkMemory())
    return status;
  data.tensors.resize(table.tensors);
  for (uint32_t i = 0; i < table.tensors; ++i)
    if (int status = fill(i))
      return status;
  clock.lap("arrays read and drawn");
  return kFine;
}

int rnnc::tool::gatherData(const Options& options, const Console& console,
                           const rnn_module_table& table, CallData& data) {
  return Gatherer(options, console, table, data).gather();
}

int rnnc::tool::bindSizes(const Options& options, const Console& console,
                          const rnn_module_table& table, CallSizes& sizes) {
  CallData data;
  int status = Gatherer(options, console, table, data).bindSizes();
  sizes = std::move(data.sizes);
  return status;
}

std::string rnnc::tool::sizesText(const CallSizes& sizes) {
  std::string text = fmt::format("batch {}, time {}", sizes.batch, sizes.time);
  for (auto& [name, size] : sizes.dims)
    if (name != kComplexDim &&
        (name.front() < '0' || name.front() > '9')) // a literal size says it all
      text += fmt::format(", {} {}", name, size);
  return text;
}

std::string rnnc::tool::shapeText(const data::HostArray& array) {
  if (!array.complex)
    return data::shapeText(array.shape);
  return data::shapeText(std::span(array.shape).first(array.shape.size() - 1)) + " complex";
}

bool rnnc::tool::isComplex(const rnn_tensor_desc& tensor) {
  return tensor.rank > 0 && tensor.dims[tensor.rank - 1] == kComplexDim;
}

std::vector<int64_t> rnnc::tool::tensorShape(const rnn_tensor_desc& tensor,
                                             const CallSizes& sizes) {
  std::vector<int64_t> shape;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    shape.push_back(*tensor.dims[axis] ? sizes.dims.at(tensor.dims[axis]) : tensor.sizes[axis]);
  return shape;
}

std::vector<int64_t> rnnc::tool::boundaryShape(const rnn_tensor_desc& tensor,
                                               const CallSizes& sizes) {
  std::vector<int64_t> shape;
  if (tensor.role != RNN_ROLE_PARAM && tensor.role != RNN_ROLE_DERIVED)
    shape.push_back(sizes.batch);
  if (tensor.role == RNN_ROLE_INPUT || tensor.role == RNN_ROLE_OUTPUT ||
      tensor.role == RNN_ROLE_HOISTED)
    shape.push_back(sizes.time);
  for (int64_t size : tensorShape(tensor, sizes))
    shape.push_back(size);
  return shape;
}

data::DType rnnc::tool::storageType(const Options& options) {
  switch (options.dtype.value_or(Storage::F32)) {
  case Storage::F32:
    break;
  case Storage::F64:
    return data::DType::F64;
  case Storage::BF16:
    return data::DType::BF16;
  case Storage::F16:
    return data::DType::F16;
  }
  return data::DType::F32;
}
