// Kernels and plans called on drawn data.
#include "probe.h"

#include "core/elements.hpp"
#include "data/Random.h"
#include "rnnc/Complex.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace rnnc;
using namespace rnnc::check;

std::vector<double> rnnc::check::draw(uint64_t seed, const std::string& name, size_t count,
                                      double scale) {
  if (count == 0)
    return {};
  auto spec = data::parseRandom(fmt::format("{}:normal(0,{})", name, scale));
  auto array = data::randomArray(*spec, seed, data::DType::F64, {static_cast<int64_t>(count)});
  auto values = array->values<double>();
  return {values.begin(), values.end()};
}

std::vector<double> rnnc::check::drawAround(double fill, uint64_t seed, const std::string& name,
                                            size_t count) {
  std::vector<double> values = draw(seed, name, count, 0.1);
  for (double& value : values)
    value += fill;
  return values;
}

double rnnc::check::distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double d = std::fabs(a - b) / (1 + std::fabs(b));
  return std::isnan(d) ? INFINITY : d;
}

Shooter::Shooter(const CompiledCell& cell, uint32_t system, uint32_t kernel, int64_t steps,
                 uint64_t seed, const std::map<std::string, double>& fixed)
    : table(*cell.table()), desc(&table.system[system]), kernelWidth(desc->kernel[kernel].width),
      steps(steps), fixed(fixed) {
  plain = table.resolve(table.resolve_context, system, kernel, 0);
  if (desc->carry)
    jacobian = table.resolve(table.resolve_context, system, kernel, 1);
  start = draw(seed, "state", desc->states * kernelWidth, 0.5);
  inputs = draw(seed, "input", desc->inputs * steps * kernelWidth, 0.5);
  params = draw(seed, "param", desc->params * kernelWidth, 0.5);
  takeFixed();
  finite.resize(kernelWidth);
  unsolved.resize(kernelWidth);
  ignored.resize(kernelWidth * (desc->states + desc->outputs));
}

void Shooter::takeFixed() {
  for (uint32_t p = 0; p < desc->params; ++p)
    if (auto it = fixed.find(table.tensor[desc->param_slots[p].tensor].name); it != fixed.end())
      std::fill_n(params.begin() + p * kernelWidth, kernelWidth, it->second);
}

void Shooter::drawColumns(uint64_t seed, uint32_t first) {
  for (uint32_t column = 0; column < kernelWidth; ++column) {
    std::string number = fmt::format(" {}", first + column);
    std::vector<double> input = draw(seed, "input" + number, desc->inputs * steps, 0.5);
    std::vector<double> param = draw(seed, "param" + number, desc->params, 0.5);
    for (size_t i = 0; i < input.size(); ++i)
      inputs[i * kernelWidth + column] = input[i];
    for (size_t i = 0; i < param.size(); ++i)
      params[i * kernelWidth + column] = param[i];
  }
  takeFixed();
}

void Shooter::run(rnn_shoot_fn kernel, std::vector<double>& state, double* carry, int64_t first,
                  int64_t count) {
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<int64_t> inStride(desc->inputs, kernelWidth), outStride;
  for (uint32_t i = 0; i < desc->inputs; ++i)
    in.push_back(inputs.data() + (i * steps + first) * kernelWidth);
  for (uint32_t i = 0; i < desc->states + desc->outputs; ++i) {
    out.push_back(ignored.data() + i * kernelWidth);
    outStride.push_back(0);
  }
  rnn_shoot_args args{count,   in.data(),  inStride.data(),  params.data(), state.data(),
                      carry,   out.data(), outStride.data(), finite.data(), nullptr,
                      nullptr, nullptr,    unsolved.data()};
  kernel(&args);
}

std::vector<double> Shooter::shoot(const std::vector<double>& from) {
  std::vector<double> state = from;
  run(plain, state, nullptr, 0, steps);
  return state;
}

std::vector<double> Shooter::carry() {
  std::vector<double> state = start;
  return carryAlong(0, steps, state);
}

std::vector<double> Shooter::carryAlong(int64_t first, int64_t count, std::vector<double>& state) {
  std::vector<double> product(desc->carry * kernelWidth);
  run(jacobian, state, product.data(), first, count);
  return product;
}

std::vector<double> Shooter::dense(const std::vector<double>& carry) const {
  std::vector<double> matrix(desc->states * desc->states * kernelWidth);
  for (uint32_t p = 0; p < desc->carry_places; ++p) {
    const rnn_carry_place& place = desc->carry_place[p];
    for (uint32_t i = 0; i < kernelWidth; ++i)
      matrix[(place.row * desc->states + place.column) * kernelWidth + i] =
          place.sign * carry[place.number * kernelWidth + i];
  }
  return matrix;
}

std::vector<Measured> rnnc::check::differences(Shooter& shooter, uint32_t column) {
  uint32_t width = shooter.width();
  auto moved = [&](double by) {
    std::vector<double> from = shooter.start;
    for (uint32_t i = 0; i < width; ++i)
      from[column * width + i] += by;
    return shooter.shoot(from);
  };
  std::vector<Measured> result(shooter.start.size());
  for (bool isWide : {true, false}) {
    double h = isWide ? kWide : kNarrow;
    auto up = moved(h), down = moved(-h), up2 = moved(2 * h), down2 = moved(-2 * h);
    for (size_t i = 0; i < result.size(); ++i) {
      (isWide ? result[i].wide : result[i].narrow) =
          fourthOrder(up[i], down[i], up2[i], down2[i], h);
      double size =
          std::max({std::fabs(up[i]), std::fabs(down[i]), std::fabs(up2[i]), std::fabs(down2[i])});
      result[i].noise = 2 * std::numeric_limits<double>::epsilon() * size / h;
    }
  }
  return result;
}

/// Sizes that bring so many lanes along the first free lane axis, or along the batch.
static CallShape shapeForLanes(const CompiledCell& cell, const Subject& subject, int64_t lanes,
                               int64_t time, int64_t segments) {
  const rnn_module_table& table = *cell.table();
  CallShape shape{{}, 1, time, subject.threads, segments};
  for (uint32_t t = 0; t < table.tensors; ++t)
    for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
      if (table.tensor[t].sizes[a] < 0)
        shape.dims[table.tensor[t].dims[a]] = 1;
  // Blocks of free size: whole groups of rows and a rest, and no two sizes alike.
  int64_t blockSize = 19;
  for (uint32_t s = 0; s < table.systems; ++s)
    for (uint32_t a = 0; a < table.system[s].block_rank; ++a)
      if (table.system[s].block_sizes[a] < 0 && shape.dims.at(table.system[s].block_dims[a]) == 1)
        shape.dims[table.system[s].block_dims[a]] = blockSize, blockSize += 2;
  // The first free lane axis of the first system carries the lanes, other lane axes have one place;
  // what is no axis of a state has several, so that contractions over it are more than a product.
  bool placed = false;
  std::set<std::string> ofStates;
  for (uint32_t s = 0; s < table.systems; ++s)
    ofStates.insert(table.system[s].lane_axes,
                    table.system[s].lane_axes + table.system[s].lane_rank);
  int64_t otherSize = 11;
  for (auto& [name, size] : shape.dims)
    if (size == 1 && !ofStates.contains(name))
      size = otherSize, otherSize = 5 + otherSize % 8;
  if (table.systems)
    for (uint32_t a = 0; a < table.system[0].lane_rank && !placed; ++a)
      if (table.system[0].lane_sizes[a] < 0)
        shape.dims[table.system[0].lane_axes[a]] = lanes, placed = true;
  if (!placed)
    shape.batch = lanes;
  return shape;
}

static Draw drawBySeed(const Subject& subject) {
  return [&](rnn_arg_kind kind, const rnn_tensor_desc& tensor, size_t count) {
    auto fixed = subject.params.find(tensor.name);
    if (kind == RNN_ARG_PARAM && fixed != subject.params.end()) {
      std::vector<double> values(count, fixed->second);
      bool isComplex = tensor.rank > 0 && tensor.dims[tensor.rank - 1] == kComplexDim;
      for (size_t i = 1; i < count && isComplex; i += 2) // a number is real
        values[i] = 0;
      return values;
    }
    if (kind == RNN_ARG_INITIAL)
      return drawAround(tensor.fill, subject.seed, std::string(tensor.name) + ".initial", count);
    return draw(subject.seed, tensor.name, count, 0.3);
  };
}

CallBuffers::CallBuffers(const CompiledCell& cell, const Subject& subject, int64_t lanes,
                         int64_t time, int64_t segments)
    : CallBuffers(cell, shapeForLanes(cell, subject, lanes, time, segments), drawBySeed(subject)) {}

CallBuffers::CallBuffers(const CompiledCell& cell, CallShape shape, const Draw& draw)
    : cell(cell), sizes(std::move(shape)) {
  const rnn_module_table& table = *cell.table();
  std::map<std::string, const char*> names; // that live as long as the table
  for (uint32_t t = 0; t < table.tensors; ++t)
    for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
      names[table.tensor[t].dims[a]] = table.tensor[t].dims[a];
  for (const auto& [name, size] : sizes.dims)
    dimValues.push_back({names.at(name), size});

  auto add = [&](rnn_arg_kind kind, uint32_t tensor) {
    arguments.push_back({{kind, tensor}, shapeOf(tensor, kind), {}, {}});
    Argument& argument = arguments.back();
    size_t count = 1;
    for (int64_t size : argument.shape)
      count *= size;
    if (kind == RNN_ARG_INITIAL && table.tensor[tensor].start)
      return; // not given: the state begins as its param
    argument.values = runtime::isResult(kind) ? std::vector<double>(count)
                                              : draw(kind, table.tensor[tensor], count);
  };
  auto each = [&](rnn_role role, rnn_arg_kind kind, bool hiddenToo) {
    for (uint32_t t = 0; t < table.tensors; ++t)
      if (table.tensor[t].role == role && (hiddenToo || !table.tensor[t].hidden))
        add(kind, t);
  };
  each(RNN_ROLE_INPUT, RNN_ARG_INPUT, true);
  each(RNN_ROLE_PARAM, RNN_ARG_PARAM, true);
  each(RNN_ROLE_STATE, RNN_ARG_SEQUENCE, false);
  each(RNN_ROLE_OUTPUT, RNN_ARG_SEQUENCE, true);
  each(RNN_ROLE_STATE, RNN_ARG_INITIAL, true);
  each(RNN_ROLE_STATE, RNN_ARG_FINAL, true);
}

std::vector<int64_t> CallBuffers::shapeOf(uint32_t tensor, rnn_arg_kind kind) const {
  const rnn_tensor_desc& desc = cell.table()->tensor[tensor];
  std::vector<int64_t> shape;
  bool isSequence = kind == RNN_ARG_INPUT || kind == RNN_ARG_SEQUENCE;
  if (kind != RNN_ARG_PARAM)
    shape.push_back(sizes.segments && !isSequence ? sizes.segments : sizes.batch);
  if (isSequence)
    shape.push_back(sizes.time);
  for (uint32_t a = 0; a < desc.rank; ++a)
    shape.push_back(desc.sizes[a] < 0 ? sizes.dims.at(desc.dims[a]) : desc.sizes[a]);
  return shape;
}

rnn_plan_options CallBuffers::options(rnn_dtype compute) const {
  rnn_plan_options options{};
  options.size = sizeof options;
  options.dims = dimValues.size();
  options.dim = dimValues.data();
  options.batch = sizes.batch;
  options.time = sizes.time;
  options.compute = compute;
  options.tolerance = 0;
  options.threads = sizes.threads;
  return options;
}

static std::vector<unsigned char> rounded(const std::vector<double>& values, rnn_dtype type) {
  std::vector<unsigned char> raw(values.size() * runtime::elementSize(type));
  for (size_t i = 0; i < values.size(); ++i) {
    float narrow = static_cast<float>(values[i]);
    if (type == RNN_F64)
      std::memcpy(raw.data() + 8 * i, &values[i], 8);
    else
      std::memcpy(raw.data() + 4 * i, &narrow, 4);
  }
  return raw;
}

static void read(const std::vector<unsigned char>& raw, rnn_dtype type,
                 std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    float narrow;
    if (type == RNN_F64) {
      std::memcpy(&values[i], raw.data() + 8 * i, 8);
    } else {
      std::memcpy(&narrow, raw.data() + 4 * i, 4);
      values[i] = narrow;
    }
  }
}

void CallBuffers::drawGradients(uint64_t seed) {
  for (Argument& argument : arguments) {
    size_t count = 1;
    for (int64_t size : argument.shape)
      count *= size;
    const std::string name = cell.table()->tensor[argument.desc.tensor].name;
    const bool isFinal = argument.desc.kind == RNN_ARG_FINAL;
    argument.gradient =
        runtime::isResult(argument.desc.kind)
            ? draw(seed, (isFinal ? "gradient of final " : "gradient of ") + name, count, 1)
            : std::vector<double>(count);
  }
}

void CallBuffers::toRaw(rnn_dtype type) {
  for (Argument& argument : arguments) {
    argument.raw = rounded(argument.values, type);
    argument.rawGradient = rounded(argument.gradient, type);
  }
}

void CallBuffers::fromRaw(rnn_dtype type) {
  for (Argument& argument : arguments) {
    read(argument.raw, type, argument.values);
    read(argument.rawGradient, type, argument.gradient);
  }
}

std::optional<std::string> rnnc::check::firstDifference(const CallBuffers& a, const CallBuffers& b,
                                                        const rnn_module_table& table,
                                                        rnn_dtype type) {
  auto size = static_cast<size_t>(runtime::elementSize(type));
  for (size_t n = 0; n < a.arguments.size(); ++n) {
    const auto &x = a.arguments[n], &y = b.arguments[n];
    if (x.raw == y.raw)
      continue;
    for (size_t i = 0; i < x.values.size(); ++i) {
      bool same = std::memcmp(x.raw.data() + size * i, y.raw.data() + size * i, size) == 0 ||
                  (std::isnan(x.values[i]) && std::isnan(y.values[i]));
      if (!same)
        return fmt::format("{} differs first at element {}: {} and {}",
                           table.tensor[x.desc.tensor].name, i, x.values[i], y.values[i]);
    }
  }
  return std::nullopt;
}
