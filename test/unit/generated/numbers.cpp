//===- numbers.cpp - the arrays that a program runs on ----------------------------------------===//

#include "numbers.h"

#include "bounds.h"
#include "random.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace rnnc;
using namespace rnnc::generated;

static uint64_t hash(const std::string& text) { // FNV-1a
  uint64_t value = 0xCBF29CE484222325u;
  for (unsigned char c : text)
    value = (value ^ c) * 0x100000001B3u;
  return value;
}

/// Numbers that a cell meets when something went wrong before it. None is so large that the sine of
/// it is a matter of the last bit.
static double strangeNumber(Random& random) {
  const double inf = std::numeric_limits<double>::infinity();
  return random.pick<double>({NAN, inf, -inf, 100.0, -100.0, 0.0, -0.0, 1e-40, -1e-45});
}

std::vector<double> Numbers::draw(rnn_arg_kind kind, const std::string& name, double fill,
                                  size_t count) const {
  Random random(setting.data ^ hash(name) ^ static_cast<uint64_t>(kind));
  std::vector<double> values(count);
  bool strange = setting.strange && kind != RNN_ARG_PARAM;
  for (double& value : values) {
    // f32 holds it exactly, so that both types and the interpreter compute with the same numbers.
    value = static_cast<float>(kind == RNN_ARG_INITIAL
                                   ? std::clamp(fill + random.uniform(-0.5, 0.5), -kState, kState)
                                   : random.uniform(-1, 1));
    if (strange && random.chance(0.01))
      value = static_cast<float>(strangeNumber(random));
  }
  return values;
}

check::CallBuffers Numbers::call(const CompiledCell& cell, const Program& program, int64_t time,
                                 const std::map<std::string, std::string>* original) const {
  check::CallShape shape{{}, setting.batch, time, 1};
  const rnn_module_table& table = *cell.table();
  for (uint32_t t = 0; t < table.tensors; ++t)
    for (uint32_t a = 0; a < table.tensor[t].rank; ++a)
      if (table.tensor[t].sizes[a] < 0)
        shape.dims[table.tensor[t].dims[a]] = program.dim(table.tensor[t].dims[a]).size;
  return {cell, shape, [&](rnn_arg_kind kind, const rnn_tensor_desc& tensor, size_t count) {
            std::string name = tensor.name;
            // h_back1 belongs to h.
            size_t back = name.rfind("_back");
            std::string suffix;
            if (original) {
              if (!original->contains(name) && back != std::string::npos) {
                suffix = name.substr(back);
                name = name.substr(0, back);
              }
              name = original->at(name);
            }
            return draw(kind, name + suffix, tensor.fill, count);
          }};
}
